"""Declared bytes: for each field a formula over dims and params, and its value at some config."""

from collections.abc import Iterator, Mapping

from attrs import frozen

from .expressions.ast import Binary, Call, Length, Members, Name, Number, Size, Type
from .expressions.evaluate import evaluate
from .expressions.types import arrays_in, records_in
from .model import Axis, Described, Field, Member, Param, Schema, Shape, Unset

# Bytes of one element, by the name that a schema uses: torch's dtypes, and numpy's where a field
# is an ndarray.
ITEMSIZE: Mapping[str, int] = {
    "bool": 1,
    "uint8": 1,
    "int8": 1,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "uint16": 2,
    "int16": 2,
    "float16": 2,
    "bfloat16": 2,
    "uint32": 4,
    "int32": 4,
    "float32": 4,
    "uint64": 8,
    "int64": 8,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}
ARRAY_DTYPES = frozenset(name for name in ITEMSIZE if not name.startswith(("float8", "bfloat")))

STEPS = "steps"


@frozen
class Declaration:
    """The elements of a field, as terms to be added, and the dtype of each element.

    `dtype` None stands for the schema's default, which the caller of `declared_nbytes` may replace.
    """

    terms: tuple[Size, ...]
    dtype: str | None


def declarations(schema: Schema, field: Field) -> tuple[Declaration, ...]:
    """What `field` declares, one for each dtype; none where no bytes are counted by shape."""
    # What is staged lies beside what is committed.
    count: Size = Number(2 if field.is_staged else 1)
    for axis in schema.axes:
        if axis.name in field.per:
            count = times(count, keys(axis))
    terms: dict[str | None, list[Size]] = {}
    described: list[Described] = [field, *_members(schema, field.type)]
    for one in described:
        for term in _terms(one):
            terms.setdefault(one.dtype, []).append(times(count, times(items(field), term)))
    return tuple(Declaration(tuple(found), dtype) for dtype, found in terms.items())


def keys(axis: Axis) -> Size:
    """How many keys an axis has; of a captured one, how many are declared."""
    if axis.size is None:
        return Length(axis.param, axis.value_at) if axis.param else Number(len(axis.names))
    if axis.where is None:
        return axis.size
    return Members(axis.name, axis.size, axis.where, axis.value_at)


def _members(schema: Schema, type_: Type | None) -> Iterator[Member]:
    """The members of the records that a value of this type has, and of those within."""
    records = {record.name: record for record in schema.records}
    for held in records_in(type_) if type_ else ():
        for member in records[held.name].members:
            yield member
            yield from _members(schema, member.type)


def _terms(one: Described) -> tuple[Size, ...]:
    """The elements of one value: of an item, or under one key."""
    shape = one.retains or one.shape
    if one.entries:
        return tuple(times(entry.count, elements(entry.shape)) for entry in one.entries)
    if shape is None:
        return ()
    # A tuple of tensors holds one of this shape for each.
    arrays = arrays_in(one.type) if one.type else None
    return (times(Number(arrays or 1), elements(shape)),)


def items(field: Field) -> Size:
    """How many items or frames a field holds at most; of what has none, one."""
    if field.ring:
        return field.ring.size
    if field.grows:
        steps: Size = Name(STEPS)
        if field.grows.every != 1:
            steps = Call("ceil_div", (steps, Number(field.grows.every)))
        return times(Number(field.grows.items), steps)
    return Number(1)


def elements(shape: Shape) -> Size:
    """The product of a shape's dimensions; a bound counts as itself."""
    product: Size = Number(1)
    for dimension in shape.dimensions:
        product = times(product, dimension.size)
    return product


def times(left: Size, right: Size) -> Size:
    """`left * right`, without a factor of one and with the products of `right` in line."""
    if left == Number(1):
        return right
    if right == Number(1):
        return left
    if isinstance(right, Binary) and right.operator == "*":
        return Binary("*", times(left, right.left), right.right)
    return Binary("*", left, right)


def declared(
    schema: Schema, field: Field, values: Mapping[str, int], dtype: str | None = None
) -> int:
    """The bytes that `field` declares at `values`; `dtype` stands in for the schema's default.

    Raises:
        FormulaError: a formula has no value there (a division by zero, a negative size).
    """
    nbytes = 0
    for found in declarations(schema, field):
        own = found.dtype or dtype or schema.default_dtype
        itemsize = ITEMSIZE[own] if own else 1
        nbytes += itemsize * sum(evaluate(term, values) for term in found.terms)
    return nbytes


def shipped_values(schema: Schema) -> dict[str, int]:
    """Params and dims at the shipped deploy config, and the steps that tables quote.

    Of a param that gives names, the value is how many.
    """
    return values_at(schema, {})


def values_at(schema: Schema, given: Mapping[str, int]) -> dict[str, int]:
    """Those values where some are given; a dim that follows from others follows from those.

    Raises:
        FormulaError: a dim has no value there.
    """
    values = shipped_params(schema)
    values.update((name, given[name]) for name in values.keys() & given.keys())
    for dim in schema.dims:
        is_given = dim.name in given
        values[dim.name] = given[dim.name] if is_given else evaluate(dim.size, values)
    if schema.horizon is not None:
        values[STEPS] = given.get(STEPS, schema.horizon)
    return values


def shipped_params(schema: Schema) -> dict[str, int]:
    """The params that sizes can see, at the shipped deploy config; of names, how many."""
    values = ((param.name, _shipped(param)) for param in schema.params)
    return {name: value for name, value in values if value is not None}


def _shipped(param: Param) -> int | None:
    value = param.shipped if isinstance(param.default, Unset) else param.default
    if isinstance(value, tuple):
        return len(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
