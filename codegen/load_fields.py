"""Fields: from the nodes of one field to the model."""

import re
from collections.abc import Iterable

from . import language
from .expressions.ast import Number, RecordType
from .load_defaults import read_default
from .load_keys import Keys, joined, named_entries, not_built, one_of
from .model import (
    Device,
    Dimension,
    Entry,
    Field,
    Grows,
    Joined,
    Measured,
    Member,
    Permission,
    Placement,
    Recompute,
    Record,
    Ring,
    Shape,
    Written,
)
from .nodes import Entry as NodeEntry
from .nodes import Mapping, Node, Scalar, Sequence
from .scalars import (
    Reading,
    Word,
    as_bytes,
    as_filled_text,
    as_integer,
    as_list,
    as_size,
    as_text,
    as_type,
    as_word,
    as_words,
    is_empty,
    is_null,
)
from .span import Span

# Each choice of the language: what is built, and what is `later`.
PLACEMENTS: dict[str, Placement] = {"object": "object", "attr": "attr"}
KINDS = {kind: kind for kind in language.KINDS}
DEVICES: dict[str, Device] = {"accelerator": "accelerator", "host": "host"}
DEVICES_ELSEWHERE = {
    **dict.fromkeys(("cuda", "gpu", "mps", "xpu", "npu"), "accelerator"),
    "cpu": "host",
}
WRITTEN: dict[str, Written] = {"assign": "assign", "in_place": "in_place", "once": "once"}
PERMISSIONS: dict[str, Permission] = {
    "release": "release",
    "accumulate": "accumulate",
    "stage": "stage",
    "rebuild": "rebuild",
}
# Keys of a field that list names.
NAMES = ("survives", "per", "invalidated_by", "derived_from", "manager_may")

# A draft's place holder, in capitals anywhere, and in any spelling where a reason starts.
_TODO = re.compile(r"\b(?:TODO|FIXME|TBD|XXX)\b|\A\s*(?i:todo|fixme|tbd|xxx)\b")
_NOTHING = re.compile(r"n/?a\.?|none\.?", re.IGNORECASE)
# Words that a field's name may be repeated with, and still nothing is said.
_EMPTY_WORDS = frozenset({"a", "an", "the", "this", "is", "of", "for", "field", "value"})


as_device = one_of(DEVICES, written="device", meant=DEVICES_ELSEWHERE)


def load_field(entry: NodeEntry, reading: Reading, default_device: Device) -> Field:
    """The field that one entry of `fields` describes; what was refused is left neutral."""
    name, at = entry.key.value, entry.key.span
    keys = Keys(entry.value, language.FIELD, reading, at)
    words: dict[str, tuple[Word, ...]] = {key: keys.read_or(key, as_words, ()) for key in NAMES}
    names = {key: tuple(word.text for word in found) for key, found in words.items()}
    complete_with = keys.read("complete_with", as_word)
    renamed_from = keys.read("renamed_from", as_word)
    if keys.read("per", is_empty):
        message = "`per` is empty: a family is kept per one axis at least."
        reading.error("bad-axis", keys.spans["per"][1], message, "name an axis, or take `per` out")
    type_ = keys.read("type", as_type)
    placement = keys.read("placement", one_of(PLACEMENTS, written="placement"))
    return Field(
        name=name,
        placement=placement,
        kind=keys.read("kind", one_of(KINDS, language.KINDS_LATER, written="kind")),
        type=type_,
        reason=read_reason(keys, entry.key, reading),
        default=read_default(keys, "default", type_),
        shape=keys.read("shape", as_shape),
        retains=keys.read("retains", as_shape),
        entries=keys.read_or("entries", as_list(as_entry), ()),
        dtype=keys.read("dtype", as_filled_text),
        device=keys.read_or("device", as_device, default_device),
        written=keys.read_or("written", one_of(WRITTEN, written="way to write a field"), "assign"),
        survives=names["survives"],
        per=names["per"],
        complete_with=complete_with.text if complete_with else None,
        invalidated_by=names["invalidated_by"],
        derived_from=names["derived_from"],
        recompute=keys.read("recompute", as_recompute),
        ring=keys.read("ring", as_ring),
        grows=keys.read("grows", as_grows),
        bounded_by=keys.read("bounded_by", as_filled_text),
        view=keys.read("view", as_view),
        manager_may=read_permissions(words["manager_may"], keys, reading),
        revisit=keys.read("revisit", as_filled_text),
        measured=keys.read_or("measured", as_list(as_measured), ()),
        renamed_from=renamed_from.text if renamed_from else None,
        at=at,
        keys=keys.spans,
        name_spans={key: tuple(word.at for word in found) for key, found in words.items()},
    )


