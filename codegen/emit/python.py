"""Sizes, conditions, types and defaults of a schema as Python text."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Literal

from ..expressions.ast import (
    Atom,
    Binary,
    Both,
    Call,
    Choice,
    Compare,
    Condition,
    Either,
    Equal,
    Generic,
    IsNone,
    Length,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Operand,
    RecordType,
    Size,
    Text,
    Truth,
    Type,
    Union,
)
from ..model import Default, Shape
from .literals import LINE, string, width

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}

_OPPOSITE: dict[str, Literal["==", "!="]] = {"==": "!=", "!=": "=="}

Spell = Callable[[str], str]


def size_text(size: Operand, spell: Spell = str, outer: int = 0) -> str:
    """`size` with just the parentheses that it needs; `spell` says how a name is written."""
    match size:
        case Number(value=value):
            return str(value)
        case Name(name=name):
            return spell(name)
        case Text(value=value):
            return string(value)
        case Negative(operand=Negative(operand=operand)):
            return size_text(operand, spell, outer)
        case Negative(operand=operand):
            return f"-{size_text(operand, spell, 3)}"
        case Length(param=param):
            return f"len({spell(param)})"
        case Members(axis=axis, size=count, condition=condition):
            chosen = condition_text(condition, spell)
            return f"sum(1 for {axis} in range({size_text(count, spell)}) if {chosen})"
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(size_text(one, spell) for one in arguments)})"
        case Binary(operator=operator, left=left, right=right):
            rank = _PRECEDENCE[operator]
            text = f"{size_text(left, spell, rank)} {operator} {size_text(right, spell, rank + 1)}"
            return f"({text})" if rank < outer else text


def size_lines(size: Size, room: int, spell: Spell = str, after: int = 0) -> list[str]:
    """`size` in one line where it fits, else an operand or an argument a line.

    `after` is how many columns the caller puts behind the last line.
    """
    flat = size_text(size, spell)
    if width(flat) + after <= room:
        return [flat]
    match size:
        case Members(axis=axis, size=count, condition=condition):
            chosen = condition_lines(condition, room - len("    if "), room - 4, spell)
            loop = f"for {axis} in range({size_text(count, spell)})"
            inner = ["1", loop, f"if {chosen[0]}", *chosen[1:]]
            return ["sum(", *(f"    {line}" for line in inner), ")"]
        case Call(function=function, arguments=arguments):
            inner = []
            for argument in arguments:
                lines = size_lines(argument, room - 4, spell, after=1)
                inner += [*lines[:-1], f"{lines[-1]},"]
            return [f"{function}(", *(f"    {line}" for line in inner), ")"]
        case Binary():
            return _operand_lines(size, room, spell, after)
    return [flat]


def _operand_lines(size: Binary, room: int, spell: Spell, after: int) -> list[str]:
    rank = _PRECEDENCE[size.operator]
    left: Size = size
    lines: list[str] = []
    while isinstance(left, Binary) and _PRECEDENCE[left.operator] == rank:
        behind = 0 if lines else after
        inner = room - len(left.operator) - 1
        operand = _one_operand(left.right, inner, spell, rank + 1, behind)
        lines[:0] = [f"{left.operator} {operand[0]}", *operand[1:]]
        left = left.left
    return [*_one_operand(left, room, spell, rank, 0), *lines]


def _one_operand(size: Size, room: int, spell: Spell, outer: int, after: int) -> list[str]:
    """An operand, in brackets of their own lines where it needs brackets and is long."""
    flat = size_text(size, spell, outer)
    if not flat.startswith("("):
        return size_lines(size, room, spell, after)
    if width(flat) + after <= room:
        return [flat]
    return ["(", *(f"    {line}" for line in size_lines(size, room - 4, spell)), ")"]


def condition_lines(
    condition: Condition, flat_room: int, room: int, spell: Spell = str
) -> list[str]:
    """`condition` in one line where it fits `flat_room`, else an operand a line of `room`."""
    flat = condition_text(condition, spell)
    if width(flat) <= flat_room:
        return [flat]
    if isinstance(condition, Compare):
        right = f"{condition.operator} {size_text(condition.right, spell)}"
        return [size_text(condition.left, spell), right]
    if not isinstance(condition, Both | Either):
        return [flat]
    word, first, rest = ("and", 2, 3) if isinstance(condition, Both) else ("or", 1, 1)
    lines: list[str] = []
    for at, one in enumerate(_chain(condition)):
        text = condition_text(one, spell, rest if at else first)
        operand = [text] if text.startswith("(") else condition_lines(one, room - 4, room, spell)
        lines += [f"{word} {operand[0]}" if at else operand[0], *operand[1:]]
    return lines


def alternatives(condition: Condition) -> list[Condition]:
    """Conditions without `or` of which one holds when this does, each to be tested in turn.

    What is tested in turn needs no brackets, however long it is. The order of tests within each
    alternative stays, so that a value is still tested for None before it is used.
    """
    match condition:
        case Either(left=left, right=right):
            return [*alternatives(left), *alternatives(right)]
        case Both(left=left, right=right):
            return [Both(one, two) for one in alternatives(left) for two in alternatives(right)]
        case Not(operand=Either(left=left, right=right)):
            return alternatives(Both(Not(left), Not(right)))
        case Not(operand=Both(left=left, right=right)):
            return alternatives(Either(Not(left), Not(right)))
        case Not(operand=Not(operand=operand)):
            return alternatives(operand)
    return [condition]


def _chain(condition: Both | Either) -> list[Condition]:
    """The operands of a run of one operator, in the order of the text."""
    kind = type(condition)
    parts: list[Condition] = []
    for side in (condition.left, condition.right):
        parts += _chain(side) if isinstance(side, kind) else [side]
    return parts


def condition_text(condition: Condition, spell: Spell = str, outer: int = 0) -> str:
    """`condition` with just the parentheses that it needs."""
    match condition:
        case IsNone(name=name, negated=negated):
            return f"{spell(name.name)} is {'not ' if negated else ''}None"
        case Compare(operator=operator, left=left, right=right):
            return f"{size_text(left, spell)} {operator} {size_text(right, spell)}"
        case Equal(left=left, right=right):
            return f"equal({spell(left.name)}, {spell(right.name)})"
        case Truth(name=name):
            return spell(name.name)
        case Not(operand=IsNone(name=name, negated=negated)):
            return condition_text(IsNone(name, not negated), spell)
        case Not(operand=Compare(operator="==" | "!=" as operator, left=left, right=right)):
            return condition_text(Compare(_OPPOSITE[operator], left, right), spell)
        case Not(operand=Not(operand=operand)):
            return condition_text(operand, spell, outer)
        case Not(operand=operand):
            return f"not {condition_text(operand, spell, 3)}"
        case Both(left=left, right=right):
            text = f"{condition_text(left, spell, 2)} and {condition_text(right, spell, 3)}"
            return f"({text})" if outer in (1, 3) else text
        case Either():
            operands = _merged(_chain(condition), spell)
            text = " or ".join(operands)
            return f"({text})" if outer > 1 and len(operands) > 1 else text


def _merged(operands: list[Condition], spell: Spell) -> list[str]:
    """The operands of an `or`; neighbours that compare one value for equality become one `in`."""
    texts: list[str] = []
    at = 0
    while at < len(operands):
        first = operands[at]
        run = [first]
        while isinstance(first, Compare) and first.operator == "==" and at + 1 < len(operands):
            after = operands[at + 1]
            if not (
                isinstance(after, Compare) and after.operator == "==" and after.left == first.left
            ):
                break
            run.append(after)
            at += 1
        at += 1
        if len(run) == 1:
            texts.append(condition_text(first, spell, 1))
            continue
        values = ", ".join(size_text(one.right, spell) for one in run if isinstance(one, Compare))
        assert isinstance(first, Compare)
        texts.append(f"{size_text(first.left, spell)} in ({values})")
    return texts


def shape_text(shape: Shape) -> str:
    """A shape as a schema writes it."""
    dimensions = (f"{'<=' * one.at_most}{size_text(one.size)}" for one in shape.dimensions)
    return f"[{', '.join(dimensions)}]"


def type_text(type_: Type, array_dtype: str | None = None) -> str:
    """A type as an annotation; `array_dtype` is the numpy dtype of an ndarray."""
    match type_:
        case Atom(name="ndarray"):
            if array_dtype is None:
                return "NDArray[Any]"
            # NumPy 1.26 has no `np.bool`.
            return f"NDArray[np.{'bool_' if array_dtype == 'bool' else array_dtype}]"
        case Atom(name=name):
            return name
        case Generic(origin=origin, arguments=arguments, variadic=variadic):
            inner = [type_text(one, array_dtype) for one in arguments]
            return f"{origin}[{', '.join(inner + ['...'] * variadic)}]"
        case RecordType(name=name):
            return name
        case Choice(values=values):
            return f"Literal[{', '.join(string(value) for value in values)}]"
        case Union(members=members):
            return " | ".join(type_text(member, array_dtype) for member in members)


def sequence(brackets: str, items: Sequence[str], indent: int, before: int) -> str:
    """Items in brackets on one line where they fit behind `before` columns, else one a line."""
    comma = "," if brackets == "()" and len(items) == 1 else ""
    flat = f"{brackets[0]}{', '.join(items)}{comma}{brackets[1]}"
    if indent + before + width(flat) + 1 <= LINE:
        return flat
    lines = "".join(f"{' ' * (indent + 4)}{item},\n" for item in items)
    return f"{brackets[0]}\n{lines}{' ' * indent}{brackets[1]}"


def plain_text(value: Default) -> str:
    """A default as a literal on one line; a sequence as a tuple."""
    if isinstance(value, tuple):
        inner = ", ".join(plain_text(one) for one in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    return string(value) if isinstance(value, str) else repr(value)
