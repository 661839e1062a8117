"""YAML as frozen nodes that know where they were written."""

from typing import Literal

from attrs import frozen

from .span import Span

Style = Literal["plain", "single", "double", "literal", "folded"]


@frozen
class Scalar:
    """A scalar; `start` and `end` are offsets of its characters in the file's text."""

    value: str
    style: Style
    span: Span
    start: int
    end: int


@frozen
class Sequence:
    items: "tuple[Node, ...]"
    span: Span
    start: int
    end: int


@frozen
class Entry:
    """One key of a mapping with its value; `bare` is a word in braces without a colon."""

    key: Scalar
    value: "Node"
    bare: bool = False


@frozen
class Mapping:
    """A mapping in the order in which it was written.

    Only a bare word may repeat a key: behind a comma it is the rest of a text that has none.
    """

    entries: tuple[Entry, ...]
    span: Span
    start: int
    end: int


Node = Scalar | Sequence | Mapping
