"""The comment for a pull request: what a person sees, and that text stays text."""

import re
from decimal import Decimal

import attrs
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from codegen.breaking import THRESHOLD, changes_of, compared
from codegen.breaking.comment import LIMIT, comment
from codegen.model import Schema

from .edits import CASES
from .sides import BASE, Edit, clean, edited

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def comment_of(old: Schema, new: Schema) -> str:
    comparison = compared([old], [new], THRESHOLD)
    return comment(comparison, changes_of(comparison), "What changed")


def comment_after(*edits: Edit) -> str:
    return comment_of(clean(BASE), clean(edited(*edits)))


def rows(text: str) -> list[list[str]]:
    """The cells of every row of every table, as text."""
    found: list[list[str]] = []
    for token in _MARKDOWN.parse(text):
        if token.type == "tr_open":
            found.append([])
        elif token.type == "inline" and token.level == 4:
            found[-1].append(token.content)
    return found


def test_the_rows_before_and_after() -> None:
    """A row that changed stands there twice, with the bytes of each side, what is new in bold."""
    text = comment_after(("ring: {size: window}", "ring: {size: chunk}"))
    assert (
        "| before | frames | object: LatentBuffer, ring of window | 384 B | accelerator "
        "| accumulate | – | – | Only the newest are read. |\n"
        "| after | frames | **object: LatentBuffer, ring of chunk** | **512 B** | accelerator "
        "| accumulate | – | – | Only the newest are read. |\n"
    ) in text
    assert "- **ring-changed**: The ring of `frames` was `size: window`, and is" in text
    # picture, crop, cache, frames, code, text_kv, tables, last_pose twice, and newest of one byte
    # each; then one more frame of 64 elements.
    before = 2 * (64 + 64 + 2 * 8 + 3 * 64 + 8 + 2 * 6 * 2 * 8 + 2 * 8 + 2 * 4) + 64
    assert (1184, 1312) == (before, before + 2 * 64)
    assert ["accelerator", "1.16 KiB (1,184)", "1.28 KiB (1,312)"] == rows(text)[-1]


def test_fields_that_came_and_went() -> None:
    """They have one row."""
    text = comment_after(*CASES["field-removed"].edits)
    assert "| removed | cache | attr | 32 B | accelerator | carry | – | – | Written slot" in text
    text = comment_after(*CASES["field-added"].edits)
    assert "| added | total | attr | – | – | carry | – | – | A sum of the model's own. |" in text


def test_models_that_came_and_went() -> None:
    """They are told in one line each."""
    old, new = clean(BASE), clean(edited(*CASES["model-renamed"].edits), "schemas/other.yaml")
    comparison = compared([old], [attrs.evolve(new, class_name="Other")], Decimal(10))
    text = comment(comparison, changes_of(comparison), "Two")
    assert "- **model-removed**: The model `Demo` is gone" in text
    assert "- model-added: `Other` is a new model." in text


_TEXT = st.text(
    st.sampled_from("ab|`*_<>&@#[]()!\\\n\r\t~$:/-=+.\u2028\x1b\"' "), min_size=1, max_size=30
)


@settings(max_examples=60, deadline=None)
@given(_TEXT, _TEXT, _TEXT)
@example("a | b", "<script>alert(1)</script>", "@everyone closes #1")
@example("```", "- [x] `a", "<!-- -->\n\n# A heading\n")
@example("`a` | `b", "![](https://example.org/a.png)", "| --- |")
def test_text_stays_in_its_cell(reason: str, owner: str, model: str) -> None:
    """No text of a schema adds a row, a cell, HTML or a mention."""
    old = clean(BASE)
    first = attrs.evolve(
        old.fields[0], reason=reason, bounded_by=owner, default=owner, revisit=model
    )
    new = attrs.evolve(
        old,
        fields=(first, *old.fields[1:]),
        model=f"D{model}",
        class_name=model,
        path=f"schemas/{owner}",
        sha256="other",
    )
    text = comment_of(attrs.evolve(old, class_name=model), new)
    tables = rows(text)
    assert all(9 == len(row) for row in tables if row and row[0] in ("before", "after"))
    assert 2 == sum(row[0] in ("before", "after") for row in tables)
    for token in _MARKDOWN.parse(text):
        assert token.type not in ("html_block", "fence", "code_block", "hr")
        for child in token.children or ():
            assert child.type not in ("image", "link_open")
            assert child.type != "html_inline" or child.content in ("<br>", "<!-- -->")
            assert child.type != "text" or not re.search(r"@\w", child.content)
    headings = [token for token in _MARKDOWN.parse(text) if token.type == "heading_open"]
    assert 1 == len(headings)


def test_a_comment_fits_in_one() -> None:
    """What GitHub would refuse is left out, the rows first, and that is said."""
    old = clean(BASE)
    long = tuple(
        attrs.evolve(old.fields[0], name=f"count_{number}", reason="A reason. " * 20)
        for number in range(400)
    )
    new = attrs.evolve(old, fields=(*old.fields, *long), sha256="other")
    text = comment_of(old, new)
    assert len(text) <= LIMIT
    assert "do not fit in a comment" in text
    assert "count_399" in text
    more = tuple(attrs.evolve(one, name=f"{one.name}_{'x' * 400}") for one in long)
    text = comment_of(old, attrs.evolve(new, fields=(*old.fields, *more)))
    assert len(text) <= LIMIT
    assert text.endswith("\n")
