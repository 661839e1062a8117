"""Paths as people and generated headers read them."""

import os
from pathlib import Path


def shown(path: Path) -> str:
    """The path as the user would type it from here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else Path(relative).as_posix()


def in_project(path: Path, root: Path) -> str:
    """The path as a header says it: the same in every checkout and from every folder."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.name
