"""Rules about what reset conditions may ask, and of what."""

from collections.abc import Iterator, Mapping

from attrs import frozen

from ..expressions.ast import (
    Atom,
    Both,
    Choice,
    Compare,
    Condition,
    Either,
    Equal,
    IsNone,
    Name,
    Not,
    Operand,
    Text,
    Truth,
    Type,
    Union,
)
from ..expressions.sizes import names_in
from ..expressions.types import may_be_none, members, show
from ..model import Field, Schema
from .problem import Problem, did_you_mean

# None stands for a value that did not load, of which nothing is said.
Types = Mapping[str, Type | None]


def _types(schema: Schema) -> dict[str, Type | None]:
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
    if field.placement != "object" or field.type is None:
        return field.type
    return Union((field.type, Atom("None"))) if field.view else None


def unknown_names(schema: Schema) -> Iterator[Problem]:
    """Names in conditions that are no field, argument or param."""
    types = _types(schema)
    dims = {dim.name for dim in schema.dims}
    for rule in schema.reset_rules:
        for name in names_in(rule.condition):
            if name.name in types:
                continue
            if name.name in dims:
                message = f"`{name.name}` is a dim, which describes shapes and not a session."
                yield Problem(name.at, message, "make it a param, or an argument")
            else:
                hint = did_you_mean(name.name, types, "declare it under `arguments`")
                message = f"There is no field, argument or param `{name.name}`."
                yield Problem(name.at, message, hint)


def bad_conditions(schema: Schema) -> Iterator[Problem]:
    """Questions that a value of this type cannot answer."""
    types = _types(schema)
    families = {field.name for field in schema.fields if field.per}
    opaque = {f.name for f in schema.fields if f.placement == "object" and not f.view} - families
    for rule in schema.reset_rules:
        for name in names_in(rule.condition):
            if name.name in opaque:
                message = f"`{name.name}` is an object, and conditions see values."
                yield Problem(name.at, message, "ask about an attr that follows it")
            elif name.name in families:
                message = f"`{name.name}` has a value for each key, and conditions see one."
                yield Problem(name.at, message, "ask about an attr that is not kept per key")
        yield from _bad_parts(rule.condition, types)


def _bad_parts(condition: Condition, types: Types) -> Iterator[Problem]:
    match condition:
        case Not(operand=operand):
            yield from _bad_parts(operand, types)
        case Both(left=left, right=right) | Either(left=left, right=right):
            yield from _bad_parts(left, types)
            yield from _bad_parts(right, types)
        case Truth(name=name):
            yield from _bad_truth(name, types)
        case Equal(left=first, right=second):
            for name in (first, second):
                if _kind(name, types) not in ("tensor", None):
                    message = f"`equal` compares tensors; `{name.name}` is {_shown(name, types)}."
                    yield Problem(name.at, message, "compare it with `==`")
        case Compare():
            yield from _bad_comparison(condition, types)


def _bad_truth(name: Name, types: Types) -> Iterator[Problem]:
    kind = _kind(name, types)
    if kind in ("bool", None):
        return
    message = f"`{name.name}` is {_shown(name, types)}, and neither true nor false by itself."
    hints = {
        "tensor": f"write `{name.name} is not None`, or `equal({name.name}, other)`",
        "number": f"write `{name.name} != 0`",
        "text": f'write `{name.name} != ""`',
    }
    yield Problem(name.at, message, hints.get(kind, f"write `{name.name} is not None`"))


def _bad_comparison(compare: Compare, types: Types) -> Iterator[Problem]:
    kinds = [_kind(operand, types) for operand in (compare.left, compare.right)]
    for operand, kind in zip((compare.left, compare.right), kinds, strict=True):
        if isinstance(operand, Name) and kind in ("tensor", "bool", "other"):
            yield _incomparable(operand, kind, types)
            return
        for name in names_in(operand) if not isinstance(operand, Name) else ():
            if _kind(name, types) not in ("number", None):
                message = f"`{name.name}` is {_shown(name, types)}, and cannot be calculated with."
                yield Problem(name.at, message)
                return
    if None in kinds:
        return
    if kinds[0] != kinds[1]:
        yield Problem(compare.at, f"A {kinds[0]} is never equal to a {kinds[1]}.")
    elif kinds[0] == "text" and compare.operator not in ("==", "!="):
        yield Problem(compare.at, "Texts have no order here.", "compare with `==` or `!=`")
    else:
        yield from _impossible_choice(compare, types)


