"""Where the schemas lie and where generated files go: `[tool.session-state]` of pyproject.toml."""

import tomllib
from pathlib import Path

from attrs import frozen

_KNOWN = ("schemas", "output")


class UsageError(Exception):
    """The command cannot start: one line that says what is wrong, and where."""


@frozen
class Settings:
    root: Path
    schemas: Path
    output: Path


def find(start: Path, schemas: str | None, output: str | None) -> Settings:
    """The settings of the nearest pyproject.toml that has some, above or at `start`.

    What is given as an argument wins and is relative to `start`; without settings, the folders are
    `schemas` and `generated` below `start`.

    Raises:
        UsageError: the file cannot be read, or a setting is unknown or not a text.
    """
    root, table = start, {}
    for folder in (start, *start.parents):
        found = _table(folder / "pyproject.toml")
        if found is not None:
            root, table = folder, found
            break
    return Settings(
        root=root,
        schemas=start / schemas if schemas else root / table.get("schemas", "schemas"),
        output=start / output if output else root / table.get("output", "generated"),
    )


def _table(path: Path) -> dict[str, str] | None:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({error})") from error
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not TOML ({error})") from error
    table = tools.get("session-state") if isinstance(tools, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: [tool.session-state] must be a table, not {table!r}")
    for key, value in table.items():
        if key not in _KNOWN:
            raise UsageError(
                f"{path}: [tool.session-state] has no setting {key!r}; it knows {', '.join(_KNOWN)}"
            )
        if not isinstance(value, str):
            raise UsageError(f"{path}: [tool.session-state] {key} must be a text, not {value!r}")
    return dict(table)
