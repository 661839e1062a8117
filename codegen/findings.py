"""What the tools have to say about schemas and generated files: one type for every finding."""

from enum import StrEnum

from attrs import field, frozen

from .span import Span


class Severity(StrEnum):
    """An error stops every command; a warning fails only under `--strict`, a note never."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


def _place(span: Span | None) -> Span:
    return span or Span(0, 0, 0, 0)


@frozen(order=True)
class Finding:
    """One mistake, at one place, in the author's words. Findings sort by where they are.

    Without a span it is about the file as a whole, and comes before those within.
    """

    path: str
    span: Span | None = field(order=_place)
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

    def emptied(self) -> "Report":
        """A report without findings that quotes the lines of the same files."""
        report = Report()
        report._lines = self._lines
        return report

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
        span: Span | None,
        message: str,
        hint: str | None = None,
    ) -> None:
        """Add a finding; the same finding twice is one."""
        lines = self._lines.get(path, [])
        line_text = lines[span.line - 1] if span and span.line <= len(lines) else ""
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

    def fails(self, strict: bool) -> bool:
        """Whether any finding is an error or, where the command is strict, a warning."""
        severities = {finding.severity for finding in self._findings}
        return Severity.ERROR in severities or (strict and Severity.WARNING in severities)
