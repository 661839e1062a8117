"""What the tools have to say about a schema: one type for every finding, and its page of text."""

import unicodedata
from enum import StrEnum

from attrs import field, frozen

from .span import Span


class Severity(StrEnum):
    """An error stops every command; a warning fails only under `--strict`."""

    ERROR = "error"
    WARNING = "warning"


@frozen(order=True)
class Finding:
    """One mistake, at one place, in the author's words. Findings sort by where they are."""

    path: str
    span: Span
    code: str
    severity: Severity
    message: str
    hint: str | None = field(default=None, order=False)
    line_text: str = field(default="", order=False)


class Report:
    """Collects the findings of one run over any number of schemas."""

    def __init__(self) -> None:
        self._findings: set[Finding] = set()
        self._lines: dict[str, list[str]] = {}

    def open(self, path: str, text: str) -> None:
        """Remember the text of `path`, so that its findings can quote their line."""
        self._lines[path] = text.split("\n")

    def error(
        self, path: str, code: str, span: Span, message: str, hint: str | None = None
    ) -> None:
        """Add an error."""
        self.add(path, code, Severity.ERROR, span, message, hint)

    def add(
        self,
        path: str,
        code: str,
        severity: Severity,
        span: Span,
        message: str,
        hint: str | None = None,
    ) -> None:
        """Add a finding; the same finding twice is one."""
        lines = self._lines.get(path, [])
        line_text = lines[span.line - 1] if span.line <= len(lines) else ""
        self._findings.add(Finding(path, span, code, severity, message, hint, line_text))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, by file and place."""
        return tuple(sorted(self._findings))

    def has_errors_in(self, path: str) -> bool:
        """Whether any finding of this schema is an error."""
        errors = (f.path for f in self._findings if f.severity is Severity.ERROR)
        return path in errors

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self._findings)


def render(finding: Finding) -> str:
    """The finding as a person reads it: its line with a caret below, the message and the hint."""
    span = finding.span
    end = span.end_column if span.end_line == span.line else len(finding.line_text) + 1
    start = span.column - 1
    before, marked = finding.line_text[:start], finding.line_text[start : end - 1]
    caret = "".join("\t" if c == "\t" else " " * _cells(c) for c in before)
    caret += "^" * max(1, sum(_cells(c) for c in marked))
    number = str(span.line)
    page = [
        f"{finding.severity}[{finding.code}] {finding.path}:{span.line}:{span.column}",
        f"  {number} | {''.join(map(_visible, finding.line_text))}".rstrip(),
        f"  {' ' * len(number)} | {caret}",
        f"  {finding.message}",
    ]
    if finding.hint is not None:
        page.append(f"  hint: {finding.hint}")
    return "\n".join(page)


def _visible(character: str) -> str:
    """The character, or its code point where a terminal would obey it or show nothing."""
    if character != "\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return f"<U+{ord(character):04X}>"
    return character


def _cells(character: str) -> int:
    """How many columns of a terminal the character takes as `_visible` shows it."""
    shown = _visible(character)
    if shown != character:
        return len(shown)
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