def load_record(entry: NodeEntry, reading: Reading) -> Record:
    """The record that one entry of `records` describes, and takes note of its type."""
    name, at = entry.key.value, entry.key.span
    found = named_entries(entry.value, reading, f"The record `{name}`", at)
    if isinstance(entry.value, Mapping) and not entry.value.entries:
        message = f"The record `{name}` has no member."
        reading.error("missing-key", at, message, "list what it holds, or take it out")
    members = tuple(load_member(one, reading) for one in found)
    types = tuple(member.type for member in members if member.type is not None)
    reading.records[name] = RecordType(name, types, at)
    return Record(name, members, at)


def load_member(entry: NodeEntry, reading: Reading) -> Member:
    """One value of a record; what was refused is left neutral."""
    keys = Keys(entry.value, language.MEMBER, reading, entry.key.span)
    return Member(
        name=entry.key.value,
        type=keys.read("type", as_type),
        shape=keys.read("shape", as_shape),
        retains=keys.read("retains", as_shape),
        entries=keys.read_or("entries", as_list(as_entry), ()),
        dtype=keys.read("dtype", as_filled_text),
        at=entry.key.span,
        keys=keys.spans,
    )


def read_reason(keys: Keys, owner: Scalar, reading: Reading) -> str:
    """The reason, which must say more than the name of its owner does."""
    if not keys.is_mapping or "reason" in keys.refused:
        return ""
    key, value = keys.spans.get("reason", (owner.span, owner.span))
    reason = keys.read("reason", _empty_or_text) if "reason" in keys.spans else ""
    if reason is None:
        return ""
    hint = "say what the manager may do with the value, or why it may do nothing"
    if _TODO.search(reason):
        message = f"The reason of `{owner.value}` is still to be written."
        reading.error("todo-reason", value, message, hint)
        return ""
    if _says_nothing(reason.strip(), owner.value):
        message = f"`{owner.value}` needs a reason that a reviewer can agree or disagree with."
        reading.error("missing-reason", _visible(value, key), message, hint)
        return ""
    return reason


def _empty_or_text(node: Node, reading: Reading) -> str | None:
    return "" if is_null(node) else as_text(node, reading)


def _visible(value: Span, key: Span) -> Span:
    """The value's place, or the key's where there is nothing to point at."""
    empty = (value.line, value.column) == (value.end_line, value.end_column)
    return key if empty else value


def _says_nothing(reason: str, name: str) -> bool:
    said = [word for word in _words(reason) if word not in _EMPTY_WORDS]
    repeated = [word for word in _words(name) if word not in _EMPTY_WORDS]
    return "".join(said) in ("", "".join(repeated)) or _NOTHING.fullmatch(reason) is not None


def _words(text: str) -> list[str]:
    return re.split(r"[\W_]+", text.lower())


def read_permissions(words: Iterable[Word], keys: Keys, reading: Reading) -> tuple[Permission, ...]:
    """What the manager may do, each once."""
    if keys.read("manager_may", is_empty):
        message = "`manager_may` is empty: an object that the manager may not act on is an attr."
        hint = "list what it may do, or write `placement: attr`"
        reading.error("missing-key", keys.spans["manager_may"][1], message, hint)
    read = one_of(PERMISSIONS, written="permission")
    found = (read(Scalar(word.text, "single", word.at, 0, 0), reading) for word in words)
    return tuple(permission for permission in found if permission is not None)


