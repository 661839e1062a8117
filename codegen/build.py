"""All schemas of a project: read and checked together, then rendered together."""

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from . import rules, source
from .emit.header import schemas_sha256, with_header
from .findings import Report
from .load import load
from .model import Schema
from .output import Target
from .paths import in_project, shown
from .place import working_on
from .settings import Settings, UsageError

DECISIONS = "DECISIONS.md"
_PACKAGE = "__init__.py"
_PACKAGE_BODY = '"""Typed session classes, one module per model, generated from the schemas."""\n'


@frozen
class Project:
    """Every schema that loaded, and where each lies relative to the project's root."""

    schemas: tuple[Schema, ...]
    paths: tuple[str, ...]
    made_from: str

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every file of the output."""
        combined = schemas_sha256(self.schemas)
        modules = (
            Target(f"{schema.module}.py", path, schema.sha256, "#")
            for schema, path in zip(self.schemas, self.paths, strict=True)
        )
        return (
            Target(_PACKAGE, self.made_from, combined, "#"),
            *modules,
            Target(DECISIONS, self.made_from, combined, "<!--"),
        )

    def render(self) -> Mapping[str, str]:
        """The text of every file of the output, by its name."""
        # Only what renders pays for the template engine.
        from .emit.decisions import decisions
        from .emit.module import module

        texts = {
            _PACKAGE: with_header(_PACKAGE_BODY, self.made_from, schemas_sha256(self.schemas), "#")
        }
        for schema, path in zip(self.schemas, self.paths, strict=True):
            with working_on(f"schema {path}"):
                texts[f"{schema.module}.py"] = module(schema, path)
        texts[DECISIONS] = decisions(self.schemas, self.made_from, self.paths)
        return texts


def schema_files(folder: Path) -> list[Path]:
    """The schema files of a folder, by name.

    Raises:
        UsageError: the folder cannot be read, or holds no schema.
    """
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except NotADirectoryError:
        raise UsageError(f"{shown(folder)}: is not a folder of schemas") from None
    except OSError as error:
        raise UsageError(f"{shown(folder)}: cannot be read ({error.strerror})") from error
    if not found:
        raise UsageError(f"{shown(folder)}: holds no schema (no *.yaml file)")
    return found


def read_project(settings: Settings, report: Report) -> Project:
    """Load and check every schema; what is wrong with them goes to `report`.

    Raises:
        UsageError: a file or the folder cannot be read.
    """
    loaded: list[tuple[Schema, str]] = []
    for path in schema_files(settings.schemas):
        name = shown(path)
        if not path.is_file():
            raise UsageError(f"{name}: is not a file, or leads nowhere")
        try:
            text = source.read(path, name)
        except OSError as error:
            raise UsageError(f"{name}: cannot be read ({error.strerror})") from error
        with working_on(f"schema {name}"):
            schema = load(text, report)
            if schema is not None:
                rules.check(schema, report)
                loaded.append((schema, in_project(path, settings.root)))
    schemas = tuple(schema for schema, _ in loaded)
    rules.check_all(schemas, report)
    return Project(
        schemas, tuple(path for _, path in loaded), in_project(settings.schemas, settings.root)
    )
