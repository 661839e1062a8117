"""YAML as frozen nodes that know where they were written."""

from typing import Literal

from attrs import field, frozen

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
    """One key of a mapping with its value."""

    key: Scalar
    value: "Node"


@frozen
class Mapping:
    """A mapping without duplicate keys, in the order in which it was written."""

    entries: tuple[Entry, ...]
    span: Span
    start: int
    end: int
    flow: bool = field(default=False)


Node = Scalar | Sequence | Mapping
