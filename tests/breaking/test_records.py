"""Records, fresh attributes of loans and staged values are compared as what they mean."""

import pytest

from .sides import BASE, Edit, changes, codes

LABEL = ("label: {type: str | None}", "label: {type: int | None}")
STEP = """\
    placement: object
    kind: Value
    type: float
    default: 1.5
    manager_may: [stage]
    reason: Advances with the chunk that commits.
"""
STEP_CARRIED = """\
    placement: attr
    type: float
    default: 2.5
    reason: Only the model advances it.
"""


@pytest.mark.parametrize(
    ("edit", "code", "message"),
    [
        (LABEL, "type-changed", "The type of `Pose.label` was `str | None`, and is `int | None`."),
        (
            ("shape: [B, 4]}", "shape: [B, 2]}"),
            "shape-changed",
            "The shape of `Pose.matrix` was `[B, 4]`, and is `[B, 2]`.",
        ),
        (
            ("shape: [B, 4]}", "shape: [B, 4], dtype: float16}"),
            "dtype-changed",
            "The dtype of `Pose.matrix` was `bfloat16`, and is `float16`.",
        ),
        (
            ("index: [0]", "index: [1]"),
            "handoff-changed",
            "`lend_encoder` lends a fresh `[1]` as `index`, and lent a fresh `[0]`.",
        ),
        (
            (", fresh: {index: [0]}", ""),
            "handoff-changed",
            "`lend_encoder` lends nothing as `index`, and lent a fresh `[0]`.",
        ),
        (
            ("fresh: {index: [0]}", "fresh: {index: [0], offset: null}"),
            "handoff-changed",
            "`lend_encoder` lends a fresh `None` as `offset`, and lent nothing.",
        ),
    ],
)
def test_a_part_of_a_record_or_a_loan_changed(edit: Edit, code: str, message: str) -> None:
    """It is told once, by its own name, and not again of each field that holds the record."""
    found = changes(edit)
    assert [(code, message, None)] == [(one.code, one.message, one.field) for one in found]


def test_bytes_of_a_record_are_told_of_each_field_that_holds_it() -> None:
    """A record knows no count; a staged field holds it twice."""
    found = changes(("shape: [B, 4]}", "shape: [B, 400]}"))
    assert {"shape-changed", "bytes-grown"} == codes(found)
    (grown,) = (one for one in found if one.code == "bytes-grown")
    assert "last_pose" == grown.field
    assert (
        "`last_pose` declares 1.56 KiB (1,600), and declared 16 B before: 9,900 % more."
        == grown.message
    )


def test_a_default_is_compared_across_a_flip_of_what_is_assigned() -> None:
    """An attr and a Value both read as their default, so that another one is noticed."""
    found = changes((STEP, STEP_CARRIED))
    assert {"placement-flipped", "reason-edited", "default-changed"} == codes(found)


def test_a_record_of_another_name_is_another_class() -> None:
    """Its fields have another type then, and nothing of its members is told."""
    found = changes(("  Frame: {", "  Picture: {"), ("type: Frame | None", "type: Picture | None"))
    assert {"record-removed", "record-added", "type-changed"} == codes(found)


def test_a_fresh_attribute_is_shown_where_it_is_written() -> None:
    """Not at the loan, which may have many."""
    (found,) = changes(("index: [0]", "index: [1]"))
    (line,) = (line for line in BASE.splitlines() if "index: [0]" in line)
    assert found.span is not None
    assert line.index("index") + 1 == found.span.column
