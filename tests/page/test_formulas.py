"""The page's arithmetic is the checker's."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codegen.expressions.ast import (
    Binary,
    Both,
    Call,
    Compare,
    Either,
    Length,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Size,
)
from codegen.expressions.evaluate import FormulaError, evaluate
from codegen.page.formula import formula

from .conftest import Open, document_of, shipped
from .opened import Opened

NUMBERS = st.integers(0, 9) | st.sampled_from([2**31, 2**53 + 1, 2**62, 2**63 - 1])
VALUES = st.fixed_dictionaries(
    {name: st.integers(-9, 9) | st.sampled_from([2**53 + 1, 2**63 - 1]) for name in "abn"}
)
LEAVES = st.builds(Number, NUMBERS) | st.builds(Name, st.sampled_from("abn"))


def composed(inner: st.SearchStrategy[Size]) -> st.SearchStrategy[Size]:
    functions = st.sampled_from(["min", "max"])
    return (
        st.builds(Binary, st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner)
        | st.builds(Negative, inner)
        | st.builds(Call, functions, st.lists(inner, min_size=2, max_size=4).map(tuple))
        | st.builds(Call, st.just("ceil_div"), st.tuples(inner, inner))
    )


SIZES = st.recursive(LEAVES, composed, max_leaves=8) | st.builds(Length, st.just("n"))
KEYED = st.recursive(LEAVES | st.just(Name("key")), composed, max_leaves=3)
CONDITIONS = st.recursive(
    st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), KEYED, KEYED),
    lambda inner: (
        st.builds(Not, inner) | st.builds(Both, inner, inner) | st.builds(Either, inner, inner)
    ),
    max_leaves=3,
)
COUNTS = st.builds(Members, st.just("key"), LEAVES | SIZES, CONDITIONS)
CASES = st.lists(st.tuples(SIZES | COUNTS, VALUES), min_size=20, max_size=20)

_COMPUTE = """
(text) => parse(text).map(([formula, values]) => {
  try {
    return evaluate(formula, new Map(Object.entries(values))).toString();
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
})
"""


def expected(size: Size, values: dict[str, int]) -> str:
    try:
        return str(evaluate(size, values))
    except FormulaError as error:
        return f"FormulaError: {error}"


def quick(case: tuple[Size, dict[str, int]]) -> bool:
    """A formula that does not count tens of thousands of keys."""
    size, values = case
    if not isinstance(size, Members):
        return True
    try:
        return not 100 < evaluate(size.size, values) <= 65_536
    except FormulaError:
        return True


@pytest.fixture
def opened(open_page: Open) -> Opened:
    return open_page(document_of(*shipped()))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cases=CASES)
def test_a_formula_has_one_value(opened: Opened, cases: list[tuple[Size, dict[str, int]]]) -> None:
    """A number, or the same words about why there is none: 1,200 formulas, exact to 2**63 - 1."""
    cases = list(filter(quick, cases))
    text = json.dumps([[formula(size), values] for size, values in cases])
    assert [expected(*case) for case in cases] == opened.js(_COMPUTE, text)
