"""What holds of every comparison, whatever changed."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.breaking import THRESHOLD, changes_between
from codegen.breaking.meaning import Meaning, meaning
from codegen.declared import declarations
from codegen.expressions.ast import Number
from codegen.model import Field, Schema

from ..codegen.schemas import SHIPPED, examine
from .edits import CASES
from .sides import BASE, changes, clean, codes, edited

_EDITS = [edit for case in CASES.values() for edit in case.edits]


# Each example loads schemas, on a machine that others use, too.
_FEW = settings(max_examples=40, deadline=None)


def parsed(text: str) -> Schema:
    schema, _ = examine(text)
    assert schema is not None
    return schema


@st.composite
def texts(draw: st.DrawFn) -> str:
    """The base schema after some of the edits, where they apply; it need not be a right one."""
    text = BASE
    for old, new in draw(st.lists(st.sampled_from(_EDITS), max_size=5)):
        if text.count(old) == 1:
            text = text.replace(old, new)
    return text


@_FEW
@given(texts(), st.integers(0, 3))
def test_nothing_differs_from_itself(text: str, lines: int) -> None:
    """A schema against itself, with other comments and at other lines, has no change."""
    again = "\n" * lines + text.replace("fields:\n", "fields:   # Moved.\n\n")
    assert () == changes_between([parsed(text)], [parsed(again)])


@_FEW
@given(texts(), texts())
def test_what_changed_one_way_changed_the_other_way(before: str, after: str) -> None:
    """Going back is a change where going there was one, and neither is where nothing differs."""
    old, new = parsed(before), parsed(after)
    there = changes_between([old], [new], Decimal(0))
    back = changes_between([new], [old], Decimal(0))
    assert bool(there) == bool(back)
    assert bool(there) == (_meaning(old) != _meaning(new))


def _meaning(schema: Schema) -> Meaning:
    return meaning(schema, frozenset({"path", "sha256", "complete", "broken"}))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_schema_does_not_differ_from_itself(path: Path) -> None:
    """With another comment, so that the text alone does not settle it."""
    text = path.read_text(encoding="utf-8")
    assert () == changes_between([parsed(text)], [parsed(f"# Again.\n{text}")])


def test_renamed_fields_are_followed_everywhere() -> None:
    """What mentions a field by its new name has not changed: rules, groups, loans, sources."""
    text = BASE
    for old in ("count", "picture", "cache", "tables", "text_kv"):
        text = text.replace(f"  {old}:\n", f"  {old}_:\n    renamed_from: {old}\n")
    text = edited(
        ("if: count > 3", "if: count_ > 3"),
        ("[flag, picture]", "[flag, picture_]"),
        ("derived_from: [picture]", "derived_from: [picture_]"),
        ("invalidated_by: [picture]", "invalidated_by: [picture_]"),
        ("feat_map: cache", "feat_map: cache_"),
        ("{kv: text_kv, tables: tables}", "{kv: text_kv_, tables: tables_}"),
        ("complete_with: tables", "complete_with: tables_"),
        ("complete_with: text_kv", "complete_with: text_kv_"),
        text=text,
    )
    found = changes_between([clean(BASE)], [clean(text)])
    assert {"field-renamed"} == codes(found)
    assert 5 == len(found)


def test_a_rename_is_guessed_where_one_field_is_like_one() -> None:
    """Two that are alike are not told apart, and then one is gone and the other is new."""
    found = changes(("  flag:\n", "  mark:\n"), ("[flag, picture]", "[mark, picture]"))
    assert ["`flag` is gone, and `mark` is just like it."] == [one.message for one in found]
    twin = "  {}:\n    placement: attr\n    type: bool\n    default: false\n    survives: [roll]\n"
    both = (
        f"{twin.format('one')}    reason: The first.\n{twin.format('two')}    reason: The other.\n"
    )
    flag = twin.format("flag") + "    reason: Only the model knows.\n"
    found = changes((flag, both), ("[flag, picture]", "[one, picture]"))
    assert {"field-removed", "field-added", "group-changed"} == codes(found)


def test_bytes_may_grow_by_the_threshold() -> None:
    """Growth up to the threshold is none; a smaller one makes it a change."""
    # 2 * 8 elements, then 17: 6.25 % more.
    edit = ("count: 2}]", "count: 2}, {shape: [B]}]")
    assert Decimal(10) == THRESHOLD
    assert "bytes-grown" not in codes(changes(edit))
    assert "bytes-grown" not in codes(changes(edit, threshold=7))
    assert "bytes-grown" in codes(changes(edit, threshold=6))


def test_a_flip_is_not_told_again_by_what_goes_with_it() -> None:
    """Kind, permissions, default and the like belong to a placement."""
    assert {"placement-flipped", "reason-edited"} == codes(
        changes(*CASES["placement-flipped"].edits)
    )


def test_a_derived_dim_changes_the_shapes_that_use_it() -> None:
    """The text of a shape is the same, and the shape is another; a given dim is a config."""
    found = changes(("h: H // 8", "h: H // 16"))
    assert {"shape-changed", "config-changed"} == codes(found)
    assert "The shape of `tables` was `[B, H // 8]`, and is `[B, H // 16]`." in {
        one.message for one in found
    }
    assert {"config-changed", "bytes-grown"} == codes(changes(("H: 64", "H: 640")))


def test_every_attribute_of_a_field_is_compared() -> None:
    """Whatever of a field becomes another value, some kind of change says so."""
    schema = clean(BASE)
    for old, new in _with_another_value(schema):
        evolved = tuple(new if one is old else one for one in schema.fields)
        other = attrs.evolve(schema, fields=evolved, sha256="other")
        assert changes_between([schema], [other], Decimal(0)), (old, new)


def _with_another_value(schema: Schema) -> Iterator[tuple[Field, Field]]:
    """Each field with each value that an attribute has in another field, where that means more."""
    for name, attribute in attrs.fields_dict(Field).items():
        if not attribute.eq or name in ("name", "at", "renamed_from"):
            continue
        for field in schema.fields:
            if name in ("dtype", "device") and not declarations(schema, field):
                continue  # What has no bytes is in no memory.
            for value in {meaning(getattr(one, name)): one for one in schema.fields}.values():
                new = attrs.evolve(field, **{name: getattr(value, name)})
                if _said(new) != _said(field):
                    yield field, new


def _said(field: Field) -> Meaning:
    """What a field means; `derived_from` and `invalidated_by` mean the same."""
    sources = sorted({*field.invalidated_by, *field.derived_from})
    return meaning(attrs.evolve(field, invalidated_by=tuple(sources), derived_from=()))


def test_true_is_not_one() -> None:
    """Defaults that Python takes for equal are not."""
    schema = clean(BASE)
    for one, other in ((True, 1), (0, False), (1, 1.0)):
        assert meaning(one) != meaning(other)
    assert meaning(Number(1)) == meaning(schema.dims[0].size)
