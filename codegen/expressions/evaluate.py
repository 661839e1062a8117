"""The values of formulas and of conditions over whole numbers."""

import operator as operators
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from ..span import Span
from .ast import (
    Binary,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Length,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Size,
    Text,
)
from .sizes import MAX_SIZE, names_in, parts_of

# Keys that one axis may have; each of them costs a running session an object.
MAX_KEYS = 65_536

Values = Mapping[str, int]

_OPERATE: Mapping[str, Callable[[int, int], int]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "//": operators.floordiv,
    "%": operators.mod,
}
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "==": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


class FormulaError(ValueError):
    """A formula has no value that is a size: a division by zero, a negative one, one too large."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


def evaluate(size: Size, values: Values) -> int:
    """The value of a formula, where every name has one.

    Raises:
        FormulaError: it divides by zero, exceeds 2**63 - 1, or comes out negative.
        KeyError: a name has no value.
    """
    value = signed(size, values)
    if value < 0:
        raise FormulaError(f"This comes out as {value}{_where(size, values)}.", size.at)
    return value


def signed(size: Size, values: Values) -> int:
    """The value of a formula that may be negative.

    Raises:
        FormulaError: it divides by zero or exceeds 2**63 - 1 either way.
        KeyError: a name has no value.
    """
    return _compiled(size)(values)


def _compiled(size: Size) -> Callable[[Values], int]:
    """The formula as a function: the condition of an axis is asked for thousands of keys."""
    match size:
        case Number(value=number):
            return lambda values: number
        case Name(name=name) | Length(param=name):
            return operators.itemgetter(name)
        case Negative(operand=operand):
            inner = _compiled(operand)
            return lambda values: -inner(values)
        case Members():
            return lambda values: _count(size, tuple(_used(size, values).items()))
        case Call(arguments=arguments):
            return _call(size, [_compiled(argument) for argument in arguments])
        case Binary(left=left, right=right):
            return _operation(size, _compiled(left), _compiled(right))


@lru_cache(maxsize=64)
def _count(members: Members, used: tuple[tuple[str, int], ...]) -> int:
    """How many keys an axis has, which every field kept per it asks for."""
    values = dict(used)
    size = evaluate(members.size, values)
    if size > MAX_KEYS:
        message = f"An axis has at most {MAX_KEYS} keys; this has {size}"
        raise FormulaError(f"{message}{_where(members.size, values)}.", members.size.at)
    test = _test(members.condition)
    return sum(test({**values, members.axis: key}) for key in range(size))


def _test(condition: Condition) -> Callable[[Values], bool]:
    match condition:
        case Not(operand=operand):
            inner = _test(operand)
            return lambda values: not inner(values)
        case Both(left=left, right=right):
            first, second = _test(left), _test(right)
            return lambda values: first(values) and second(values)
        case Either(left=left, right=right):
            first, second = _test(left), _test(right)
            return lambda values: first(values) or second(values)
        case Compare(operator=operator, left=left, right=right):
            if not isinstance(left, Text) and not isinstance(right, Text):
                compare, one, other = _COMPARE[operator], _compiled(left), _compiled(right)
                return lambda values: compare(one(values), other(values))
    raise TypeError(f"{condition} does not compare numbers")


def _call(call: Call, arguments: list[Callable[[Values], int]]) -> Callable[[Values], int]:
    match call.function:
        case "min":
            return lambda values: min(argument(values) for argument in arguments)
        case "max":
            return lambda values: max(argument(values) for argument in arguments)
        case "ceil_div":
            dividend, divisor = arguments
            return lambda values: -(-dividend(values) // _nonzero(divisor(values), call, values))


def _operation(
    binary: Binary, left: Callable[[Values], int], right: Callable[[Values], int]
) -> Callable[[Values], int]:
    operate = _OPERATE[binary.operator]
    divides = binary.operator in ("//", "%")

    def value(values: Values) -> int:
        second = right(values)
        result = operate(left(values), _nonzero(second, binary, values) if divides else second)
        if abs(result) > MAX_SIZE:
            raise FormulaError(f"This is more than 2**63 - 1{_where(binary, values)}.", binary.at)
        return result

    return value


def _nonzero(divisor: int, size: Size, values: Values) -> int:
    if divisor == 0:
        raise FormulaError(f"This divides by zero{_where(size, values)}.", size.at)
    return divisor


def _where(size: Size, values: Values) -> str:
    """The values that a formula used, for a message."""
    used = _used(size, values)
    return f" at {', '.join(f'{name} = {value}' for name, value in used.items())}" if used else ""


def _used(size: Size, values: Values) -> dict[str, int]:
    return {name.name: values[name.name] for name in names_in(size)}


def divisors(part: Size | Condition) -> Iterator[tuple[Size, Size]]:
    """Every division in a size or condition, with what it divides by."""
    for inner in parts_of(part):
        match inner:
            case (
                Binary(operator="//" | "%", right=divisor)
                | Call(function="ceil_div", arguments=(_, divisor))
            ):
                yield inner, divisor


def inexact_divisions(size: Size, values: Values) -> list[tuple[Binary, int, int]]:
    """The `//` in a formula that leave a remainder: each with its dividend and divisor."""
    found = []
    for part in parts_of(size):
        if isinstance(part, Binary) and part.operator == "//":
            left, right = signed(part.left, values), signed(part.right, values)
            if right and left % right:
                found.append((part, left, right))
    return found
