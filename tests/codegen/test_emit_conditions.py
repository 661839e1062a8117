"""Conditions and sizes as Python: whatever their layout, they mean what the tree means."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codegen.emit.python import alternatives, condition_lines, condition_text, size_lines, size_text
from codegen.expressions.ast import (
    Binary,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    IsNone,
    Name,
    Negative,
    Not,
    Number,
    Size,
    Text,
    Truth,
)
from codegen.expressions.evaluate import FormulaError, evaluate

VALUES: dict[str, Any] = {"ceil_div": lambda a, b: -(-a // b)}
NAMES = ["a", "b", "c"]

SIZES: st.SearchStrategy[Size] = st.recursive(
    st.integers(0, 9).map(Number) | st.sampled_from(NAMES).map(Name),
    lambda inner: (
        st.builds(Binary, st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner)
        | inner.map(Negative)
        | st.builds(Call, st.sampled_from(["ceil_div", "min", "max"]), st.tuples(inner, inner))
    ),
    max_leaves=12,
)

CONDITIONS: st.SearchStrategy[Condition] = st.recursive(
    st.builds(Truth, st.sampled_from(["p", "q"]).map(Name))
    | st.builds(
        Compare,
        st.sampled_from(["==", "==", "!=", "<", ">="]),
        st.sampled_from(NAMES).map(Name),
        st.sampled_from(NAMES).map(Name) | st.integers(0, 2).map(Number),
    )
    | st.builds(Compare, st.just("=="), st.just(Name("s")), st.sampled_from("xy").map(Text))
    | st.builds(IsNone, st.just(Name("n")), st.booleans()),
    lambda inner: st.builds(Both, inner, inner) | st.builds(Either, inner, inner) | inner.map(Not),
    max_leaves=8,
)

SCOPES = st.fixed_dictionaries(
    {
        **{name: st.integers(0, 2) for name in NAMES},
        "p": st.booleans(),
        "q": st.booleans(),
        "s": st.sampled_from("xyz"),
        "n": st.none() | st.integers(0, 1),
    }
)


def holds(condition: Condition, scope: dict[str, Any]) -> bool:
    """What the tree means, by the book."""
    match condition:
        case Truth(name=name):
            return bool(scope[name.name])
        case IsNone(name=name, negated=negated):
            return (scope[name.name] is None) != negated
        case Not(operand=operand):
            return not holds(operand, scope)
        case Both(left=left, right=right):
            return holds(left, scope) and holds(right, scope)
        case Either(left=left, right=right):
            return holds(left, scope) or holds(right, scope)
        case Compare(operator=operator, left=left, right=right):
            one, two = (_value(side, scope) for side in (left, right))
            return {
                "==": one == two,
                "!=": one != two,
                "<": one < two,
                "<=": one <= two,
                ">": one > two,
                ">=": one >= two,
            }[operator]
    raise AssertionError(condition)


def _value(side: Any, scope: dict[str, Any]) -> Any:
    return scope[side.name] if isinstance(side, Name) else side.value


def value_of(text: str, scope: dict[str, Any]) -> Any:
    return eval(text, {"__builtins__": {"min": min, "max": max, "sum": sum}}, VALUES | scope)


@given(CONDITIONS, SCOPES, st.integers(1, 80))
def test_conditions_mean_the_same_in_every_layout(
    condition: Condition, scope: dict[str, Any], room: int
) -> None:
    """On one line, on several, and as alternatives tested in turn."""
    expected = holds(condition, scope)
    assert expected == value_of(condition_text(condition), scope)
    lines = condition_lines(condition, room, room)
    assert expected == value_of("(" + "\n".join(lines) + ")", scope)
    assert expected == any(value_of(condition_text(one), scope) for one in alternatives(condition))


@given(SIZES, SCOPES, st.integers(1, 60))
def test_sizes_mean_the_same_in_every_layout(size: Size, scope: dict[str, Any], room: int) -> None:
    """On one line and on several; where the checker finds no value, Python is not asked."""
    values = {name: scope[name] for name in NAMES}
    try:
        expected = evaluate(size, values)
    except FormulaError:
        return
    assert expected == value_of(size_text(size), values)
    assert expected == value_of("(" + "\n".join(size_lines(size, room)) + ")", values)
