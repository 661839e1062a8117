"""The decision table as one JSON document: what `table --format json` prints and the page reads.

docs/page.md describes it key by key.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..declared import ITEMSIZE, STEPS, declarations, declared, shipped_values
from ..emit.python import plain_text, shape_text, size_text, type_text
from ..emit.table import SESSIONS, Section, section
from ..expressions.sizes import names_in
from ..model import Dim, Field, Member, Param, Recompute, Record, Schema, Unset
from .changes import Changes, as_json
from .formula import Json, formula

VERSION = 1

Object = dict[str, Json]


def document(
    schemas: Sequence[Schema], paths: Sequence[str], changes: Changes | None = None
) -> Object:
    """The table of all models; `paths` says where each schema lies, relative to the project."""
    models = [_model(schema, path) for schema, path in zip(schemas, paths, strict=True)]
    return {
        "version": VERSION,
        "sessions": SESSIONS,
        "itemsize": ITEMSIZE,
        "models": models,
        "changes": as_json(changes) if changes else None,
    }


def _model(schema: Schema, path: str) -> Object:
    values = shipped_values(schema)
    shown = section(schema, path)
    return {
        "model": schema.model,
        "module": schema.module,
        "class": schema.class_name,
        "path": path,
        "doc": schema.doc,
        "scope": schema.scope,
        "unit": shown.unit,
        "dtype": schema.default_dtype,
        "resets": {one.name: one.doc for one in schema.resets},
        "config": list(_config(schema, values)),
        "fields": [
            {**_decision(field, row.placement), **_bytes(schema, field, values)}
            for field, row in zip(schema.fields, shown.rows, strict=True)
        ],
        "records": [_record(one) for one in schema.records],
        **_around(shown),
    }


def _config(schema: Schema, values: Mapping[str, int]) -> Iterator[Object]:
    """What sizes are computed from, in an order in which each needs only those before it."""
    if schema.horizon is not None:
        yield {"name": STEPS, "role": "steps", "size": schema.horizon, "minimum": 0}
    for param in schema.params:
        if param.name in values:
            yield _param(param, values[param.name])
    for dim in schema.dims:
        yield _dim(dim, values[dim.name])


def _param(param: Param, value: int) -> Object:
    names = isinstance(param.default, tuple) or isinstance(param.shipped, tuple)
    return {
        "name": param.name,
        "role": "names" if names else "param",
        "size": value,
        "minimum": 1 if names else param.minimum,
        "maximum": param.maximum,
        "doc": param.doc,
    }


def _dim(dim: Dim, value: int) -> Object:
    if not names_in(dim.size):
        return {"name": dim.name, "role": "dim", "size": value, "minimum": 1}
    return {
        "name": dim.name,
        "role": "derived",
        "size": formula(dim.size),
        "text": size_text(dim.size),
        "minimum": 1,
    }


def _decision(field: Field, placed: str) -> Object:
    """What was decided about a field; `placed` says it in words, with what bounds the value."""
    return {
        "name": field.name,
        "placement": field.placement,
        "kind": field.kind,
        "placed": placed,
        "type": type_text(field.type, field.dtype) if field.type else None,
        "default": None if isinstance(field.default, Unset) else plain_text(field.default),
        "written": field.written,
        "per": field.per,
        "manager_may": field.manager_may,
        "survives": field.survives,
        "cleared_with": [*field.invalidated_by, *field.derived_from],
        "rebuilt_from": _rebuilt_from(field.recompute) if field.recompute else None,
        "reason": field.reason,
        "revisit": field.revisit,
    }


def _rebuilt_from(recompute: Recompute) -> Object:
    return {
        "sources": recompute.sources,
        "cost": size_text(recompute.cost),
        "doc": recompute.doc,
    }


def _record(record: Record) -> Object:
    return {"name": record.name, "members": [_member(one) for one in record.members]}


def _member(member: Member) -> Object:
    shapes = [shape_text(member.shape)] if member.shape else []
    shapes += [f"{size_text(one.count)} × {shape_text(one.shape)}" for one in member.entries]
    return {
        "name": member.name,
        "type": type_text(member.type, member.dtype) if member.type else None,
        "shapes": shapes,
        "dtype": member.dtype,
    }


def _bytes(schema: Schema, field: Field, values: Mapping[str, int]) -> Object:
    """What a field declares: a number, and the formulas that it comes from."""
    found = declarations(schema, field)
    return {
        "device": field.device if found else None,
        "elements": [
            {"dtype": one.dtype, "sizes": [formula(term) for term in one.terms]} for one in found
        ],
        "declared": declared(schema, field, values),
        "measured": [
            {"bytes": int(one.nbytes), "text": one.text, "where": one.where}
            for one in field.measured
        ],
    }


def _around(shown: Section) -> Object:
    """What belongs to no single field: values of others, and what depends on what."""
    return {
        "elsewhere": [
            {"name": one.name, "owner": one.owner, "reason": one.reason} for one in shown.elsewhere
        ],
        "edges": [
            {"source": one.source, "field": one.field, "rebuilds": one.rebuilds}
            for one in shown.edges
        ],
    }
