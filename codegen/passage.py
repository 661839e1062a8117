"""Where each character of a scalar's value stands in the file, whatever style it was written in."""

import re
from collections.abc import Sequence

from .expressions.tokens import Locate
from .nodes import Scalar
from .source import Source
from .span import Span

_BLANK = re.compile(r"[ \t\n]*")
_ESCAPE = re.compile(r"\\(?:(?P<fold>\n[ \t]*)|x..|u.{4}|U.{8}|.)")


def locator(scalar: Scalar, source: Source) -> Locate:
    """Maps offsets in the scalar's value to their place in the file."""
    offsets = value_offsets(scalar, source.text)

    def locate(start: int, end: int) -> Span:
        first = offsets[min(start, len(offsets) - 1)]
        # The end is one past the last character: what a fold put between them does not count.
        last = offsets[min(end, len(offsets)) - 1] + 1 if end > start else first
        return source.span(first, last)

    return locate


def value_offsets(scalar: Scalar, text: str) -> Sequence[int]:
    """The offset in `text` of each character of the value, and of its end.

    Runs of blanks stand for each other: that covers folding, indentation and chomping alike.
    """
    cursor, end = _content(scalar, text)
    value = scalar.value
    # Most values are as they are written, without an escape or a fold.
    if text[cursor:end] == value:
        return range(cursor, end + 1)
    offsets: list[int] = []
    while len(offsets) < len(value):
        character = value[len(offsets)]
        escape = _ESCAPE.match(text, cursor, end) if scalar.style == "double" else None
        source_blank = _BLANK.match(text, cursor, end)
        blank = source_blank.group() if source_blank else ""
        if escape:
            offsets.extend([] if escape["fold"] else [cursor])
            cursor = escape.end()
        elif blank and character in " \t\n":
            matched = _BLANK.match(value, len(offsets))
            run = matched.group() if matched else ""
            offsets.extend(cursor + (i if run == blank else 0) for i in range(len(run)))
            cursor += len(blank)
        elif blank:
            cursor += len(blank)
        else:
            offsets.append(min(cursor, end))
            doubled = scalar.style == "single" and text.startswith("''", cursor)
            cursor = min(end, cursor + (2 if doubled else 1))
    return [*offsets, cursor]


def _content(scalar: Scalar, text: str) -> tuple[int, int]:
    """Where the characters of the value begin and end: inside quotes, or below a block's header."""
    if scalar.style == "plain":
        return scalar.start, scalar.end
    if scalar.style in ("single", "double"):
        return scalar.start + 1, max(scalar.start + 1, scalar.end - 1)
    header = text.find("\n", scalar.start, scalar.end)
    return (scalar.end if header < 0 else header + 1), scalar.end
