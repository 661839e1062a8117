"""Rules about what reset conditions may ask, and of what."""

from collections.abc import Iterator

from attrs import frozen

from ..declared import shipped_params
from ..expressions.ast import (
    Both,
    Compare,
    Condition,
    Either,
    Equal,
    IsNone,
    Name,
    Not,
    Truth,
)
from ..expressions.sizes import names_in, parts_of
from ..expressions.types import may_be_none
from ..model import Schema
from .comparisons import Types, bad_comparison, kind_of, shown_type, types_of
from .constants import bad_divisions, constant_parts
from .problem import Problem, did_you_mean


def unknown_names(schema: Schema) -> Iterator[Problem]:
    """Names in conditions that are no field, argument or param."""
    types = types_of(schema)
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
    """Questions that a value of this type cannot answer, or that have one answer only."""
    types = types_of(schema)
    families = {field.name for field in schema.fields if field.per}
    seen = families | {f.name for f in schema.fields if f.is_assigned or f.view}
    opaque = {f.name for f in schema.fields if f.placement == "object"} - seen
    for rule in schema.reset_rules:
        for name in names_in(rule.condition):
            if name.name in opaque:
                message = f"`{name.name}` is an object, and conditions see values."
                yield Problem(name.at, message, "ask about an attr that follows it")
            elif name.name in families:
                message = f"`{name.name}` has a value for each key, and conditions see one."
                yield Problem(name.at, message, "ask about an attr that is not kept per key")
        yield from _bad_parts(rule.condition, types)
        yield from bad_divisions(rule.condition, shipped_params(schema))
    for condition in [
        *(rule.condition for rule in schema.reset_rules),
        *(axis.where for axis in schema.axes if axis.where is not None),
    ]:
        yield from constant_parts(condition)


def _bad_parts(condition: Condition, types: Types) -> Iterator[Problem]:
    for part in parts_of(condition):
        match part:
            case Truth(name=name):
                yield from _bad_truth(name, types)
            case Equal(left=first, right=second):
                for name in (first, second):
                    if kind_of(name, types) not in ("tensor", None):
                        shown = shown_type(name, types)
                        message = f"`equal` compares tensors; `{name.name}` is {shown}."
                        yield Problem(name.at, message, "compare it with `==`")
            case Compare():
                yield from bad_comparison(part, types)


def _bad_truth(name: Name, types: Types) -> Iterator[Problem]:
    kind = kind_of(name, types)
    if kind in ("bool", None):
        return
    message = f"`{name.name}` is {shown_type(name, types)}, and neither true nor false by itself."
    hints = {
        "tensor": f"write `{name.name} is not None`, or `equal({name.name}, other)`",
        "number": f"write `{name.name} != 0`",
        "text": f'write `{name.name} != ""`',
    }
    yield Problem(name.at, message, hints.get(kind, f"write `{name.name} is not None`"))


@frozen
class _Facts:
    """Names that are known not to be None where a condition came out true, and where false."""

    true: frozenset[str]
    false: frozenset[str]


def maybe_none(schema: Schema) -> Iterator[Problem]:
    """Values used where they may still be None; an earlier rule that fired is a test, too."""
    types = types_of(schema)
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
