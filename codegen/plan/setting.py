"""What a plan is computed at: values of dims and params that replace the shipped ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import NoReturn

from attrs import frozen

from ..declared import ITEMSIZE, STEPS, shipped_values, values_at
from ..emit.python import size_text
from ..expressions.evaluate import FormulaError
from ..model import Param, Schema
from ..rules.problem import did_you_mean
from ..scalars import DECIMAL, bytes_in
from ..settings import UsageError

DTYPE = "dtype"


@frozen
class At:
    """Every value that sizes are computed from, and the dtype of fields that name none.

    `given` are those values that replace shipped ones; the others follow. `steps` None stands for
    as many as fill every ring.
    """

    given: Mapping[str, int]
    values: Mapping[str, int]
    dtype: str | None
    steps: int | None


def settings_of(
    schemas: Sequence[Schema], texts: Iterable[str], steps: int | None
) -> Mapping[str, At]:
    """The setting of each model, by its name, where `texts` are NAME=VALUE.

    A name applies to every model that has it, and at least one does.

    Raises:
        UsageError: a text, a name or a value that no model can take.
    """
    given = dict(_split(text) for text in texts)
    taken: set[str] = set()
    found = {schema.model: _at(schema, given, steps, taken) for schema in schemas}
    for name in given:
        if name not in taken:
            _refuse_name(name, schemas)
    return found


def as_bytes(text: str) -> int:
    """A number of bytes: a whole number, or a decimal with KiB, MiB or GiB.

    Raises:
        UsageError: the text is neither.
    """
    nbytes = bytes_in(text)
    if nbytes is None and DECIMAL.fullmatch(text):
        nbytes = Decimal(text)
    if nbytes is None or nbytes < 0:
        raise UsageError(f"{text!r} is no number of bytes; write 80GiB, 512MiB or a whole number")
    return int(nbytes)


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise UsageError(f"--set takes NAME=VALUE, not {text!r}; write --set H=480")
    if name == STEPS:
        raise UsageError(f"steps are not set but asked for; write --steps {value}")
    return name, value


def _at(schema: Schema, given: Mapping[str, str], steps: int | None, taken: set[str]) -> At:
    known = shipped_values(schema)
    dtype = schema.default_dtype
    numbers: dict[str, int] = {}
    for name, text in given.items():
        if name == DTYPE and dtype is not None:
            taken.add(name)
            dtype = _dtype(text)
        elif name in known:
            taken.add(name)
            numbers[name] = _number(schema, name, text)
    steps = schema.horizon if steps is None else steps
    return At(numbers, values_of(schema, numbers), dtype, steps)


def values_of(schema: Schema, given: Mapping[str, int]) -> Mapping[str, int]:
    """Every value that sizes are computed from, where some are given.

    Raises:
        UsageError: a dim has no value there, or one below 1.
    """
    try:
        values = values_at(schema, given)
    except FormulaError as error:
        span = error.span
        raise UsageError(f"{schema.path}:{span.line}:{span.column}: {error.message}") from error
    for dim in schema.dims:
        if values[dim.name] < 1:
            is_small = f"{dim.name} = {size_text(dim.size)} comes out as {values[dim.name]}"
            raise UsageError(f"{schema.model}: {is_small}; it is at least 1")
    return values


def _dtype(text: str) -> str:
    if text not in ITEMSIZE:
        hint = did_you_mean(text, ITEMSIZE, "such as bfloat16 or float32")
        raise UsageError(f"no dtype is named {text!r}; {hint}")
    return text


def _number(schema: Schema, name: str, text: str) -> int:
    """A size; of a param that gives names, how many of them, or the names with commas between."""
    param = next((one for one in schema.params if one.name == name), None)
    names = param is not None and _gives_names(param)
    if names and not text.isdecimal():
        return len(text.split(","))
    if not DECIMAL.fullmatch(text) or len(text) > len(str(2**63)):
        what = "a whole number or names with commas between" if names else "a whole number"
        raise UsageError(f"{schema.model}: {name} takes {what}, not {text!r}")
    number = int(text)
    lowest = 1 if param is None or names else param.minimum
    highest = None if param is None else param.maximum
    if lowest is not None and number < lowest:
        raise UsageError(f"{schema.model}: {name} is at least {lowest}, not {number}")
    if highest is not None and number > highest:
        raise UsageError(f"{schema.model}: {name} is at most {highest}, not {number}")
    return number


def _gives_names(param: Param) -> bool:
    return isinstance(param.default, tuple) or isinstance(param.shipped, tuple)


def _refuse_name(name: str, schemas: Sequence[Schema]) -> NoReturn:
    models = ", ".join(schema.model for schema in schemas)
    for schema in schemas:
        if any(param.name == name for param in schema.params):
            raise UsageError(f"{schema.model}: the param {name} sizes nothing, so it is not set")
    known = list(dict.fromkeys(_settable(schemas)))
    # Sizes are often told apart by case alone: H and h.
    close = get_close_matches(name, known, 1)
    hint = did_you_mean(name, close or known, f"there are {', '.join(known)}" if known else None)
    raise UsageError(f"{models}: no dim or param is named {name!r}; {hint or 'there are none'}")


def _settable(schemas: Sequence[Schema]) -> Iterator[str]:
    for schema in schemas:
        yield from (name for name in shipped_values(schema) if name != STEPS)
        if schema.default_dtype is not None:
            yield DTYPE
