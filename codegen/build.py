"""All schemas of a project: read and checked together, then rendered together."""

from collections.abc import Mapping

from attrs import frozen

from . import rules, source
from .emit.header import Comment, Target, with_header
from .findings import Report
from .load import load
from .model import Schema
from .outputs import DECISIONS, PACKAGE, of_all, schema_files
from .paths import in_project, shown
from .place import working_on
from .settings import Settings, UsageError

_PACKAGE_BODY = '"""Typed session classes, one module per model, generated from the schemas."""\n'


@frozen
class Source:
    """A schema that loaded, where it lies relative to the project's root, and its warnings."""

    schema: Schema
    path: str
    warnings: int


@frozen
class Project:
    """Every schema that loaded; `made_from` is their folder, relative to the project's root."""

    sources: tuple[Source, ...]
    made_from: str

    @property
    def schemas(self) -> tuple[Schema, ...]:
        return tuple(source.schema for source in self.sources)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every file of the output, the package first and the table last."""
        modules = (
            Target(
                name=f"{one.schema.module}.py",
                made_from=one.path,
                schemas_sha256=one.schema.sha256,
                warnings=one.warnings,
                comment="#",
            )
            for one in self.sources
        )
        return (self._of_all(PACKAGE, "#"), *modules, self._of_all(DECISIONS, "<!--"))

    def _of_all(self, name: str, comment: Comment) -> Target:
        return of_all(
            name,
            self.made_from,
            [one.schema.sha256 for one in self.sources],
            sum(one.warnings for one in self.sources),
            comment,
        )

    def render(self) -> Mapping[str, str]:
        """The text of every file of the output, by its name."""
        # Only what renders pays for the template engine.
        from .emit.decisions import decisions
        from .emit.module import module

        package, *modules, table = self.targets
        texts = {package.name: with_header(_PACKAGE_BODY, package)}
        for one, target in zip(self.sources, modules, strict=True):
            with working_on(f"schema {one.path}"):
                texts[target.name] = with_header(module(one.schema), target)
        paths = [one.path for one in self.sources]
        texts[table.name] = with_header(decisions(self.schemas, paths), table)
        return texts


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
    rules.check_all([schema for schema, _ in loaded], report)
    sources = tuple(
        Source(schema, path, report.warnings_in(schema.path)) for schema, path in loaded
    )
    return Project(sources, in_project(settings.schemas, settings.root))
