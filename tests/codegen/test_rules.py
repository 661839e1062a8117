"""What the rules refuse, seen from outside: by running what they let through."""

import ast
import builtins
import itertools
import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_state.base import StateObject
from session_state.manager import SessionStateManager
from session_state.objects import FrameRing, LatentBuffer
from session_state.view import SessionView

from codegen.findings import Report
from codegen.load import load
from codegen.names import EMITTED, KEYWORDS, SURFACE, is_identifier, spelling
from codegen.rules import check_all
from codegen.source import decode

from .schemas import REPOSITORY, examine, places, schema_text

BAD_NAMES = {"lambda", "max", "2d", "a-b", "None", "é"}


def codes(text: str) -> list[str]:
    return [code for code, _, _ in places(text)]


def counter(name: str) -> str:
    reason = f"reason: 'The model alone counts {name} up.'"
    return f"{name}: {{placement: attr, type: int, default: 0, {reason}}}"


@pytest.mark.parametrize("name", [*keyword.kwlist, *sorted(SURFACE | EMITTED)])
def test_names_that_are_taken(name: str) -> None:
    """No field has the name of a keyword, of the session's interface, or of generated code."""
    text = schema_text(field=counter(f'"{name}"'))
    assert ["reserved-name"] == codes(text)


@pytest.mark.parametrize("name", ["_x", "__kv", "__init__", "_", "reset_session", "append_frames"])
def test_names_that_the_class_makes_itself(name: str) -> None:
    """Private names and the class's own methods are no fields."""
    frames = (
        "frames: {placement: object, kind: LatentBuffer, type: Tensor, shape: [H], "
        "ring: {size: 2}, manager_may: [accumulate], reason: The manager keeps the bound.}"
    )
    assert ["reserved-name"] == codes(schema_text(field=f"{frames}\n  {counter(name)}"))


@pytest.mark.parametrize("cls", [SessionView, SessionStateManager, LatentBuffer, FrameRing])
def test_names_of_the_runtime_are_reserved(cls: type) -> None:
    """What the runtime's own classes answer to, no field of a generated class hides."""
    inherited = set(dir(StateObject)) if cls is not SessionView else set()
    public = {name for name in dir(cls) if not name.startswith("_")} - inherited
    assert set() == public - SURFACE - EMITTED


def test_names_of_the_sample_are_reserved() -> None:
    """Every name that the generated module uses and did not get from its schema is reserved."""
    tree = ast.parse((REPOSITORY / "generated" / "dreamzero.py").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    builtin = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and hasattr(builtins, node.id)
    }
    assert set() == (imported | builtin) - EMITTED - KEYWORDS


@given(st.text(max_size=12))
def test_suggested_spellings_are_names(name: str) -> None:
    """What is suggested for a bad name is a name."""
    close = spelling(name)
    assert close is None or is_identifier(close)


@given(st.text(max_size=12))
def test_identifiers_are_pythons(name: str) -> None:
    """A name is one if Python says so and it is spelled in ASCII."""
    assert (name.isascii() and name.isidentifier()) == is_identifier(name)


def test_two_models_of_one_module() -> None:
    """Models that would be written to one file are found at the second."""
    report = Report()
    texts = [schema_text(), schema_text().replace("model: Demo", "model: demo")]
    schemas = [load(decode(t.encode(), f"{i}.yaml"), report) for i, t in enumerate(texts)]
    check_all([schema for schema in schemas if schema is not None], report)
    (finding,) = report.findings
    assert ("duplicate-name", "1.yaml", 2, 8) == (
        finding.code,
        finding.path,
        finding.span.line,
        finding.span.column,
    )


@pytest.mark.parametrize("model", ["__init__", "__main__", "3D", '""', "class", "--init--"])
def test_models_that_no_module_is_named_after(model: str) -> None:
    """A model that hits a package file or no identifier is refused."""
    text = schema_text().replace("model: Demo", f"model: {model}")
    assert codes(text) in (["bad-name"], ["not-a-string"])


