"""Two sides of a comparison: the base schema, and what edits make of it."""

from collections.abc import Iterable
from pathlib import Path

from codegen.breaking import THRESHOLD, Change, changes_between
from codegen.findings import Report
from codegen.load import load
from codegen.model import Schema
from codegen.rules import check
from codegen.source import decode

BASE = Path(__file__).with_name("base.yaml").read_text(encoding="utf-8")

Edit = tuple[str, str]


def edited(*edits: Edit, text: str = BASE) -> str:
    """The text with each first part, which stands there once, replaced by its second."""
    for old, new in edits:
        assert 1 == text.count(old), f"{old!r} stands there {text.count(old)} times"
        text = text.replace(old, new)
    return text


def clean(text: str, path: str = "schemas/demo.yaml") -> Schema:
    """The schema with this text, in which nothing is wrong."""
    report = Report()
    schema = load(decode(text.encode(), path), report)
    assert schema is not None
    check(schema, report)
    assert [] == [finding.message for finding in report.findings if finding.severity == "error"]
    return schema


def changes(*edits: Edit, threshold: int | None = None) -> tuple[Change, ...]:
    """What these edits of the base schema change."""
    limit = THRESHOLD if threshold is None else type(THRESHOLD)(threshold)
    return changes_between([clean(BASE)], [clean(edited(*edits))], limit)


def codes(changes: Iterable[Change]) -> set[str]:
    return {change.code for change in changes}
