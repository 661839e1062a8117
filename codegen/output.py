"""Files on disk: what is drifted from the schemas, and writing all of it or nothing.

A file without the generator's mark is never touched, whatever its name is.
"""

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from attrs import frozen

from .emit.header import Target, is_current, is_ours, is_untouched
from .paths import shown
from .settings import UsageError

# What the generator writes; other files in the folder are nobody's business here.
_KINDS = (".py", ".md")

State = Literal["missing", "changed", "orphaned", "foreign"]


@frozen
class Drift:
    """A file that is not what the schemas say."""

    state: State
    path: Path
    # A foreign file in the place of a generated one; any other is only mentioned.
    blocks: bool = False
    # Somebody changed it by hand; one that is left over is then not deleted.
    edited: bool = False


def _read(path: Path) -> str | None:
    """The text of a file, or None when it is not there; no byte of it is lost in decoding."""
    content = _content(path)
    return None if content is None else content.decode("utf-8", errors="surrogateescape")


def _content(path: Path) -> bytes | None:
    """What a file holds, or None when it is not there; what is no file holds nothing of ours."""
    if path.exists() and not path.is_file():
        return b""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read ({error.strerror})") from error


def drift(folder: Path, targets: Iterable[Target]) -> list[Drift]:
    """Every file in `folder` that is missing, changed, left over, or not the generator's."""
    found: list[Drift] = []
    expected = {target.name: target for target in targets}
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{shown(folder)}: is a file, and generated files need a folder")
    for target in expected.values():
        path = folder / target.name
        text = _read(path)
        if text is None:
            found.append(Drift("missing", path))
        elif not is_ours(text):
            found.append(Drift("foreign", path, blocks=True))
        elif not is_current(text, target):
            found.append(Drift("changed", path, edited=not is_untouched(text)))
    modules = {name.removesuffix(".py") for name in expected if name.endswith(".py")}
    for path in _files(folder):
        if path.name in expected:
            continue
        if path.name.partition(".")[0] in modules:
            # Python would import this in the place of the generated module.
            found.append(Drift("foreign", path, blocks=True))
        elif path.suffix in _KINDS and path.is_file():
            text = _read(path) or ""
            if is_ours(text):
                found.append(Drift("orphaned", path, edited=not is_untouched(text)))
            else:
                found.append(Drift("foreign", path))
    return found


def _files(folder: Path) -> list[Path]:
    """What lies in the output, files and folders."""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{shown(folder)}: cannot be read ({error.strerror})") from error


@frozen
class Change:
    """What `write` does to one file: its bytes before and after, None where there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None


def plan(folder: Path, texts: Mapping[str, str], targets: Iterable[Target]) -> list[Change]:
    """What there is to write, and what is left over and to be removed.

    An orphan that somebody edited stays: it may hold the only copy of an edit.

    Raises:
        UsageError: a file without our mark is in the way, or one cannot be read.
    """
    states = drift(folder, targets)
    for state in states:
        if state.blocks:
            raise UsageError(
                f"{shown(state.path)}: was not written by session-state and is never overwritten; "
                "move it away or choose another --output"
            )
    changes = [
        Change(folder / name, _content(folder / name), text.encode())
        for name, text in texts.items()
    ]
    changes += [
        Change(state.path, _content(state.path), None)
        for state in states
        if state.state == "orphaned" and not state.edited
    ]
    return [change for change in changes if change.before != change.after]


def write(folder: Path, texts: Mapping[str, str], targets: Iterable[Target]) -> list[Path]:
    """Write what differs and remove what is left over; returns the paths that changed.

    Each file is complete before it takes its name, and one that is right already keeps its mtime.

    Raises:
        UsageError: a file without our mark is in the way, or the folder cannot be written.
    """
    changes = plan(folder, texts, targets)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace(changes)
        for change in changes:
            if change.after is None:
                change.path.unlink()
    except OSError as error:
        raise UsageError(
            f"{shown(Path(error.filename or folder))}: cannot be written ({error.strerror})"
        ) from error
    return [change.path for change in changes]


def replace(changes: Iterable[Change]) -> None:
    """Complete every file beside its place first, then move them all; a failure leaves none."""
    staged: list[tuple[Path, Path]] = []
    try:
        for path, content in ((one.path, one.after) for one in changes):
            if content is None:
                continue
            handle, temporary = tempfile.mkstemp(
                dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"
            )
            staged.append((Path(temporary), path))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(temporary, 0o666 & ~_umask())
        for complete, path in staged:
            os.replace(complete, path)
    finally:
        for complete, _ in staged:
            complete.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
