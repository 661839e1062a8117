"""Mappings in braces: the entries change places, and what separates them stays.

Where there are comments between them, each moves with the entry in whose line or below which it
stands, and every entry gets a line of its own.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from attrs import frozen

from ..nodes import Mapping
from .edits import Edit, apply
from .extent import entry_end, line_start


@frozen
class _Item:
    """An entry, the comments in the lines above it, and the one behind it in its line."""

    above: tuple[str, ...]
    body: str
    behind: str


def flow_edit(text: str, node: Mapping, order: Sequence[int], within: Iterable[Edit]) -> Edit:
    """The edit that puts the entries of a flow mapping in `order`, with the edits `within`."""
    starts = [entry.key.start for entry in node.entries]
    ends = [entry_end(text, entry) for entry in node.entries]
    bodies = [apply(text, start, end, within) for start, end in zip(starts, ends, strict=True)]
    gaps = [
        text[start:end]
        for start, end in zip([node.start + 1, *ends], [*starts, node.end - 1], strict=True)
    ]
    if not any("#" in gap for gap in gaps):
        moved = [
            part for gap, index in zip(gaps, order, strict=False) for part in (gap, bodies[index])
        ]
        return Edit(node.start, node.end, "".join(["{", *moved, gaps[-1], "}"]))
    comments = [tuple(_comments(gap)) for gap in gaps]
    items = [
        _Item(above[1:], body, behind[0])
        for above, body, behind in zip(comments, bodies, comments[1:], strict=False)
    ]
    indent = _indent(text, node, starts)
    lines = [f"{{{comments[0][0] and '  '}{comments[0][0]}"]
    for place, item in enumerate(items[index] for index in order):
        comma = "," if place < len(items) - 1 or "," in _uncommented(gaps[-1]) else ""
        space = "  " if item.behind else ""
        lines += [*(indent + one for one in item.above)]
        lines.append(f"{indent}{item.body}{comma}{space}{item.behind}")
    lines += [indent + one for one in comments[-1][1:]]
    closing = gaps[-1].rpartition("\n")[2] if "\n" in gaps[-1] else indent
    return Edit(node.start, node.end, "\n".join([*lines, f"{closing}}}"]))


def _comments(gap: str) -> Iterator[str]:
    """The comment in the line that a gap starts in, or nothing, and those in lines of their own."""
    for number, line in enumerate(gap.split("\n")):
        _, sign, comment = line.partition("#")
        if sign or number == 0:
            yield f"{sign}{comment}".rstrip()


def _uncommented(gap: str) -> str:
    return re.sub("#.*", "", gap)


def _indent(text: str, node: Mapping, starts: Iterable[int]) -> str:
    """The indentation of the entries that start a line; behind the brace where none does."""
    for start in starts:
        before = text[line_start(text, start) : start]
        if not before.strip():
            return before
    return " " * node.span.column
