"""Mappings with one key per line: each key moves with the comments that belong to it.

A comment belongs to the entry in whose line it stands or below which it is indented, else to the
key below it. One below the last key, or above a blank line at the top, belongs to the mapping and
stays where it is.
"""

import re
from collections.abc import Iterable, Sequence

from attrs import evolve, frozen

from ..nodes import Entry, Mapping
from .edits import Edit, apply
from .extent import entry_end, line_end, line_start

_DASHES = re.compile(r"[ -]*")
_BLANK = re.compile(r"(?:[ \t]*\n)*")
_COMMENT = re.compile(r"[ \t]*#")


class Immovable(ValueError):
    """A key is written with `?`, in the line that is given, and would have to move."""


@frozen
class _Chunk:
    """The lines above a key that belong to it, and from the key on all that moves with it."""

    above: str
    body: str


def block_edit(text: str, node: Mapping, order: Sequence[int], within: Iterable[Edit]) -> Edit:
    """The edit that puts the entries of a block mapping in `order`, with the edits `within`.

    Raises:
        Immovable: one of them is written with `?`.
    """
    column = node.entries[0].key.span.column - 1
    first = node.entries[0].key.start
    start = line_start(text, first)
    before = text[start:first]
    if not _DASHES.fullmatch(before):
        raise Immovable(node.entries[0].key.span.line)
    above = start if before.strip() or not column else _comments_above(text, start)
    ends = [_chunk_end(text, entry, column) for entry in node.entries]
    tops = [above, *ends[:-1]]
    chunks = [
        _Chunk(
            text[top : line_start(text, entry.key.start)], apply(text, entry.key.start, end, within)
        )
        for entry, top, end in zip(node.entries, tops, ends, strict=True)
    ]
    head, *rest = _spaced([chunks[index] for index in order], order.index(0))
    dash = " " * (len(before) - len(before.lstrip()))
    lines = [
        _indented(head.above, dash) if before.strip() else head.above,
        before + head.body,
        *(f"{chunk.above}{' ' * column}{chunk.body}" for chunk in rest),
    ]
    return Edit(above, ends[-1], "".join(lines))


def _spaced(chunks: list[_Chunk], first: int) -> list[_Chunk]:
    """The chunks, with the blank lines above the new first one above the one that was first."""
    if first == 0:
        return chunks
    head, moved = chunks[0], chunks[first]
    blank = _BLANK.match(head.above)
    space = blank.group() if blank else ""
    chunks[0] = evolve(head, above=head.above.removeprefix(space))
    chunks[first] = evolve(moved, above=space + moved.above)
    return chunks


def _comments_above(text: str, start: int) -> int:
    """Where the comments start that stand right above the line at `start`."""
    while start and _COMMENT.match(text, above := line_start(text, start - 1)):
        start = above
    return start


def _chunk_end(text: str, entry: Entry, column: int) -> int:
    """Where the lines end that move with an entry: behind comments that are indented below it."""
    said = entry_end(text, entry)
    # A block of text that keeps blank lines ends where a line starts.
    end = said if text[said - 1 : said] == "\n" else line_end(text, said)
    at = end
    while at < len(text):
        line = text[at : line_end(text, at)]
        indent = len(line) - len(line.lstrip())
        if line.strip() and (not _COMMENT.match(line) or indent <= column):
            break
        at += len(line)
        end = at if line.strip() else end
    return end


def _indented(comments: str, indent: str) -> str:
    lines = comments.splitlines(keepends=True)
    return "".join(indent + line.lstrip(" \t") if line.strip() else line for line in lines)
