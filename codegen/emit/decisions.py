"""The decision table: for every value where it lives, what it costs, and why."""

from collections.abc import Sequence

from attrs import frozen

from ..declared import STEPS, declared, shipped_values
from ..model import Device, Field, Schema
from .header import sha256, with_header
from .markdown import cell, nbytes
from .python import size_text
from .templates import render

SESSIONS = 64
_DEVICES: tuple[Device, ...] = ("accelerator", "host")


@frozen
class Row:
    """One field, every cell as Markdown."""

    name: str
    placement: str
    declared: str
    measured: str
    device: str
    manager_may: str
    survives: str
    reason: str


@frozen
class Owned:
    """A value that another component owns."""

    name: str
    owner: str
    reason: str


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
    totals: tuple[Total, ...]
    sessions: int
    after: str


def schemas_sha256(schemas: Sequence[Schema]) -> str:
    """One hash over all schemas, in the order of the table."""
    return sha256("".join(f"{schema.sha256}\n" for schema in schemas))


def decisions(schemas: Sequence[Schema], made_from: str, paths: Sequence[str]) -> str:
    """The text of DECISIONS.md; `paths` says where each schema lies, relative to the project."""
    sections = tuple(map(_section, schemas, paths))
    body = render("decisions.md.j2", sections)
    return with_header(body, made_from, schemas_sha256(schemas), "<!--")


def _section(schema: Schema, path: str) -> Section:
    values = shipped_values(schema)
    sizes = {field.name: declared(schema, field, values) for field in schema.fields}
    names = [name for name in values if name != STEPS]
    return Section(
        model=cell(schema.model),
        class_name=schema.class_name,
        path=cell(path),
        doc=cell(schema.doc),
        config=", ".join(f"{name} = {values[name]}" for name in names),
        rows=tuple(_row(field, sizes[field.name]) for field in schema.fields),
        elsewhere=tuple(
            Owned(one.name, cell(one.owner), cell(one.reason)) for one in schema.elsewhere
        ),
        totals=tuple(_totals(schema, sizes)),
        sessions=SESSIONS,
        after=f" after {schema.horizon:,} steps" if schema.horizon else "",
    )


def _totals(schema: Schema, sizes: dict[str, int]) -> list[Total]:
    totals: list[Total] = []
    for device in _DEVICES:
        held = sum(sizes[field.name] for field in schema.fields if field.device == device)
        if held:
            totals.append(Total(device, nbytes(held), nbytes(held * SESSIONS)))
    return totals


def _row(field: Field, size: int) -> Row:
    reason = cell(field.reason)
    if field.revisit:
        reason += f"<br>**Revisit when:** {cell(field.revisit)}"
    return Row(
        name=field.name,
        placement=_placement(field),
        declared=nbytes(size) if size else "–",
        measured="<br>".join(f"{cell(one.text)} ({cell(one.where)})" for one in field.measured)
        or "–",
        device=field.device if size else "–",
        manager_may=", ".join(field.manager_may) or "carry",
        survives=", ".join(field.survives) or "–",
        reason=reason,
    )


def _placement(field: Field) -> str:
    """object or attr; for an object its kind, and what bounds it."""
    if field.placement != "object":
        return "attr"
    bound = ""
    if field.ring:
        bound = f", ring of `{size_text(field.ring.size)}`"
    elif field.bounded_by:
        bound = f", until {cell(field.bounded_by)}"
    return f"object: {field.kind}{bound}"
