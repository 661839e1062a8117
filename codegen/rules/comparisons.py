"""What the values in a condition are, and which of them can be compared."""

from collections.abc import Iterator, Mapping

from ..expressions.ast import (
    Atom,
    Binary,
    Call,
    Choice,
    Compare,
    Name,
    Operand,
    Text,
    Type,
    Union,
)
from ..expressions.sizes import names_in, parts_of
from ..expressions.types import members, show
from ..model import Field, Schema
from .problem import Problem, did_you_mean

# None stands for a value that did not load, of which nothing is said.
Types = Mapping[str, Type | None]


def types_of(schema: Schema) -> dict[str, Type | None]:
    """What a condition sees, by name."""
    types: dict[str, Type | None] = dict.fromkeys(schema.broken)
    named = [
        *((param.name, param.type) for param in schema.params),
        *((argument.name, argument.type) for argument in schema.arguments),
        *((field.name, _read_type(field)) for field in schema.fields),
    ]
    for name, type_ in named:
        # Of a name that means two things, nothing can be said.
        types[name] = None if name in types else type_
    return types


def _read_type(field: Field) -> Type | None:
    """The type that reading a field gives; an object with a view reads as None when empty."""
    if field.per:
        return None
    if field.is_assigned or field.type is None:
        return field.type
    return Union((field.type, Atom("None"))) if field.view else None


def bad_comparison(compare: Compare, types: Types) -> Iterator[Problem]:
    """Values that no comparison can tell apart, or that are never equal."""
    # Two constants are a mistake of their own, whatever they are.
    if not names_in(compare):
        return
    kinds = [kind_of(operand, types) for operand in (compare.left, compare.right)]
    for operand, kind in zip((compare.left, compare.right), kinds, strict=True):
        if isinstance(operand, Name) and kind in ("tensor", "bool", "other"):
            yield _incomparable(operand, kind, types)
            return
        if problem := _incalculable(operand, types):
            yield problem
            return
    if None in kinds:
        return
    if kinds[0] != kinds[1]:
        yield Problem(compare.at, f"A {kinds[0]} is never equal to a {kinds[1]}.")
    elif kinds[0] == "text" and compare.operator not in ("==", "!="):
        yield Problem(compare.at, "Texts have no order here.", "compare with `==` or `!=`")
    elif kinds[0] == "text":
        yield from _never_equal(compare, types)


def _incomparable(name: Name, kind: str, types: Types) -> Problem:
    message = f"`{name.name}` is {shown_type(name, types)}, and cannot be compared like a number."
    hints = {
        "tensor": f"write `equal({name.name}, other)`, or `{name.name} is None`",
        "bool": f"write `{name.name}` or `not {name.name}`",
    }
    return Problem(name.at, message, hints.get(kind))


def _incalculable(operand: Operand, types: Types) -> Problem | None:
    """What in a formula is no number, or no whole number where one is needed."""
    if isinstance(operand, Name):
        return None
    for name in names_in(operand):
        if kind_of(name, types) not in ("number", None):
            message = f"`{name.name}` is {shown_type(name, types)}, and cannot be calculated with."
            return Problem(name.at, message)
    for part in parts_of(operand):
        match part:
            case Binary(operator="//" | "%" as what) | Call(function=what):
                for name in names_in(part):
                    type_ = types.get(name.name)
                    if type_ and Atom("float") in members(type_):
                        message = f"`{what}` takes whole numbers; `{name.name}` is {show(type_)}."
                        return Problem(name.at, message, "compare the float itself")
    return None


def _never_equal(compare: Compare, types: Types) -> Iterator[Problem]:
    """Texts of which none is common to both sides, which a type checker would refuse."""
    left, right = (_texts(operand, types) for operand in (compare.left, compare.right))
    if left is None or right is None or not set(left).isdisjoint(right):
        return
    for one, other in ((compare.left, compare.right), (compare.right, compare.left)):
        if isinstance(one, Name) and isinstance(other, Text):
            texts = _texts(one, types) or ()
            message = f'`{one.name}` is never "{other.value}".'
            hint = did_you_mean(other.value, texts, f"it is one of {', '.join(texts)}")
            yield Problem(other.at, message, hint)
            return
    message = "The two have no text in common, so they are never equal."
    yield Problem(compare.at, message, "compare values of which one can be the other")


def _texts(operand: Operand, types: Types) -> tuple[str, ...] | None:
    """The texts that a value can be; None for any."""
    if isinstance(operand, Text):
        return (operand.value,)
    type_ = types.get(operand.name) if isinstance(operand, Name) else None
    parts = members(type_) if type_ else (Atom("str"),)
    if Atom("str") in parts:
        return None
    return tuple(text for part in parts if isinstance(part, Choice) for text in part.values)


def kind_of(operand: Operand, types: Types) -> str | None:
    """Number, text, bool, tensor or other; None where that is not known."""
    if isinstance(operand, Text):
        return "text"
    if not isinstance(operand, Name):
        return "number"
    type_ = types.get(operand.name)
    kinds = {_kind(member) for member in members(type_)} if type_ else {None}
    kinds.discard("none")
    return kinds.pop() if len(kinds) == 1 else "other"


def _kind(type_: Type) -> str | None:
    match type_:
        case Atom(name="int" | "float"):
            return "number"
        case Atom(name="str") | Choice():
            return "text"
        case Atom(name="bool"):
            return "bool"
        case Atom(name="Tensor"):
            return "tensor"
        case Atom(name="None"):
            return "none"
    return "other"


def shown_type(name: Name, types: Types) -> str:
    """The type of a value, for a message."""
    type_ = types.get(name.name)
    return show(type_) if type_ else "unknown"
