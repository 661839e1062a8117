"""Axes, families and loans: what they mean, and what is declared for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.declared import declared, keys, shipped_values
from codegen.expressions.ast import Members, Name, Number
from codegen.expressions.conditions import parse_condition
from codegen.expressions.evaluate import MAX_KEYS, FormulaError, evaluate
from codegen.expressions.sizes import names_in
from codegen.findings import Report
from codegen.load import load
from codegen.model import Axis, Schema
from codegen.source import decode

from .schemas import CASES, COSMOS3, examine


def cosmos3() -> Schema:
    schema, findings = examine(COSMOS3.read_bytes())
    assert () == findings
    assert schema is not None
    return schema


def test_cosmos3_means_what_it_says() -> None:
    """The parts that Cosmos3 brings to the language arrive in the model."""
    schema = cosmos3()
    branch, layer = schema.axes
    und_kv, freqs_gen = schema.fields
    (handoff,) = schema.handoffs
    assert "generation" == schema.scope
    assert ("names", "branches", ()) == (branch.kind, branch.param, branch.names)
    assert ("captured", Name("num_layers")) == (layer.kind, layer.size)
    assert ("EncodeOnce", ("branch", "layer")) == (und_kv.kind, und_kv.per)
    assert ("release", "rebuild") == und_kv.manager_may
    assert und_kv.recompute is not None
    assert ("text_tokens",) == und_kv.recompute.sources
    assert ("once", "und_kv") == (freqs_gen.written, freqs_gen.complete_with)
    assert ("transformer", "branch") == (handoff.name, handoff.by)
    assert [("cached_kv", "und_kv"), ("cached_freqs_gen", "freqs_gen")] == [
        (lent.attribute, lent.field) for lent in handoff.lend
    ]


@pytest.mark.parametrize(
    ("name", "nbytes"),
    [
        # 2 branches, 36 layers, K and V of 512 tokens, 8 heads of 128, in bfloat16.
        ("und_kv", 2 * 36 * 2 * 512 * 8 * 128 * 2),
        # 2 branches, cosine and sine of 32,760 tokens by 128.
        ("freqs_gen", 2 * 2 * 32_760 * 128 * 2),
    ],
)
def test_families_declare_each_of_their_keys(name: str, nbytes: int) -> None:
    """What a family declares is what one key holds, times the keys of each axis."""
    schema = cosmos3()
    (field,) = [one for one in schema.fields if one.name == name]
    assert nbytes == declared(schema, field, shipped_values(schema))


def test_a_third_branch_takes_half_as_much_again() -> None:
    """The number of a param's names is a value like any other."""
    schema = cosmos3()
    two = shipped_values(schema)
    held = [
        sum(declared(schema, field, {**two, "branches": count}) for field in schema.fields)
        for count in (1, 2, 3)
    ]
    assert held == [held[0], 2 * held[0], 3 * held[0]]


def sana_axes() -> dict[str, Axis]:
    """The axes of a schema whose other parts are not built yet."""
    path = CASES / "not-supported-yet" / "sana_wm" / "schema.yaml"
    schema = load(decode(path.read_bytes(), "schema.yaml"), Report())
    assert schema is not None
    return {axis.name: axis for axis in schema.axes}


@pytest.mark.parametrize(
    ("every", "softmax"), [(4, [3, 7, 11, 15, 19]), (0, []), (1, list(range(20))), (20, [19])]
)
def test_a_condition_picks_numbers_of_a_range(every: int, softmax: list[int]) -> None:
    """SANA-WM's blocks are of one of two kinds, whatever every how many."""
    axes = sana_axes()
    values = {"num_blocks": 20, "softmax_every_n": every}
    assert len(softmax) == evaluate(keys(axes["softmax_layer"]), values)
    assert 20 - len(softmax) == evaluate(keys(axes["gdn_layer"]), values)
    assert 20 == evaluate(keys(axes["layer"]), values)
    assert 2 == evaluate(keys(axes["stream"]), values)


numbers = st.sampled_from(["i", "n", "0", "1", "2", "3"])
comparisons = st.tuples(
    st.tuples(numbers, st.sampled_from([" + ", " - ", " * "]), numbers).map("".join),
    st.sampled_from([" == ", " != ", " < ", " <= ", " > ", " >= "]),
    numbers,
).map("".join)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.tuples(inner, inner).map("({0[0]}) and ({0[1]})".format),
        st.tuples(inner, inner).map("({0[0]}) or ({0[1]})".format),
    ),
    max_leaves=5,
)


@given(conditions, st.integers(0, 9), st.integers(0, 5))
def test_members_are_those_that_python_counts(text: str, size: int, n: int) -> None:
    """A condition lets through what the same text does in Python, and needs the same names."""
    members = Members("i", Number(size), parse_condition(text))
    expected = sum(1 for i in range(size) if eval(text, {}, {"i": i, "n": n}))
    assert expected == evaluate(members, {"n": n})
    assert {name.name for name in names_in(members)} <= {"n"}


def test_a_range_is_bounded() -> None:
    """No schema makes the tools count for ever."""
    condition = parse_condition("i >= 0")
    assert MAX_KEYS == evaluate(Members("i", Number(MAX_KEYS), condition), {})
    with pytest.raises(FormulaError, match="at most 65536 keys"):
        evaluate(Members("i", Number(2**62), condition), {})
