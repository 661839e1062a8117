"""Which schemas a project has and which files belong to all of them; nothing here reads YAML."""

from collections.abc import Sequence
from pathlib import Path

from .emit.header import Comment, Target, combined
from .paths import shown
from .settings import UsageError

DECISIONS = "DECISIONS.md"
PACKAGE = "__init__.py"
SUFFIXES = (".yaml", ".yml")


def of_all(
    name: str, made_from: str, schemas_sha256: Sequence[str], warnings: int, comment: Comment
) -> Target:
    """A file that is made from every schema."""
    return Target(name, made_from, combined(schemas_sha256), warnings, comment)


def schema_files(folder: Path) -> list[Path]:
    """The schema files of a folder, by name.

    Raises:
        UsageError: the folder cannot be read, or holds no schema.
    """
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES)
    except NotADirectoryError:
        raise UsageError(f"{shown(folder)}: is not a folder of schemas") from None
    except FileNotFoundError:
        raise UsageError(
            f"{shown(folder)}: there is no such folder; `session-state new MODEL` makes it, with a "
            "first schema, and `[tool.session-state]` of pyproject.toml may name another"
        ) from None
    except OSError as error:
        raise UsageError(f"{shown(folder)}: cannot be read ({error.strerror})") from error
    if not found:
        raise UsageError(f"{shown(folder)}: holds no schema (no *.yaml file)")
    return found
