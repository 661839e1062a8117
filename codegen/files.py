"""Schema files as bytes: read whole, and replaced whole or not at all."""

import os
import shutil
import tempfile
from pathlib import Path

from .paths import shown
from .settings import UsageError


def read(path: Path) -> bytes:
    """What a file holds.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be read ({error.strerror})") from error


def replace(path: Path, content: bytes) -> None:
    """Give a file another content; its mode stays, and what a link leads to is what changes.

    Raises:
        UsageError: it cannot be written, and is as it was.
    """
    target = path.resolve()
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise UsageError(f"{shown(path)}: cannot be written ({error.strerror})") from error


def create(path: Path, content: bytes) -> None:
    """Write a file, and its folder, where there is none of this name.

    Raises:
        UsageError: there is one, or it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(f"{shown(path)}: is there already, and is never overwritten") from None
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be written ({error.strerror})") from error
