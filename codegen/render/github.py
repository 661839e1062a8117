"""A finding as a workflow command: GitHub Actions shows it at its line of a pull request."""

import os
from pathlib import Path

from ..findings import Finding, Severity
from ..visible import visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def annotation(finding: Finding) -> str:
    """One workflow command, on one line whatever the text says."""
    properties = {"file": _in_repository(finding.path), **_place(finding), "title": finding.code}
    said = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    hint = "" if finding.hint is None else f"\nhint: {finding.hint}"
    return f"::{_COMMANDS[finding.severity]} {said}::{_data(finding.message + hint)}"


def _place(finding: Finding) -> dict[str, int]:
    span = finding.span
    if span is None:
        return {}
    if span.line != span.end_line:
        # GitHub takes columns only within one line.
        return {"line": span.line, "endLine": span.end_line}
    return {
        "line": span.line,
        "col": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _in_repository(path: str) -> str:
    """The path from the root of the checkout, wherever in it the command runs."""
    root = os.environ.get("GITHUB_WORKSPACE")
    whole = Path(path).absolute()
    if root and whole.is_relative_to(root):
        return whole.relative_to(root).as_posix()
    return path


def _data(text: str) -> str:
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return visible(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
