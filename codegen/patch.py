"""Changes as a unified diff that `git apply` and `patch -p1` take."""

import difflib
from collections.abc import Iterator

from .output import Change
from .paths import shown

_NO_LINE_END = "\n\\ No newline at end of file\n"


def unified(change: Change) -> Iterator[str]:
    """The lines of one file's diff, each with its line end; bytes that are no text as surrogates.

    Nothing where only the line ends differ, which a checkout may change: that is no drift either.
    """
    name = shown(change.path).removeprefix("/")
    # As git does: a tab ends a name that has spaces.
    end = "\t" if " " in name else ""
    for line in difflib.unified_diff(
        _lines(change.before),
        _lines(change.after),
        "/dev/null" if change.before is None else f"a/{name}{end}",
        "/dev/null" if change.after is None else f"b/{name}{end}",
    ):
        yield line if line.endswith("\n") else line + _NO_LINE_END


def _lines(content: bytes | None) -> list[str]:
    """The lines as git counts them; Python would also end one at a form feed."""
    text = (content or b"").replace(b"\r\n", b"\n").decode(errors="surrogateescape")
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
