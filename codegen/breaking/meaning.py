"""What a part of a schema means, whatever place it was written in and whatever its fields are called."""

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from ..expressions.ast import Binary, Call, Name, Negative, Number, Size
from ..model import Field, Schema, Shape
from ..span import Span

T = TypeVar("T")

Meaning = str | tuple["Meaning", ...]

_PLACES = (Span, tuple[Span, ...])
# What is said about a field, and what another field may say of itself as well.
_WORDS = frozenset({"name", "reason", "revisit", "measured", "bounded_by", "renamed_from"})


def meaning(value: object, without: frozenset[str] = frozenset()) -> Meaning:
    """A value that is equal for two parts if and only if they mean the same.

    Unlike the parts' own equality it knows no places, tells True from 1, and takes one NaN for
    another. `without` names attributes of `value` that are left out.
    """
    if isinstance(value, tuple):
        return tuple(meaning(item) for item in value)
    cls = type(value)
    if attrs.has(cls):
        parts = (
            meaning(getattr(value, one.name))
            for one in attrs.fields(cls)
            if one.eq and one.type not in _PLACES and one.name not in without
        )
        return (cls.__name__, *parts)
    return repr(value)


def likeness(field: Field) -> Meaning:
    """What a field keeps when only its name and the words about it change."""
    return meaning(field, without=_WORDS)


def inlined(size: Size, dims: Mapping[str, Size]) -> Size:
    """`size` with derived dims written out, so that it names params and given dims alone."""
    match size:
        case Name(name=name):
            formula = dims.get(name, size)
            return size if isinstance(formula, Number | Name) else inlined(formula, dims)
        case Binary(operator=operator, left=left, right=right):
            return Binary(operator, inlined(left, dims), inlined(right, dims), size.at)
        case Negative(operand=operand):
            return Negative(inlined(operand, dims), size.at)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(inlined(one, dims) for one in arguments), size.at)
        case _:
            return size


def written_out(shape: Shape, schema: Schema) -> Shape:
    """A shape with the schema's derived dims written out."""
    dims = {dim.name: dim.size for dim in schema.dims}
    sizes = (attrs.evolve(one, size=inlined(one.size, dims)) for one in shape.dimensions)
    return attrs.evolve(shape, dimensions=tuple(sizes))


def with_names(schema: Schema, names: Mapping[str, str]) -> Schema:
    """The schema as if its fields had these names; what mentions a field follows it."""
    if not names:
        return schema

    def new(listed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in listed)

    return attrs.evolve(
        schema,
        fields=tuple(_with_names(field, names) for field in schema.fields),
        groups=tuple(attrs.evolve(one, fields=new(one.fields)) for one in schema.groups),
        handoffs=tuple(
            attrs.evolve(
                one,
                lend=tuple(
                    attrs.evolve(lent, field=names.get(lent.field, lent.field)) for lent in one.lend
                ),
            )
            for one in schema.handoffs
        ),
        reset_rules=tuple(
            attrs.evolve(one, condition=_in_condition(one.condition, names))
            for one in schema.reset_rules
        ),
    )


def _with_names(field: Field, names: Mapping[str, str]) -> Field:
    def new(listed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(name, name) for name in listed)

    recompute, partner = field.recompute, field.complete_with
    return attrs.evolve(
        field,
        invalidated_by=new(field.invalidated_by),
        derived_from=new(field.derived_from),
        complete_with=names.get(partner, partner) if partner else None,
        recompute=attrs.evolve(recompute, sources=new(recompute.sources)) if recompute else None,
    )


def _in_condition(part: T, names: Mapping[str, str]) -> T:
    """A condition or a part of one, with the fields' new names."""
    cls = type(part)
    if isinstance(part, Name):
        return attrs.evolve(part, name=names.get(part.name, part.name))
    if attrs.has(cls) and not isinstance(part, Span):
        parts: dict[str, Any] = {
            one.name: _in_condition(getattr(part, one.name), names) for one in attrs.fields(cls)
        }
        return type(part)(**parts)
    return part
