"""The three grammars against independent readings of the same text."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codegen.expressions.ast import (
    Atom,
    Binary,
    Both,
    Choice,
    Compare,
    Condition,
    Either,
    Equal,
    Generic,
    IsNone,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Size,
    Text,
    Truth,
    Type,
    Union,
)
from codegen.expressions.conditions import parse_condition
from codegen.expressions.evaluate import FormulaError, evaluate, inexact_divisions
from codegen.expressions.sizes import MAX_SIZE, names_in, parse_size
from codegen.expressions.tokens import ExpressionError
from codegen.expressions.types import ATOMS, arrays_in, holds_bytes, may_be_none, parse_type, show

VALUES = {"B": 1, "H": 352, "w": 7, "zero": 0}


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


numbers = st.integers(0, 2000).map(str) | st.sampled_from(sorted(VALUES))
operators = st.sampled_from([" + ", "-", "*", " // ", " % "])
formulas = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.tuples(inner, operators, inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(st.sampled_from(["min", "max", "ceil_div"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
    ),
    max_leaves=20,
)


@given(formulas)
@example("-7 // 2 % 5")
@example("2 - 3 - 4 * -5")
def test_sizes_agree_with_python(text: str) -> None:
    """A formula has the value that Python gives to the same text, or is refused."""
    try:
        scope = {"ceil_div": ceil_div, "min": min, "max": max, "__builtins__": {}}
        expected: int | None = eval(text, scope, dict(VALUES))
    except ZeroDivisionError:
        expected = None
    if expected is None or not 0 <= expected <= MAX_SIZE:
        with pytest.raises(FormulaError):
            evaluate(parse_size(text), VALUES)
    else:
        try:
            assert expected == evaluate(parse_size(text), VALUES)
        except FormulaError as error:
            # On the way to a small value a factor may have left the range of a size.
            assert "2**63 - 1" in error.message


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("H / 2", 3, 4),
        ("(H ** 2)", 4, 6),
        ("1<<999999999", 2, 4),
        ("H.size", 2, 3),
        ("H[0]", 2, 3),
        ("__import__('os')", 1, 11),
        ("lambda: 1", 1, 7),
        ("010", 1, 4),
        ("0x10", 1, 5),
        ("1_000", 1, 6),
        ("1e3", 1, 4),
        ("9223372036854775808", 1, 20),
        ("9" * 5000, 1, 5001),
        ("max(H)", 1, 4),
        ("max", 1, 4),
        ("ceil_div(H, 2, 3)", 1, 9),
        ("(H", 1, 2),
        ("H)", 2, 3),
        ("H H", 3, 4),
        ("H +", 3, 4),
        ("'H'", 1, 4),
        ("H + é", 5, 6),
        ("H + 'x", 5, 6),
    ],
)
def test_what_is_no_size_is_placed(text: str, start: int, end: int) -> None:
    """A formula outside the grammar is refused at the characters that are at fault."""
    with pytest.raises(ExpressionError) as error:
        parse_size(text)
    assert (start, end) == (error.value.span.column, error.value.span.end_column)


@pytest.mark.parametrize(
    "text",
    ["-" * 400 + "1", "(" * 200 + "1" + ")" * 200, "+".join("1" * 5000), "max(" * 90 + "1"],
)
def test_long_and_deep_formulas_end_quickly(text: str) -> None:
    """No text makes the parser recurse or run: it is refused within a tenth of a second."""
    started = time.process_time()
    for parse in (parse_size, parse_condition):
        with pytest.raises(ExpressionError):
            parse(text)
    assert 0.1 > time.process_time() - started


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("H // zero", "divides by zero at H = 352, zero = 0"),
        ("ceil_div(H, zero)", "divides by zero at H = 352, zero = 0"),
        ("H % zero", "divides by zero at H = 352, zero = 0"),
        ("w - H", "comes out as -345 at w = 7, H = 352"),
        ("4611686018427387904 * 2", "more than 2**63 - 1"),
    ],
)
def test_values_that_are_no_size_name_what_they_used(text: str, said: str) -> None:
    """A formula without a usable value says so with the values that led there."""
    with pytest.raises(FormulaError) as error:
        evaluate(parse_size(text), VALUES)
    assert said in error.value.message


def test_negative_on_the_way_is_allowed() -> None:
    """Only the value itself has to be a size."""
    assert 0 == evaluate(parse_size("max(0, w - H)"), VALUES)


def test_inexact_divisions_are_found_with_their_operands() -> None:
    """A division that drops a remainder is found wherever it stands."""
    found = inexact_divisions(parse_size("max(H // 8, w // 2) * (H // 4)"), VALUES)
    assert [(7, 2)] == [(dividend, divisor) for _, dividend, divisor in found]


def test_names_come_in_order_of_the_text() -> None:
    """Names are given as often as they are written."""
    assert ["H", "w", "H"] == [name.name for name in names_in(parse_size("H * max(w, -H)"))]


names = st.sampled_from(["a", "b", "ready", "not_a", "or_", "is_"]).map(Name)
sizes: st.SearchStrategy[Size] = st.recursive(
    names | st.integers(0, 99).map(Number),
    lambda inner: st.one_of(
        inner.map(Negative),
        st.builds(Binary, st.sampled_from(["+", "-", "*", "//", "%"]), inner, inner),
    ),
    max_leaves=4,
)
operands = sizes | st.sampled_from(["", "x", "it's"]).map(Text)
comparisons = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(
        names.map(Truth),
        st.builds(IsNone, names, st.booleans()),
        st.builds(Equal, names, names),
        st.builds(Compare, comparisons, operands, operands),
    ),
    lambda inner: st.one_of(
        inner.map(Not), st.builds(Both, inner, inner), st.builds(Either, inner, inner)
    ),
    max_leaves=8,
)


def written(part: Condition | Size | Text) -> str:
    """A part with every bracket that it could need."""
    match part:
        case Number(value=value):
            return str(value)
        case Text(value=value):
            return f'"{value}"'
        case Name(name=name) | Truth(name=Name(name=name)):
            return name
        case Negative(operand=operand):
            return f"(-{written(operand)})"
        case Not(operand=inner):
            return f"(not {written(inner)})"
        case IsNone(name=name, negated=negated):
            return f"({name.name} is {'not ' if negated else ''}None)"
        case Equal(left=left, right=right):
            return f"equal({left.name}, {right.name})"
        case Binary(operator=operator) | Compare(operator=operator):
            return f"({written(part.left)} {operator} {written(part.right)})"
        case Both():
            return f"({written(part.left)} and {written(part.right)})"
        case Either():
            return f"({written(part.left)} or {written(part.right)})"
    raise AssertionError(part)


@given(conditions)
def test_conditions_round_trip(condition: Condition) -> None:
    """A condition that is written out parses to itself."""
    assert condition == parse_condition(written(condition))


@pytest.mark.parametrize(
    ("text", "brackets"),
    [
        ("not a is None or b and ready", "(not (a is None)) or (b and ready)"),
        ("not a == b", "not (a == b)"),
        ("a + 1 < b * 2 and ready", "((a + 1) < (b * 2)) and ready"),
        ("ready or a is not None and b == 1", "ready or ((a is not None) and (b == 1))"),
    ],
)
def test_conditions_bind_as_in_python(text: str, brackets: str) -> None:
    """Words and comparisons bind as Python's do."""
    assert parse_condition(brackets) == parse_condition(text)


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a == None", 6),
        ("a is b", 6),
        ("0 < a < 3", 7),
        ("a == True", 6),
        ("a in b", 3),
        ("a not in b", 3),
        ("a = 1", 3),
        ("1", 1),
        ("a + (b and c)", 3),
        ("equal(a, 1)", 10),
        ("equal(a)", 8),
        ("f(a)", 1),
        ("a.b", 2),
        ("a and", 3),
        ("(a + 1) is None", 1),
        ("!a", 1),
        ("True", 1),
    ],
)
def test_what_is_no_condition_is_placed(text: str, column: int) -> None:
    """A condition outside the grammar is refused where it leaves it."""
    with pytest.raises(ExpressionError) as error:
        parse_condition(text)
    assert column == error.value.span.column