def test_a_bad_value_is_not_reported_through_what_follows() -> None:
    """One mistake is one finding, whatever depends on it."""
    broken = [
        schema_text(dims="w: H / 8, v: w * 2").replace("[B, H]", "[B, w, v]"),
        schema_text(field=counter("a").replace("attr", "atr")),
        schema_text(field=counter("a").replace("type: int", "type: itn")),
        schema_text(
            field="a: {placement: object, kind: FramRing, type: Tensor, shape: [H, 1], "
            "ring: {size: 2, along: 1}, manager_may: [accumulate], reason: Kept by the manager.}"
        ),
        schema_text(top="reset_when: {arguments: {n: itn}, rules: [{reset: session, if: n == 1}]}"),
    ]
    assert [["bad-formula"], ["bad-choice"], ["bad-type"], ["bad-choice"], ["bad-type"]] == [
        codes(text) for text in broken
    ]


TESTS = ["a is None", "a is not None", "b is None", "b is not None", "a > 0", "b == 1", "n > 1"]
conditions = st.recursive(
    st.sampled_from(TESTS),
    lambda inner: st.one_of(
        inner.map("(not {})".format),
        st.tuples(inner, inner).map("({0[0]} and {0[1]})".format),
        st.tuples(inner, inner).map("({0[0]} or {0[1]})".format),
    ),
    max_leaves=5,
)


@given(st.lists(conditions, min_size=1, max_size=3))
def test_what_maybe_none_lets_through_never_meets_none(rules: list[str]) -> None:
    """Rules without a finding run for every combination of values and None."""
    lines = "".join(f"\n    - {{reset: session, if: {rule}}}" for rule in rules)
    top = f"reset_when:\n  arguments: {{a: int | None, b: int | None, n: int}}\n  rules:{lines}"
    found = codes(schema_text(top=top))
    # A test that stands beside its opposite may come up, too.
    assert set(found) <= {"maybe-none", "bad-condition"}
    if found:
        return
    for a, b, n in itertools.product([None, 0, 1], [None, 0, 1], [0, 2]):
        values = {"a": a, "b": b, "n": n}
        # Python's `None == 1` is no error, and the rule is right to ask for a test all the same.
        any(eval(rule, {}, values) for rule in rules)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (["t is None", "equal(t, t)"], []),
        (["t is None and n == 1", "equal(t, t)"], ["maybe-none", "maybe-none"]),
        (["t is None or n == 1", "equal(t, t)"], []),
        (["not (t is not None and equal(t, t))", "equal(t, t)"], []),
        (["equal(t, t) or t is None"], ["maybe-none", "maybe-none"]),
    ],
)
def test_an_earlier_rule_is_a_test(rules: list[str], found: list[str]) -> None:
    """A rule that fires on None leaves the later ones a value."""
    lines = "".join(f"\n    - {{reset: session, if: '{rule}'}}" for rule in rules)
    top = f"reset_when:\n  arguments: {{t: Tensor | None, n: int}}\n  rules:{lines}"
    assert found == codes(schema_text(top=top))


def test_a_large_schema_is_checked_quickly() -> None:
    """Two thousand fields load and check without a quadratic wait."""
    fields = "\n  ".join(counter(f"field_{index}") for index in range(2000))
    _, findings = examine(schema_text(field=fields))
    assert () == findings


@given(st.sampled_from(["B", "H", "chunk"]), st.sampled_from(sorted(BAD_NAMES)))
def test_a_bad_name_is_reported_once(before: str, name: str) -> None:
    """A dim that no formula can spell is one finding, however often it is used."""
    text = schema_text(dims=f'"{name}": 3').replace(
        "[B, H]", f'[B, "{name} * 2", "{before} + {name}"]'
    )
    assert 1 == len([code for code in codes(text) if code != "unused-dim"])
