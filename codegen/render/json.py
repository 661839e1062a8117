"""Findings as a program reads them: a list of objects that all have the same keys."""

import json
from collections.abc import Sequence

from attrs import astuple

from ..findings import Finding

_PLACE = ("line", "column", "end_line", "end_column")


def document(findings: Sequence[Finding]) -> str:
    """A JSON list, empty where there is nothing to say; in ASCII, so that any locale can print it."""
    return json.dumps([_row(finding) for finding in findings], indent=2)


def _row(finding: Finding) -> dict[str, str | int | None]:
    """One-based line and columns, the end column exclusive; all null for a file as a whole."""
    place = astuple(finding.span) if finding.span else (None,) * len(_PLACE)
    return {
        "file": finding.path,
        **dict(zip(_PLACE, place, strict=True)),
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
    }
