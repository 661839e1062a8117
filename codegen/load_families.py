"""Axes and handoffs: the keys of families, and the loans of what is kept under one key."""

from . import language
from .expressions.ast import Condition, Equal, IsNone, Text, Truth
from .expressions.sizes import parts_of
from .load_defaults import as_plain
from .load_keys import Keys, named_entries
from .model import UNSET, Axis, Default, Fresh, Handoff, Lent, Unset
from .nodes import Entry, Mapping, Node, Scalar, Sequence
from .scalars import Reading, Word, as_condition, as_size, as_word, as_words


def load_axis(entry: Entry, reading: Reading) -> Axis | None:
    """One axis, or None after a finding that leaves its keys unknown."""
    keys = Keys(entry.value, language.AXIS, reading, entry.key.span)
    kinds = [key for key in keys.spans if key in ("names", "range", "captured")]
    if len(kinds) > 1:
        message = f"An axis has its keys from `{kinds[0]}` or from `{kinds[1]}`, not from both."
        reading.error("wrong-kind", keys.spans[kinds[1]][0], message, "keep one of the two")
        return None
    if "where" in keys.spans and kinds and kinds != ["range"]:
        message = f"`where` picks numbers of a `range`; this axis has `{kinds[0]}`."
        reading.error("wrong-kind", keys.spans["where"][0], message, "take it out")
        return None
    names = keys.read("names", _as_names)
    size = keys.read("range", as_size) or keys.read("captured", as_size)
    where = keys.read("where", _as_comparisons)
    if (names is None and size is None) or ("where" in keys.spans and where is None):
        return None
    return Axis(
        name=entry.key.value,
        kind="names" if names else "range" if "range" in keys.spans else "captured",
        names=tuple(word.text for word in names) if isinstance(names, tuple) else (),
        name_spans=tuple(word.at for word in names) if isinstance(names, tuple) else (),
        param=names.text if isinstance(names, Word) else None,
        size=size,
        where=where,
        at=entry.key.span,
        value_at=keys.spans[kinds[0]][1],
    )


def _as_comparisons(node: Node, reading: Reading) -> Condition | None:
    """A condition that compares whole numbers and asks for nothing else."""
    condition = as_condition(node, reading)
    for part in parts_of(condition) if condition else ():
        if isinstance(part, IsNone | Truth | Equal | Text):
            message = "`where` compares whole numbers: the axis' own, and those of params."
            reading.error("bad-condition", part.at, message, "write `n > 0`, say")
            return None
    return condition


def _as_names(node: Node, reading: Reading) -> tuple[Word, ...] | Word | None:
    """A list of names, or the param that gives them."""
    if not isinstance(node, Sequence):
        return as_word(node, reading)
    words = as_words(node, reading)
    if words == () and not node.items:
        message = "An axis without a key is an axis that nothing can be kept under."
        reading.error("bad-axis", node.span, message, "list its names")
    return words or None


def load_handoff(entry: Entry, reading: Reading) -> Handoff | None:
    """One handoff; what it lends and was refused is left out."""
    at = entry.key.span
    keys = Keys(entry.value, language.HANDOFF, reading, at)
    by = keys.read("by", as_word)
    if "by" in keys.spans and by is None:
        return None
    return Handoff(
        name=entry.key.value,
        by=by.text if by else None,
        lend=keys.read_or("lend", _as_lent, ()),
        fresh=keys.read_or("fresh", _as_fresh, ()),
        at=at,
        by_at=by.at if by else at,
    )


def _as_lent(node: Node, reading: Reading) -> tuple[Lent, ...]:
    entries = named_entries(node, reading, "`lend`", node.span)
    if isinstance(node, Mapping) and not node.entries:
        message = "A handoff lends one field at least."
        reading.error("missing-key", node.span, message, "write `lend: {attribute: field}`")
    fields = ((entry.key, as_word(entry.value, reading)) for entry in entries)
    return tuple(Lent(key.value, word.text, key.span, word.at) for key, word in fields if word)


def _as_fresh(node: Node, reading: Reading) -> tuple[Fresh, ...]:
    entries = named_entries(node, reading, "`fresh`", node.span)
    values = ((entry.key, _as_literal(entry.value, reading)) for entry in entries)
    return tuple(
        Fresh(key.value, value, key.span) for key, value in values if not isinstance(value, Unset)
    )


def _as_literal(node: Node, reading: Reading) -> Default | Unset:
    """A single value, or a tuple of them for a list; UNSET after a finding."""
    items = node.items if isinstance(node, Sequence) else (node,)
    for item in items:
        if not isinstance(item, Scalar):
            message = "A fresh value is a single value, or a list of them."
            hint = "what takes code to make, the model sets after the loan began"
            reading.error("bad-handoff", item.span, message, hint)
            return UNSET
    plain = [as_plain(item, reading) for item in items]
    known = tuple(value for value in plain if not isinstance(value, Unset))
    if len(known) < len(plain):
        return UNSET
    return known if isinstance(node, Sequence) else known[0]
