"""Declared bytes: for each field a formula over dims and params, and its value at some config."""

from collections.abc import Mapping

from attrs import frozen

from .expressions.ast import Binary, Call, Length, Members, Name, Number, Size
from .expressions.evaluate import evaluate
from .expressions.types import arrays_in
from .model import Axis, Field, Param, Schema, Shape, Unset

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


def declaration(schema: Schema, field: Field) -> Declaration | None:
    """What `field` declares, or None where it holds no bytes that are counted by shape."""
    one = _declaration_of_one(field)
    if one is None or not field.per:
        return one
    count: Size = Number(1)
    for axis in schema.axes:
        if axis.name in field.per:
            count = times(count, keys(axis))
    return Declaration(tuple(times(count, term) for term in one.terms), one.dtype)


def keys(axis: Axis) -> Size:
    """How many keys an axis has; of a captured one, how many are declared."""
    if axis.size is None:
        return Length(axis.param, axis.value_at) if axis.param else Number(len(axis.names))
    if axis.where is None:
        return axis.size
    return Members(axis.name, axis.size, axis.where, axis.value_at)


def _declaration_of_one(field: Field) -> Declaration | None:
    """What a field declares, or one key of a family."""
    shape = field.retains or field.shape
    if field.entries:
        terms = tuple(times(entry.count, elements(entry.shape)) for entry in field.entries)
    elif shape is None:
        return None
    else:
        # A tuple of tensors holds one of this shape for each.
        arrays = arrays_in(field.type) if field.type else None
        terms = (times(_items(field), times(Number(arrays or 1), elements(shape))),)
    return Declaration(terms, field.dtype)


def _items(field: Field) -> Size:
    """How many items of its shape a field holds at most."""
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


def declared(schema: Schema, field: Field, values: Mapping[str, int]) -> int:
    """The bytes that `field` declares at `values`.

    Raises:
        FormulaError: a formula has no value there (a division by zero, a negative size).
    """
    found = declaration(schema, field)
    if found is None:
        return 0
    dtype = found.dtype or schema.default_dtype
    itemsize = ITEMSIZE[dtype] if dtype else 1
    return itemsize * sum(evaluate(term, values) for term in found.terms)


def shipped_values(schema: Schema) -> dict[str, int]:
    """Params and dims at the shipped deploy config, and the steps that tables quote.

    Of a param that gives names, the value is how many.
    """
    values = shipped_params(schema)
    for dim in schema.dims:
        values[dim.name] = evaluate(dim.size, values)
    if schema.horizon is not None:
        values[STEPS] = schema.horizon
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
