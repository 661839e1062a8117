"""The values of formulas and of conditions over whole numbers."""

import operator as operators
from collections.abc import Callable, Mapping

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


def evaluate(size: Size, values: Mapping[str, int]) -> int:
    """The value of a formula, where every name has one.

    Raises:
        FormulaError: it divides by zero, exceeds 2**63 - 1, or comes out negative.
        KeyError: a name has no value.
    """
    value = _value(size, values)
    if value < 0:
        raise FormulaError(f"This comes out as {value}{_where(size, values)}.", size.at)
    return value


def _value(size: Size, values: Mapping[str, int]) -> int:
    match size:
        case Number(value=value):
            return value
        case Name(name=name):
            return values[name]
        case Negative(operand=operand):
            return -_value(operand, values)
        case Length(param=param):
            return values[param]
        case Members():
            return sum(_member(size, key, values) for key in range(_range(size, values)))
        case Call(arguments=arguments):
            result = _call(size, [_value(argument, values) for argument in arguments], values)
        case Binary(left=left, right=right):
            result = _operate(size, _value(left, values), _value(right, values), values)
    if abs(result) > MAX_SIZE:
        raise FormulaError(f"This is more than 2**63 - 1{_where(size, values)}.", size.at)
    return result


def _range(members: Members, values: Mapping[str, int]) -> int:
    """How many numbers the condition of an axis is asked for."""
    size = evaluate(members.size, values)
    if size > MAX_KEYS:
        message = f"An axis has at most {MAX_KEYS} keys; this has {size}"
        raise FormulaError(f"{message}{_where(members.size, values)}.", members.size.at)
    return size


def _member(members: Members, key: int, values: Mapping[str, int]) -> bool:
    return holds(members.condition, {**values, members.axis: key})


def holds(condition: Condition, values: Mapping[str, int]) -> bool:
    """Whether a condition that compares numbers holds.

    Raises:
        FormulaError: a formula in it has no value.
        KeyError: a name has no value.
        TypeError: it asks for something else than numbers.
    """
    match condition:
        case Not(operand=operand):
            return not holds(operand, values)
        case Both(left=left, right=right):
            return holds(left, values) and holds(right, values)
        case Either(left=left, right=right):
            return holds(left, values) or holds(right, values)
        case Compare(operator=operator, left=left, right=right):
            if not isinstance(left, Text) and not isinstance(right, Text):
                return _COMPARE[operator](_value(left, values), _value(right, values))
    raise TypeError(f"{condition} does not compare numbers")


def _call(call: Call, arguments: list[int], values: Mapping[str, int]) -> int:
    match call.function:
        case "min":
            return min(arguments)
        case "max":
            return max(arguments)
        case "ceil_div":
            dividend, divisor = arguments
            _refuse_zero(divisor, call, values)
            return -(-dividend // divisor)


def _operate(binary: Binary, left: int, right: int, values: Mapping[str, int]) -> int:
    match binary.operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "//":
            _refuse_zero(right, binary, values)
            return left // right
        case "%":
            _refuse_zero(right, binary, values)
            return left % right


def _refuse_zero(divisor: int, size: Size, values: Mapping[str, int]) -> None:
    if divisor == 0:
        raise FormulaError(f"This divides by zero{_where(size, values)}.", size.at)


def _where(size: Size, values: Mapping[str, int]) -> str:
    """The values that a formula used, for a message."""
    used = {name.name: values[name.name] for name in names_in(size)}
    return f" at {', '.join(f'{name} = {value}' for name, value in used.items())}" if used else ""


def inexact_divisions(size: Size, values: Mapping[str, int]) -> list[tuple[Binary, int, int]]:
    """The `//` in a formula that leave a remainder: each with its dividend and divisor."""
    found = []
    for part in parts_of(size):
        if isinstance(part, Binary) and part.operator == "//":
            left, right = _value(part.left, values), _value(part.right, values)
            if right and left % right:
                found.append((part, left, right))
    return found