def _incomparable(name: Name, kind: str, types: Types) -> Problem:
    message = f"`{name.name}` is {_shown(name, types)}, and cannot be compared like a number."
    hints = {
        "tensor": f"write `equal({name.name}, other)`, or `{name.name} is None`",
        "bool": f"write `{name.name}` or `not {name.name}`",
    }
    return Problem(name.at, message, hints.get(kind))


def _impossible_choice(compare: Compare, types: Types) -> Iterator[Problem]:
    """A text that a Literal never is, which a type checker would refuse."""
    for name, text in ((compare.left, compare.right), (compare.right, compare.left)):
        if isinstance(name, Name) and isinstance(text, Text):
            type_ = types.get(name.name)
            parts = members(type_) if type_ else ()
            texts = [v for part in parts if isinstance(part, Choice) for v in part.values]
            if Atom("str") not in parts and text.value not in texts:
                message = f'`{name.name}` is never "{text.value}".'
                listed = f"it is one of {', '.join(texts)}"
                yield Problem(text.at, message, did_you_mean(text.value, texts, listed))


def _kind(operand: Operand, types: Types) -> str | None:
    """Number, text, bool, tensor or other; None where that is not known."""
    if isinstance(operand, Text):
        return "text"
    if not isinstance(operand, Name):
        return "number"
    type_ = types.get(operand.name)
    kinds = {_kind_of(member) for member in members(type_)} if type_ else {None}
    kinds.discard("none")
    return kinds.pop() if len(kinds) == 1 else "other"


def _kind_of(type_: Type) -> str | None:
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


def _shown(name: Name, types: Types) -> str:
    type_ = types.get(name.name)
    return show(type_) if type_ else "unknown"


@frozen
class _Facts:
    """Names that are known not to be None where a condition came out true, and where false."""

    true: frozenset[str]
    false: frozenset[str]


def maybe_none(schema: Schema) -> Iterator[Problem]:
    """Values used where they may still be None; an earlier rule that fired is a test, too."""
    types = _types(schema)
    known: frozenset[str] = frozenset()
    for rule in schema.reset_rules:
        yield from _uses(rule.condition, known, types)
        known = known | _facts(rule.condition).false


def _facts(condition: Condition) -> _Facts:
    nothing: frozenset[str] = frozenset()
    match condition:
        case IsNone(name=name, negated=negated):
            tested = frozenset({name.name})
            return _Facts(tested, nothing) if negated else _Facts(nothing, tested)
        case Not(operand=operand):
            facts = _facts(operand)
            return _Facts(facts.false, facts.true)
        case Both(left=left, right=right):
            first, second = _facts(left), _facts(right)
            return _Facts(first.true | second.true, first.false & second.false)
        case Either(left=left, right=right):
            first, second = _facts(left), _facts(right)
            return _Facts(first.true & second.true, first.false | second.false)
    return _Facts(nothing, nothing)


def _uses(condition: Condition, known: frozenset[str], types: Types) -> Iterator[Problem]:
    match condition:
        case IsNone():
            return
        case Not(operand=operand):
            yield from _uses(operand, known, types)
        case Both(left=left, right=right):
            yield from _uses(left, known, types)
            yield from _uses(right, known | _facts(left).true, types)
        case Either(left=left, right=right):
            yield from _uses(left, known, types)
            yield from _uses(right, known | _facts(left).false, types)
        case _:
            for name in names_in(condition):
                type_ = types.get(name.name)
                if type_ and may_be_none(type_) and name.name not in known:
                    message = f"`{name.name}` may be None here."
                    hint = f"write `{name.name} is not None and ...` before it"
                    yield Problem(name.at, message, hint)
