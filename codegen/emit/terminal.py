"""The decision table in a terminal: columns where they fit, the reasons wrapped below each row."""

import textwrap
from collections.abc import Iterator

from ..visible import visible
from .literals import width
from .table import Row, Section

_COLUMNS = ("value", "placement", "declared", "device", "may", "survives")
_NARROWEST = 60


def terminal(section: Section, columns: int) -> Iterator[str]:
    """One model's table, line by line, for a terminal of so many columns."""
    columns = max(columns, _NARROWEST)
    yield f"{section.model} ({section.class_name}, {section.path})"
    yield from _wrapped(section.doc, columns, "")
    if section.config:
        yield from _config(section.config, columns)
    yield ""
    table = [_COLUMNS, *(_cells(row) for row in section.rows)]
    widths = [max(width(visible(cells[at])) for cells in table) for at in range(len(_COLUMNS))]
    yield _line(table[0], widths)
    for row, cells in zip(section.rows, table[1:], strict=True):
        yield _line(cells, widths)
        yield from _notes(row, columns)
    for owned in section.elsewhere:
        yield ""
        yield from _wrapped(f"{owned.name}, kept by {owned.owner}: {owned.reason}", columns, "")
    yield ""
    for total in section.totals:
        one = f"one {section.unit} {total.one}"
        many = f"{section.sessions} {section.unit}s {total.many}"
        yield f"{total.device}{section.after}: {one}, {many}"


def _cells(row: Row) -> tuple[str, ...]:
    kind = row.placement.partition(",")[0]
    return (row.name, kind, row.declared, row.device, row.manager_may, row.survives)


def _notes(row: Row, columns: int) -> Iterator[str]:
    """What does not fit a column: what bounds the value, why it lies there, what would move it."""
    bound = row.placement.partition(", ")[2]
    if bound:
        yield from _wrapped(bound, columns, "    ")
    yield from _wrapped(row.reason, columns, "    ")
    if row.rebuilt_from != "–":
        yield from _wrapped(f"Rebuilt from {row.rebuilt_from}", columns, "    ")
    if row.revisit:
        yield from _wrapped(f"Revisit when: {row.revisit}", columns, "    ")


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    padded = (
        visible(cell) + " " * (most - width(visible(cell)))
        for cell, most in zip(cells, widths, strict=True)
    )
    return "  ".join(padded).rstrip()


def _config(config: str, columns: int) -> Iterator[str]:
    """The sizes that bytes are quoted at; no line ends between a name and its value."""
    held = visible(config).replace(" = ", "\xa0=\xa0")
    for line in textwrap.wrap(f"at {held}", columns):
        yield line.replace("\xa0", " ")


def _wrapped(text: str, columns: int, indent: str) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        shown = visible(line)
        yield from textwrap.wrap(
            shown, columns, initial_indent=indent, subsequent_indent=indent
        ) or [""]
