"""The decision table as plain values: what Markdown and the terminal show of each model."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from ..declared import declared, shipped_values
from ..model import Device, Field, Schema, Unset
from .python import plain_text, size_text

SESSIONS = 64
_DEVICES: tuple[Device, ...] = ("accelerator", "host")


@frozen
class Row:
    """One field."""

    name: str
    placement: str
    declared: str
    measured: tuple[str, ...]
    device: str
    manager_may: str
    rebuilt_from: str
    survives: str
    reason: str
    revisit: str


@frozen
class Owned:
    """A value that another component owns."""

    name: str
    owner: str
    reason: str


@frozen
class Edge:
    """`source` rebuilds `field`, or takes it along when it is cleared or replaced."""

    source: str
    field: str
    rebuilds: bool


@frozen
class Total:
    device: str
    one: str
    many: str


@frozen
class Section:
    """One model's part of the table."""

    model: str
    class_name: str
    path: str
    doc: str
    config: str
    rows: tuple[Row, ...]
    elsewhere: tuple[Owned, ...]
    edges: tuple[Edge, ...]
    totals: tuple[Total, ...]
    unit: str
    sessions: int
    after: str


def section(schema: Schema, path: str) -> Section:
    """The table of one model; `path` says where its schema lies, relative to the project."""
    values = shipped_values(schema)
    sizes = {field.name: declared(schema, field, values) for field in schema.fields}
    return Section(
        model=schema.model,
        class_name=schema.class_name,
        path=path,
        doc=schema.doc,
        config=", ".join(_config(schema, values)),
        rows=tuple(row(field, sizes[field.name]) for field in schema.fields),
        elsewhere=tuple(_owned(schema)),
        edges=tuple(_edges(schema.fields)),
        totals=tuple(_totals(schema, sizes)),
        unit="session" if schema.scope == "session" else "live generation",
        sessions=SESSIONS,
        after=f" after {schema.horizon:,} steps" if schema.horizon else "",
    )


def nbytes(count: int) -> str:
    """A number of bytes in the largest binary unit that it fills, and exactly."""
    short = in_units(count)
    return short if count < 2**10 else f"{short} ({count:,})"


def in_units(count: int) -> str:
    """A number of bytes in the largest binary unit that it fills."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:,.2f} {unit}"
    return f"{count:,} B"


def _config(schema: Schema, values: Mapping[str, int]) -> Iterator[str]:
    """What the declared bytes were computed with."""
    for param in schema.params:
        shipped = param.shipped if isinstance(param.default, Unset) else param.default
        if not isinstance(shipped, Unset):
            yield f"{param.name} = {plain_text(shipped)}"
    for dim in schema.dims:
        yield f"{dim.name} = {values[dim.name]}"


def row(field: Field, size: int) -> Row:
    """One field that declares `size` bytes."""
    return Row(
        name=field.name,
        placement=_placement(field),
        declared=_declared(field, size),
        measured=tuple(f"{one.text} ({one.where})" for one in field.measured) or ("–",),
        device=field.device if size else "–",
        manager_may=", ".join(field.manager_may) or "carry",
        rebuilt_from=_rebuilt_from(field),
        survives=", ".join(field.survives) or "–",
        reason=field.reason,
        revisit=field.revisit or "",
    )


def _declared(field: Field, size: int) -> str:
    """The bytes; of a staged field as twice those of one content."""
    if not size:
        return "–"
    return f"2 × {nbytes(size // 2)}" if field.is_staged else nbytes(size)


def _placement(field: Field) -> str:
    """object or attr; an object's kind, what keys it has, and what bounds it."""
    parts = [f"object: {field.kind}" if field.placement == "object" else "attr"]
    if field.per:
        parts.append(f"per {' and '.join(field.per)}")
    if field.ring:
        parts.append(f"ring of {size_text(field.ring.size)}")
    elif field.bounded_by:
        parts.append(f"until {field.bounded_by}")
    if field.written == "once":
        parts.append("written once")
    if field.complete_with:
        parts.append(f"complete with {field.complete_with}")
    return ", ".join(parts)


def _rebuilt_from(field: Field) -> str:
    if field.recompute is None:
        return "–"
    sources = ", ".join(field.recompute.sources)
    return f"{sources}, at {size_text(field.recompute.cost)}: {field.recompute.doc}"


def _owned(schema: Schema) -> Iterator[Owned]:
    for one in schema.elsewhere:
        ends = f" Ends with {one.closes_with}." if one.closes_with else ""
        yield Owned(one.name, one.owner, one.reason + ends)


def _edges(fields: Sequence[Field]) -> Iterator[Edge]:
    for field in fields:
        if field.recompute:
            yield from (Edge(source, field.name, True) for source in field.recompute.sources)
        for source in (*field.invalidated_by, *field.derived_from):
            yield Edge(source, field.name, False)


def _totals(schema: Schema, sizes: Mapping[str, int]) -> Iterator[Total]:
    for device in _DEVICES:
        held = sum(sizes[field.name] for field in schema.fields if field.device == device)
        if held:
            yield Total(device, nbytes(held), nbytes(held * SESSIONS))
