"""Sizes, conditions, types and defaults of a schema as Python text."""

from collections.abc import Callable
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
    Size,
    Text,
    Truth,
    Type,
    Union,
)
from ..model import Default
from .literals import string, width

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


def size_lines(size: Size, room: int, spell: Spell = str) -> list[str]:
    """`size` in one line where it fits, else an operand a line, each behind its operator."""
    flat = size_text(size, spell)
    if width(flat) <= room:
        return [flat]
    match size:
        case Members(axis=axis, size=count, condition=condition):
            chosen = condition_lines(condition, room - len("    if "), spell)
            loop = f"for {axis} in range({size_text(count, spell)})"
            inner = ["1", loop, f"if {chosen[0]}", *chosen[1:]]
            return ["sum(", *(f"    {line}" for line in inner), ")"]
        case Binary():
            return _operand_lines(size, room, spell)
    return [flat]


def _operand_lines(size: Binary, room: int, spell: Spell) -> list[str]:
    rank = _PRECEDENCE[size.operator]
    left: Size = size
    lines: list[str] = []
    while isinstance(left, Binary) and _PRECEDENCE[left.operator] == rank:
        right = size_text(left.right, spell, rank + 1)
        # Parentheses hold an operand together; any other may take lines of its own.
        kept = [right] if right.startswith("(") else size_lines(left.right, room - 3, spell)
        kept[0] = f"{left.operator} {kept[0]}"
        lines[:0] = kept
        left = left.left
    first = size_text(left, spell, rank)
    return [*([first] if first.startswith("(") else size_lines(left, room, spell)), *lines]


def condition_lines(condition: Condition, room: int, spell: Spell = str) -> list[str]:
    """`condition` in one line where it fits, else an operand a line, each behind its operator."""
    flat = condition_text(condition, spell)
    if width(flat) <= room or not isinstance(condition, Both | Either):
        return [flat]
    word, first, rest = ("and", 2, 3) if isinstance(condition, Both) else ("or", 1, 1)
    kind, lines = type(condition), []
    left: Condition = condition
    while isinstance(left, kind):
        lines.append(f"{word} {condition_text(left.right, spell, rest)}")
        left = left.left
    return [condition_text(left, spell, first), *reversed(lines)]


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
        case Either(left=left, right=right):
            text = f"{condition_text(left, spell, 1)} or {condition_text(right, spell, 1)}"
            return f"({text})" if outer > 1 else text


def type_text(type_: Type, array_dtype: str | None = None) -> str:
    """A type as an annotation; `array_dtype` is the numpy dtype of an ndarray."""
    match type_:
        case Atom(name="ndarray"):
            # NumPy 1.26 has no `np.bool`.
            dtype = "bool_" if array_dtype == "bool" else array_dtype
            return f"NDArray[np.{dtype}]"
        case Atom(name=name):
            return name
        case Generic(origin=origin, arguments=arguments, variadic=variadic):
            inner = [type_text(one, array_dtype) for one in arguments]
            return f"{origin}[{', '.join(inner + ['...'] * variadic)}]"
        case Choice(values=values):
            return f"Literal[{', '.join(string(value) for value in values)}]"
        case Union(members=members):
            return " | ".join(type_text(member, array_dtype) for member in members)


def plain_text(value: Default) -> str:
    """A default as a literal; a sequence as a tuple."""
    if isinstance(value, tuple):
        inner = ", ".join(plain_text(one) for one in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    return string(value) if isinstance(value, str) else repr(value)
