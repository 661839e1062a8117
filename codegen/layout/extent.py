"""How far the parts of a file reach, in offsets into its text."""

import re

from ..nodes import Entry, Mapping, Node, Scalar, Sequence

_KEPT = re.compile(r"[|>][0-9-]*\+")


def is_flow(text: str, node: Mapping | Sequence) -> bool:
    """Whether a collection is written in brackets."""
    return text[node.start : node.start + 1] in ("{", "[")


def line_start(text: str, offset: int) -> int:
    """Where the line starts in which `offset` lies."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Where the next line starts."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def entry_end(text: str, entry: Entry) -> int:
    """Where what an entry says ends; comments and blank lines behind it are outside."""
    return max(entry.key.end, node_end(text, entry.value))


def node_end(text: str, node: Node) -> int:
    """Where a node ends: YAML counts blank lines and comments behind a block as within."""
    if isinstance(node, Scalar):
        return _block_end(text, node) if node.style in ("literal", "folded") else node.end
    if is_flow(text, node):
        return node.end
    if isinstance(node, Mapping):
        return max(entry_end(text, entry) for entry in node.entries)
    # An item that is empty lies behind its dash.
    return max(node_end(text, item) for item in node.items)


def _block_end(text: str, node: Scalar) -> int:
    """Where the last line of a block of text ends; `+` makes blank lines a part of it."""
    if _KEPT.match(text, node.start):
        return node.end
    return node.start + len(text[node.start : node.end].rstrip())
