"""One line of the table that the benchmark makes, and the table itself."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from .medians import Medians

HEAD = ("what", "reference", "ours", "ratio", "to reach", "reached")


@attrs.frozen
class Row:
    """One measurement beside what it is to reach.

    `measured` is what the target speaks of: a ratio, or bytes. None where nothing is to be reached.
    """

    what: str
    ours: str
    reference: str = ""
    ratio: float | None = None
    measured: float | None = None
    target: str = ""
    at_most: float | None = None

    @property
    def reached(self) -> str:
        if self.measured is None or self.at_most is None:
            return ""
        return "yes" if self.measured <= self.at_most else "no"

    def cells(self) -> tuple[str, ...]:
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        return self.what, self.reference, self.ours, ratio, self.target, self.reached


def markdown(rows: Iterable[Row]) -> str:
    """The table as Markdown, aligned so that it reads well in a terminal too."""
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(_line(cells, widths) for cells in (lines[0], rule, *lines[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def seconds(value: float) -> str:
    """A duration in the unit that gives it few digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * scale >= 1:
            return f"{value * scale:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"


WALK = 31e-3 / 64
"""Seconds of the reference's walk of one session, where the targets in seconds were set."""


def timed(what: str, both: Medians, share: float, limit: float, count: int = 1) -> Row:
    """A row whose target is `limit` seconds for each of `count` sessions.

    It is reached in seconds, or where the machine is slow as a `share` of the reference's walk of
    one session, of which as much was measured in the same run.
    """
    allowed = limit / WALK
    return Row(
        what,
        seconds(both.ours),
        seconds(both.beside),
        both.ratio,
        min(both.ours / (limit * count), share / allowed),
        f"{seconds(limit * count)}, or {allowed:.2g} of a session's walk: {share:.2g}",
        1.0,
    )


def put_table(page: Path, table: str) -> None:
    """Replace the one table of `page` whose head is this benchmark's."""
    lines = page.read_text("utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(f"| {HEAD[0]} "))
    last = first
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    lines[first:last] = table.splitlines()
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
