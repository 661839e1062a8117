"""Changes to parts of a text."""

from collections.abc import Iterable

from attrs import frozen


@frozen
class Edit:
    """Another text for the characters from offset `start` up to `end`."""

    start: int
    end: int
    text: str


def apply(text: str, start: int, end: int, edits: Iterable[Edit]) -> str:
    """The characters from `start` up to `end`, with those edits that lie within."""
    parts, at = [], start
    for edit in sorted(edits, key=lambda edit: edit.start):
        if start <= edit.start and edit.end <= end:
            parts += [text[at : edit.start], edit.text]
            at = edit.end
    return "".join([*parts, text[at:end]])
