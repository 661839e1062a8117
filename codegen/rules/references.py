"""Rules about names that refer to something else in the schema."""

from collections.abc import Iterable, Iterator

from ..expressions.ast import Name, Size
from ..expressions.sizes import names_in
from ..expressions.types import record_names
from ..model import Described, Schema
from ..names import KEYWORDS, is_identifier
from .problem import Problem, did_you_mean, value_of


def field_sizes(field: Described) -> Iterator[Size]:
    """The sizes of the shapes and counts of a field, or of a member of a record."""
    for shape in (field.shape, field.retains, *(entry.shape for entry in field.entries)):
        for dimension in shape.dimensions if shape else ():
            yield dimension.size
    for entry in field.entries:
        yield entry.count


def sizes_in(schema: Schema) -> Iterator[Size]:
    """The formulas of a schema's axes and fields."""
    for axis in schema.axes:
        if axis.size is not None:
            yield axis.size
    for one in schema.described:
        yield from field_sizes(one)
    for field in schema.fields:
        if field.ring:
            yield field.ring.size
        if field.recompute:
            yield field.recompute.cost


def unknown_names(schema: Schema) -> Iterator[Problem]:
    """Names in sizes that are no dim or param, or none yet."""
    params = {param.name for param in schema.params}
    dims = {dim.name for dim in schema.dims}
    known = {*schema.broken, *params}
    declared = known | dims
    for dim in schema.dims:
        for name in names_in(dim.size):
            if name.name not in known and name.name in dims:
                message = f"`{name.name}` has no value yet where `{dim.name}` is worked out."
                yield Problem(name.at, message, "a dim may use params and the dims above it")
        yield from _unknown(names_in(dim.size), declared, schema)
        known.add(dim.name)
    for size in sizes_in(schema):
        yield from _unknown(names_in(size), known, schema)
    for axis in schema.axes:
        if axis.param is not None and axis.param not in params | schema.broken:
            message = f"There is no param `{axis.param}` to take the names of `{axis.name}` from."
            hint = "declare it under `params`, or list the names: `names: [...]`"
            yield Problem(axis.value_at, message, did_you_mean(axis.param, params, hint))
        if axis.where is not None:
            yield from _unknown(names_in(axis.where), known | {axis.name}, schema)


def _unknown(names: Iterable[Name], known: Iterable[str], schema: Schema) -> Iterator[Problem]:
    for name in names:
        if name.name in known:
            continue
        if any(name.name == field.name for field in schema.fields):
            message = f"`{name.name}` is a field, and sizes see dims and params only."
            yield Problem(name.at, message, "make it a param, or use a dim")
        else:
            hint = did_you_mean(name.name, known, "declare it under `dims` or `params`")
            yield Problem(name.at, f"There is no dim or param `{name.name}`.", hint)


def ring_sizes(schema: Schema) -> Iterator[Problem]:
    """Ring sizes that no running session could work out."""
    dims = {dim.name for dim in schema.dims}
    for field in schema.fields:
        for name in names_in(field.ring.size) if field.ring else ():
            if name.name in dims:
                message = f"`{name.name}` is a dim, and a ring is allocated without knowing dims."
                hint = f"make `{name.name}` a param: a param is given to every session"
                yield Problem(name.at, message, hint)


def unknown_resets(schema: Schema) -> Iterator[Problem]:
    """Resets that are named and not declared."""
    resets = {reset.name for reset in schema.resets}
    known = resets | schema.broken
    listed = f"the resets are {', '.join(sorted(resets))}" if resets else "declare it in `resets`"
    used = [
        *((rule.reset, rule.reset_span) for rule in schema.reset_rules),
        *(
            pair
            for field in schema.fields
            for pair in zip(field.survives, field.name_spans["survives"], strict=True)
        ),
    ]
    ends = known | {schema.scope}
    for one in schema.elsewhere:
        if one.closes_with is not None and one.closes_with not in ends:
            message = f"`{one.closes_with}` is no reset, and not the end of the {schema.scope}."
            hint = did_you_mean(one.closes_with, ends, f"write `{schema.scope}`, or a reset")
            yield Problem(value_of(one, "closes_with"), message, hint)
    for name, span in used:
        if name not in known:
            message = f"There is no reset `{name}`."
            yield Problem(span, message, did_you_mean(name, resets, listed))


def unknown_fields(schema: Schema) -> Iterator[Problem]:
    """Fields that a group names and the schema does not have."""
    fields = {field.name for field in schema.fields}
    for group in schema.groups:
        for name, span in zip(group.fields, group.field_spans, strict=True):
            if name not in fields:
                hint = did_you_mean(name, fields, "a group lists fields of this schema")
                yield Problem(span, f"There is no field `{name}`.", hint)


def unused_records(schema: Schema) -> Iterator[Problem]:
    """Records that nothing holds; what was refused may have been of them."""
    if not schema.complete:
        return
    types = [one.type for one in schema.described if one.type is not None]
    used = {name for type_ in types for name in record_names(type_)}
    for record in schema.records:
        if record.name not in used and is_identifier(record.name):
            message = f"Nothing holds the record `{record.name}`."
            yield Problem(record.at, message, "delete it, or name it in the type of a field")


def unused_dims(schema: Schema) -> Iterator[Problem]:
    """Dims that no shape mentions; what was refused or misspelt may have meant them."""
    if not schema.complete or any(unknown_names(schema)):
        return
    sizes = [*(dim.size for dim in schema.dims), *sizes_in(schema)]
    used = {name.name for size in sizes for name in names_in(size)}
    for dim in schema.dims:
        usable = is_identifier(dim.name) and dim.name not in KEYWORDS
        if usable and dim.name not in used:
            message = f"Nothing uses the dim `{dim.name}`."
            yield Problem(dim.at, message, "delete it, or use it in the shape that it belongs to")