atoms = st.sampled_from(ATOMS).filter(lambda name: name != "None").map(lambda name: Atom(name))
choices = st.lists(st.sampled_from(["on", "off", "it's"]), min_size=1, unique=True).map(
    lambda values: Choice(tuple(values))
)


def generics(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(
        st.builds(Generic, st.sampled_from(["list", "set"]), st.tuples(inner)),
        st.builds(Generic, st.just("dict"), st.tuples(inner, inner)),
        st.builds(Generic, st.just("tuple"), st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Generic, st.just("tuple"), st.tuples(inner), st.just(True)),
        st.lists(inner, min_size=2, max_size=3, unique=True)
        .filter(lambda parts: not any(isinstance(part, Union) for part in parts))
        .map(lambda parts: Union(tuple(parts))),
    )


types: st.SearchStrategy[Type] = st.recursive(
    atoms | choices | st.just(Union((Atom("int"), Atom("None")))), generics, max_leaves=6
)


@given(types)
def test_types_round_trip(type_: Type) -> None:
    """A type that is shown parses to itself."""
    assert type_ == parse_type(show(type_))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Optional[int]", "`X | None`"),
        ("torch.Tensor", "`Tensor`"),
        ("np.ndarray", "`ndarray`"),
        ("List[int]", "`list[...]`"),
        ("list", "`list[Tensor]`"),
        ("Tensro", "`Tensor`"),
    ],
)
def test_types_of_other_notations_get_a_hint(text: str, hint: str) -> None:
    """A type that is spelled as elsewhere is answered with how it is spelled here."""
    with pytest.raises(ExpressionError) as error:
        parse_type(text)
    assert error.value.hint is not None
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("text", "arrays"),
    [
        ("int", 0),
        ("Tensor | None", 1),
        ("tuple[Tensor, Tensor]", 2),
        ("tuple[Tensor, int, ndarray] | Tensor", 2),
        ("list[Tensor]", None),
        ("tuple[Tensor, ...]", None),
        ("dict[str, int]", 0),
    ],
)
def test_how_many_tensors_a_type_holds(text: str, arrays: int | None) -> None:
    """A type says how many tensors its values hold, where it does."""
    type_ = parse_type(text)
    assert arrays == arrays_in(type_)
    assert (arrays != 0) == holds_bytes(type_)
    assert ("None" in text) == may_be_none(type_)


@given(st.text(max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    """No text crashes a parser."""
    for parse in (parse_size, parse_condition, parse_type):
        try:
            parse(text)
        except ExpressionError as error:
            assert error.message


def test_an_axis_is_counted_once() -> None:
    """A range of the largest size with a long condition is asked for each number once, quickly."""
    condition = parse_condition("n % 2 == 0 and n % 3 == 1 and n > 5 and n < 60000 and n != 70")
    axis = Members("n", Number(65_536), condition)
    expected = sum(n % 6 == 4 and 5 < n < 60_000 and n != 70 for n in range(65_536))
    start = time.process_time()
    assert [expected] * 50 == [evaluate(axis, {}) for _ in range(50)]
    assert time.process_time() - start < 2
