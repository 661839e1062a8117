"""Rules about the values that formulas have at the shipped configuration."""

from collections.abc import Iterable, Iterator, Mapping

from ..declared import ITEMSIZE, STEPS, declared, keys, shipped_params
from ..expressions.ast import Atom, Name, Size, Type
from ..expressions.evaluate import MAX_KEYS, FormulaError, evaluate, inexact_divisions
from ..expressions.sizes import MAX_SIZE, names_in
from ..expressions.types import NAMES, show
from ..model import Axis, Field, Schema
from .problem import Problem, key_of
from .references import field_sizes, sizes_in


def _sizes(schema: Schema) -> Iterator[Size]:
    """Every formula of the schema, dims first."""
    yield from (dim.size for dim in schema.dims)
    yield from sizes_in(schema)


def _values(schema: Schema) -> dict[str, int]:
    """Params and dims at the shipped configuration, as far as they have a value there."""
    values = shipped_params(schema)
    for dim in schema.dims:
        value = _value(dim.size, values)
        # A dim of zero is a mistake where it stands, and none where it is used.
        if value:
            values[dim.name] = value
    return values


def _value(size: Size, values: Mapping[str, int]) -> int | None:
    """The value of a formula that has one."""
    if any(name.name not in values for name in names_in(size)):
        return None
    try:
        return evaluate(size, values)
    except FormulaError:
        return None


def bad_values(schema: Schema) -> Iterator[Problem]:
    """Formulas without a value that a size can have, at the shipped configuration."""
    values = _values(schema)
    types = {param.name: param.type for param in schema.params}
    costs = [field.recompute.cost for field in schema.fields if field.recompute]
    for size in _sizes(schema):
        yield from _not_numbers(names_in(size), types)
        if all(name.name in values for name in names_in(size)):
            # Rebuilding may be free; a size of nothing is a mistake.
            yield from _bad_value(size, values, any(size is cost for cost in costs))
    for axis in schema.axes:
        yield from _not_numbers(names_in(axis.where) if axis.where else (), types)
        yield from _bad_range(axis, shipped_params(schema))
    for field in schema.fields:
        yield from _too_many_bytes(schema, field, values)


def _not_numbers(names: Iterable[Name], types: Mapping[str, Type]) -> Iterator[Problem]:
    for name in names:
        type_ = types.get(name.name, Atom("int"))
        if type_ != Atom("int"):
            message = f"`{name.name}` is {show(type_)}, and sizes are whole numbers."
            yield Problem(name.at, message, "use an int param, or a dim")


def _bad_value(
    size: Size, values: Mapping[str, int], may_be_zero: bool = False
) -> Iterator[Problem]:
    try:
        value = evaluate(size, values)
    except FormulaError as error:
        hint = "a size is 1 or more at the shipped values of dims and params"
        yield Problem(error.span, error.message, hint)
        return
    if value == 0 and not may_be_zero:
        used = ", ".join(dict.fromkeys(f"{n.name} = {values[n.name]}" for n in names_in(size)))
        message = f"This comes out as 0{f' at {used}' if used else ''}; it would hold nothing."
        yield Problem(size.at, message, "a size is 1 or more")


def _bad_range(axis: Axis, values: Mapping[str, int]) -> Iterator[Problem]:
    """A range that has no key, or more than a session could have objects for."""
    size = _value(axis.size, values) if axis.kind == "range" and axis.size else None
    if size is None or any(name.name not in values for name in names_in(keys(axis))):
        return
    if size > MAX_KEYS:
        message = f"An axis has at most {MAX_KEYS} keys, and this one would have {size}."
        yield Problem(axis.value_at, message, "look for a factor too many")
    elif axis.where is not None:
        yield from _bad_value(keys(axis), values)


def _too_many_bytes(schema: Schema, field: Field, values: Mapping[str, int]) -> Iterator[Problem]:
    sizes = [*field_sizes(field), *([field.ring.size] if field.ring else [])]
    sizes += [keys(axis) for axis in schema.axes if axis.name in field.per]
    dtype = field.dtype or schema.default_dtype
    if not sizes or dtype not in ITEMSIZE or any(_value(size, values) is None for size in sizes):
        return
    try:
        nbytes = declared(schema, field, {**values, STEPS: schema.horizon or 1})
    except FormulaError:
        nbytes = MAX_SIZE + 1
    if nbytes > MAX_SIZE:
        key = "entries" if field.entries else "shape"
        message = f"`{field.name}` would hold more than 2**63 - 1 bytes at the shipped values."
        yield Problem(key_of(field, key), message, "look for a factor too many")


def missing_shipped(schema: Schema) -> Iterator[Problem]:
    """Params in formulas that have no value to quote bytes at."""
    sizes = [*_sizes(schema), *map(keys, schema.axes)]
    used = {name.name for size in sizes for name in names_in(size)}
    for param in schema.params:
        if (
            param.name in used
            and param.type in (Atom("int"), NAMES)
            and not {"default", "shipped"} & param.keys.keys()
        ):
            message = f"Bytes depend on `{param.name}`, which has no value to quote them at."
            hint = "add `shipped:` with its value at the shipped deploy config"
            yield Problem(param.at, message, hint)


def inexact(schema: Schema) -> Iterator[Problem]:
    """Divisions that drop a remainder at the shipped configuration."""
    values = _values(schema)
    for size in _sizes(schema):
        # What comes out as 0 is a mistake already.
        if not _value(size, values):
            continue
        for division, dividend, divisor in inexact_divisions(size, values):
            message = f"{dividend} // {divisor} drops a remainder of {dividend % divisor}."
            hint = "write `ceil_div(a, b)` if the rest takes space too"
            yield Problem(division.at, message, hint)
