"""What the tools have to say about a schema: one type for every finding, and its page of text."""

import unicodedata
from enum import StrEnum

from attrs import field, frozen

from .span import Span

# Characters of a line that a finding shows; of a longer one, those around the caret.
_WIDTH = 120


class Severity(StrEnum):
    """An error stops every command; a warning fails only under `--strict`, a note never."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


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

    def warnings_in(self, path: str) -> int:
        """How many warnings there are about one file."""
        return sum(
            finding.path == path and finding.severity is Severity.WARNING
            for finding in self._findings
        )

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self._findings)


def render(finding: Finding) -> str:
    """The finding as a person reads it: its line with a caret below, the message and the hint."""
    span = finding.span
    line, start, end = _window(finding.line_text, span)
    before, marked = line[: start - 1], line[start - 1 : end - 1]
    caret = "".join("\t" if c == "\t" else " " * _cells(c) for c in before)
    caret += "^" * max(1, sum(_cells(c) for c in marked))
    number = str(span.line)
    page = [
        f"{finding.severity}[{finding.code}] {finding.path}:{span.line}:{span.column}",
        f"  {number} | {''.join(map(_visible, line))}".rstrip(),
        f"  {' ' * len(number)} | {caret}",
        f"  {finding.message}",
    ]
    if finding.hint is not None:
        page.append(f"  hint: {finding.hint}")
    return "\n".join(page)


def _window(line: str, span: Span) -> tuple[str, int, int]:
    """The part of a line that is worth showing, and the columns of the span in it."""
    end = span.end_column if span.end_line == span.line else len(line) + 1
    if len(line) <= _WIDTH:
        return line, span.column, end
    first = max(0, min(span.column - 1 - _WIDTH // 3, len(line) - _WIDTH))
    last = first + _WIDTH
    left, right = "..." if first else "", "..." if last < len(line) else ""
    shift = len(left) - first
    return left + line[first:last] + right, span.column + shift, min(end, last + 1) + shift


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
