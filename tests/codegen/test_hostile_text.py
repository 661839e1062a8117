"""Text from a schema is data: whatever it holds, it stays one literal and one table row."""

import ast
import inspect
import re

import attrs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codegen.emit.decisions import decisions
from codegen.emit.module import module
from codegen.findings import Report
from codegen.load import load
from codegen.model import Field, Schema
from codegen.source import decode

# Five hundred schemas of twenty texts each: 10,000 texts.
TEXTS = 20
SCHEMAS = 500

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cf", "Cc", "Zl", "Zp"]),
        st.sampled_from("\"'\\\r\n\t\x00\x85\u2028{}%#<>&|`$*_[]()-~u日"),
    ),
    min_size=1,
    max_size=60,
) | st.sampled_from(
    [
        '"""\nimport os\nos.abort()\n"""',
        "{{ 7*7 }}{% raw %}",
        "# noqa: F401 # type: ignore",
        "ends in a backslash\\",
        '\\"""',
        "%YAML 1.1\n---\n- a",
        "| a | b |\n| --- | --- |",
        "<script>alert(1)</script>",
        "</td></tr><!-- -->",
        "\N{RIGHT-TO-LEFT OVERRIDE}reversed",
        "a\r\nb\u2028c\x85d",
        "\ud800 alone",
    ]
)

PLAIN = """\
schema: 1
model: Plain
class: PlainSession
scope: session
doc: placeholder
params: {size: {type: int, default: 2, doc: placeholder}}
resets: {session: placeholder}
fields:
  value:
    placement: object
    kind: LatentBuffer
    type: Tensor
    shape: [2]
    dtype: uint8
    device: host
    grows: {items: 1, every: 1}
    bounded_by: placeholder
    manager_may: [accumulate]
    reason: placeholder
    revisit: placeholder
    measured: [{bytes: 3 KiB, where: placeholder}]
elsewhere: {other: {owner: placeholder, reason: placeholder}}
horizon: 3
"""


@pytest.fixture(scope="module")
def plain() -> Schema:
    schema = load(decode(PLAIN.encode(), "schemas/plain.yaml"), Report())
    assert schema is not None
    return schema


def with_texts(plain: Schema, texts: list[str]) -> Schema:
    """The schema with each free text replaced, the fields repeated until all texts are in."""
    (value,), (param,), (reset,), (other,) = (
        plain.fields,
        plain.params,
        plain.resets,
        plain.elsewhere,
    )
    return attrs.evolve(
        plain,
        doc=texts[0],
        params=(attrs.evolve(param, doc=texts[1]),),
        resets=(attrs.evolve(reset, doc=texts[2]),),
        elsewhere=(attrs.evolve(other, owner=texts[3], reason=texts[4]),),
        fields=tuple(_field(value, index, texts[5 + 4 * index :]) for index in range(3)),
    )


def _field(value: Field, index: int, texts: list[str]) -> Field:
    (measured,) = value.measured
    return attrs.evolve(
        value,
        name=f"value_{index}",
        reason=texts[0],
        revisit=texts[1],
        bounded_by=texts[2],
        measured=(attrs.evolve(measured, where=texts[3]),),
    )


class Strings(ast.NodeTransformer):
    """Takes out every text: what is left of two modules is equal when only texts differed."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str):
            self.texts.append(node.value)
            return ast.Constant("")
        return node


def shape_and_texts(schema: Schema) -> tuple[str, list[str]]:
    strings = Strings()
    tree = strings.visit(ast.parse(module(schema)))
    return ast.dump(tree), strings.texts


@settings(
    max_examples=SCHEMAS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(HOSTILE, min_size=TEXTS, max_size=TEXTS))
@example(texts=['"""'] * TEXTS)
@example(texts=["a\n    b\n  c"] * TEXTS)
def test_text_stays_text(plain: Schema, texts: list[str]) -> None:
    """The module is the same but for its literals, and each text comes back unchanged."""
    expected, _ = shape_and_texts(with_texts(plain, ["placeholder"] * TEXTS))
    shape, found = shape_and_texts(with_texts(plain, texts))
    assert expected == shape
    for text in (texts[0], texts[1], texts[2], texts[5], texts[9], texts[13]):
        assert text in found or text in map(inspect.cleandoc, found)


@settings(
    max_examples=SCHEMAS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(HOSTILE, min_size=TEXTS, max_size=TEXTS))
@example(texts=["a | b\n| c |\r\n<br><td>"] * TEXTS)
def test_the_table_keeps_one_row_per_field(plain: Schema, texts: list[str]) -> None:
    """No text opens a row, a column or a tag of its own."""
    schema = with_texts(plain, texts)
    page = decisions((schema,), ["schemas/plain.yaml"])
    table = page[page.index("\n## ") :]
    rows = re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", table)
    shown = [line for line in rows if line.startswith("| `value_")]
    assert len(schema.fields) == len(shown)
    for line in shown:
        assert 9 == len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
        assert {"<br>"} >= set(re.findall(r"<[^>]*>?", line))
