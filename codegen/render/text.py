"""A finding as a person reads it: its line with a caret below, the message and the hint."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import click

from ..findings import Finding, Severity
from ..span import Span
from ..visible import cells, visible

# Findings that fill a screen; who mends them sees the others next time.
_SHOWN = 20

# Characters of a line that a finding shows; of a longer one, those around the caret.
_WIDTH = 120

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "blue"}

# What `click.style` is asked for: a foreground colour, and whether it is bold.
Paint = Callable[..., str]


def page(findings: Sequence[Finding], colour: bool = False) -> str:
    """The first findings with an empty line between them, and how many more there are."""
    parts = [render(finding, colour) for finding in findings[:_SHOWN]]
    more = len(findings) - _SHOWN
    if more > 0:
        parts.append(f"... and {more} more finding{'s' * (more != 1)}")
    return "\n\n".join(parts)


def render(finding: Finding, colour: bool = False) -> str:
    """One finding, without a line end behind it."""
    paint: Paint = click.style if colour else _plain
    strong = partial(paint, fg=_COLOURS[finding.severity], bold=True)
    lines = [
        f"{strong(f'{finding.severity}[{finding.code}]')} {paint(_where(finding), bold=True)}",
        *_quoted(finding, partial(paint, fg="blue"), strong),
        f"  {visible(finding.message)}",
    ]
    if finding.hint is not None:
        lines.append(f"  {paint('hint:', fg='cyan')} {visible(finding.hint)}")
    return "\n".join(lines)


def _plain(text: str, **_: object) -> str:
    return text


def _where(finding: Finding) -> str:
    path, span = visible(finding.path), finding.span
    return path if span is None else f"{path}:{span.line}:{span.column}"


def _quoted(finding: Finding, faint: Paint, strong: Paint) -> Iterator[str]:
    """The line of the finding, and the caret under what is meant."""
    span = finding.span
    if span is None:
        return
    line, start, end = _window(finding.line_text, span)
    before, marked = line[: start - 1], line[start - 1 : end - 1]
    blank = "".join("\t" if char == "\t" else " " * cells(char) for char in before)
    caret = "^" * max(1, cells(marked.replace("\t", " ")))
    number = str(span.line)
    shown = visible(line, keep="\t")
    yield f"  {faint(f'{number} |')} {shown}".rstrip()
    yield f"  {' ' * len(number)} {faint('|')} {blank}{strong(caret)}"


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
