"""Declared bytes: for each field a formula over dims and params, and its value at some config."""

from collections.abc import Mapping

from attrs import frozen

from .expressions.ast import Binary, Call, Name, Number, Size
from .expressions.sizes import evaluate
from .model import Field, Schema, Shape, Unset

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


def declaration(field: Field) -> Declaration | None:
    """What `field` declares, or None where it holds no bytes that are counted by shape."""
    shape = field.retains or field.shape
    if field.entries:
        terms = tuple(times(entry.count, elements(entry.shape)) for entry in field.entries)
    elif shape is None:
        return None
    else:
        terms = (times(_items(field), elements(shape)),)
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
    found = declaration(field)
    if found is None:
        return 0
    dtype = found.dtype or schema.default_dtype
    itemsize = ITEMSIZE[dtype] if dtype else 1
    return itemsize * sum(evaluate(term, values) for term in found.terms)


def shipped_values(schema: Schema) -> dict[str, int]:
    """Every int param and dim at the shipped deploy config, and the steps that tables quote."""
    values: dict[str, int] = {}
    for param in schema.params:
        value = param.shipped if isinstance(param.default, Unset) else param.default
        if isinstance(value, int) and not isinstance(value, bool):
            values[param.name] = value
    for dim in schema.dims:
        values[dim.name] = evaluate(dim.size, values)
    if schema.horizon is not None:
        values[STEPS] = schema.horizon
    return values
