"""A comparison as a comment for a pull request: what changed, and the table's rows before and after."""

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs
from attrs import frozen

from ..emit.markdown import comment_cell
from ..emit.table import Row, nbytes, row
from ..emit.templates import render
from ..model import Field, Schema
from .change import Change
from .pairs import DEVICES, Comparison, Models, total

# GitHub refuses a comment of more characters.
LIMIT = 65_536

_NOTHING = "–"
_CODE = re.compile(r"(`[^`\n]+`)")


@frozen
class Line:
    """One row of the decision table on one side, its cells escaped, those that changed in bold."""

    side: str
    cells: tuple[str, ...]


@frozen
class Sum:
    """What one session or generation declares on a device."""

    device: str
    before: str
    after: str


@frozen
class Said:
    """One change, its message escaped."""

    code: str
    breaking: bool
    message: str


@frozen
class Part:
    """One model: its changes, and the rows and totals that they changed."""

    model: str
    path: str
    scope: str
    changes: tuple[Said, ...]
    lines: tuple[Line, ...] = ()
    sums: tuple[Sum, ...] = ()


@frozen
class Comment:
    """What the template sees; `left_out` says that rows did not fit."""

    title: str
    parts: tuple[Part, ...]
    left_out: bool = False


def comment(comparison: Comparison, changes: Sequence[Change], title: str) -> str:
    """The text of the comment, below GitHub's limit: where it must, without rows, then cut."""
    whole = Comment(title, tuple(_parts(comparison, changes)))
    text = render("breaking.md.j2", whole)
    if len(text) > LIMIT:
        parts = tuple(attrs.evolve(part, lines=()) for part in whole.parts)
        text = render("breaking.md.j2", Comment(title, parts, left_out=True))
    if len(text) > LIMIT:
        text = text[: text.rindex("\n", 0, LIMIT) + 1]
    return text


def _parts(comparison: Comparison, changes: Sequence[Change]) -> Iterator[Part]:
    for models in comparison.models:
        part = _part(models.new, changes)
        if part.changes:
            yield attrs.evolve(part, lines=tuple(_lines(models)), sums=tuple(_sums(models)))
    for schema in (*comparison.added, *comparison.removed):
        yield _part(schema, changes)


def _part(schema: Schema, changes: Iterable[Change]) -> Part:
    its = [change for change in changes if change.model == schema.model]
    its.sort(key=lambda change: not change.breaking)
    return Part(schema.model, schema.path, schema.scope, tuple(map(_said, its)))


def _said(change: Change) -> Said:
    hint = f" ({message_text(change.hint)})" if change.hint else ""
    return Said(change.code, change.breaking, message_text(change.message) + hint)


def message_text(message: str) -> str:
    """A message on one line of Markdown: what stands in backticks as code, the rest as text."""
    return "".join(
        part if _CODE.fullmatch(part) and part.isprintable() else _text(part)
        for part in _CODE.split(message)
    )


def _text(text: str) -> str:
    """`comment_cell` for a part of a line, which keeps the blanks at its ends."""
    before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
    return f"{before}{comment_cell(text)}{after if text.strip() else ''}"


def _lines(models: Models) -> Iterator[Line]:
    """The rows that differ, each before and after."""
    for kept in models.kept:
        old, new = _cells(kept.old, kept.old_bytes), _cells(kept.new, kept.new_bytes)
        if old != new:
            yield Line("before", old)
            yield Line("after", tuple(map(_bold_where_new, old, new)))
    for field in models.removed:
        size = _size(models, field, old=True)
        yield Line("removed", _cells(field, size))
    for field in models.added:
        yield Line("added", _cells(field, _size(models, field, old=False)))


def _size(models: Models, field: Field, *, old: bool) -> int | None:
    return (models.old_bytes if old else models.new_bytes)[field.name][1]


def _cells(field: Field, size: int | None) -> tuple[str, ...]:
    shown: Row = row(field, size or 0)
    cells = (
        shown.name,
        shown.placement,
        shown.declared,
        shown.device,
        shown.manager_may,
        shown.rebuilt_from,
        shown.survives,
        shown.reason,
    )
    return tuple(map(comment_cell, cells))


def _bold_where_new(old: str, new: str) -> str:
    return new if old == new else f"**{new}**"


def _sums(models: Models) -> Iterator[Sum]:
    for device in DEVICES:
        old, new = total(models.old_bytes, device), total(models.new_bytes, device)
        if old != new:
            yield Sum(device, _nbytes(old), _nbytes(new))


def _nbytes(count: int | None) -> str:
    return nbytes(count) if count else _NOTHING