def as_shape(node: Node, reading: Reading) -> Shape | None:
    """A list of sizes, each exact or, after `<=`, a bound; None when one of them was refused."""
    if isinstance(node, Scalar) and node.value == "first_write":
        reading.error("not-supported-yet", node.span, *not_built("`shape: first_write`"))
        return None
    if not isinstance(node, Sequence):
        message = "A shape is a list of sizes."
        hint = f"write [{node.value}]" if isinstance(node, Scalar) and node.value else None
        reading.error("not-a-sequence", node.span, message, hint)
        return None
    if len(node.items) > language.MAX_DIMENSIONS:
        message = f"A tensor has at most {language.MAX_DIMENSIONS} dimensions; this has {len(node.items)}."
        reading.error("bad-dimension", node.span, message)
        return None
    dimensions = [as_dimension(item, reading) for item in joined(node, reading)]
    kept = tuple(dimension for dimension in dimensions if dimension is not None)
    return Shape(kept, node.span) if len(kept) == len(dimensions) else None


def as_dimension(node: Node, reading: Reading) -> Dimension | None:
    """A size, or `<=` a size."""
    at_most = isinstance(node, Scalar) and node.value.startswith("<=")
    if at_most and isinstance(node, Scalar):
        node = _without_prefix(node, reading, len("<="))
    size = as_size(node, reading)
    return None if size is None else Dimension(size, at_most)


def _without_prefix(scalar: Scalar, reading: Reading, count: int) -> Scalar:
    quote = 0 if scalar.style == "plain" else 1
    start = scalar.start + quote + count
    span = reading.source.span(start, scalar.end - quote)
    return Scalar(scalar.value[count:], "plain", span, start, scalar.end - quote)


def as_entry(node: Node, reading: Reading) -> Entry | None:
    """`count` tensors of one shape."""
    keys = Keys(node, language.ENTRY, reading, node.span)
    shape = keys.read("shape", as_shape)
    count = keys.read("count", as_size)
    if shape is None or ("count" in keys.spans and count is None):
        return None
    return Entry(shape, count or Number(1))


def as_ring(node: Node, reading: Reading) -> Ring | None:
    keys = Keys(node, language.RING, reading, node.span)
    size = keys.read("size", as_size)
    along = keys.read("along", as_integer)
    return None if size is None else Ring(size, along, node.span)


def as_grows(node: Node, reading: Reading) -> Grows | None:
    keys = Keys(node, language.GROWS, reading, node.span)
    items, every = keys.read("items", as_positive), keys.read("every", as_positive)
    return None if items is None or every is None else Grows(items, every, node.span)


def as_recompute(node: Node, reading: Reading) -> Recompute | None:
    """What a field is rebuilt from; None where that or its cost was refused."""
    keys = Keys(node, language.RECOMPUTE, reading, node.span)
    sources, cost = keys.read("from", as_words), keys.read("cost", as_size)
    if keys.read("from", is_empty):
        message = "`from` is empty: a value that is rebuilt from nothing is a constant."
        hint = "name the fields or the values of `elsewhere` that it is rebuilt from"
        reading.error("missing-key", keys.spans["from"][1], message, hint)
    doc = keys.read_or("doc", as_filled_text, "")
    if sources is None or cost is None:
        return None
    return Recompute(
        sources=tuple(word.text for word in sources),
        cost=cost,
        doc=doc,
        at=node.span,
        source_spans=tuple(word.at for word in sources),
    )


def as_positive(node: Node, reading: Reading) -> int | None:
    """A whole number of one or more."""
    number = as_integer(node, reading)
    if number is None or number > 0:
        return number
    reading.error("not-an-integer", node.span, f"This must be 1 or more; it is {number}.")
    return None


def as_view(node: Node, reading: Reading) -> Joined | None:
    """`{concat: dim}` or `{stack: dim}`."""
    keys = Keys(node, language.VIEW, reading, node.span)
    concat, stack = keys.read("concat", as_integer), keys.read("stack", as_integer)
    if "concat" in keys.spans and "stack" in keys.spans:
        message = "A view either concatenates or stacks."
        reading.error("wrong-kind", keys.spans["stack"][0], message, "keep one of the two")
        return None
    if concat is not None:
        return Joined("concat", concat, node.span)
    return None if stack is None else Joined("stack", stack, node.span)


def as_measured(node: Node, reading: Reading) -> Measured | None:
    keys = Keys(node, language.MEASURED, reading, node.span)
    nbytes, where = keys.read("bytes", as_bytes), keys.read("where", as_filled_text)
    return None if nbytes is None or where is None else Measured(*nbytes, where)
