"""Defaults: values that a schema gives to fields and params, read as their type asks."""

import re
from itertools import chain, repeat

from .expressions.ast import Type
from .expressions.types import containers, may_be_none, members, show
from .load_keys import Keys
from .model import UNSET, Default, Plain, Unset
from .nodes import Mapping, Node, Scalar, Sequence
from .scalars import (
    AMBIGUOUS,
    BOOL,
    FLOAT,
    NULL,
    Reader,
    Reading,
    as_boolean,
    as_integer,
    as_text,
    is_null,
    report_ambiguous,
)

# Types whose readers say what is wrong with a value better than a comparison afterwards would.
_READERS: dict[str, Reader[Plain]] = {"int": as_integer, "bool": as_boolean, "str": as_text}


def read_default(keys: Keys, key: str, type_: Type | None) -> Default | Unset:
    """The value of `key`, which a value of `type_` is expected for; UNSET where there is none."""

    def read(node: Node, reading: Reading) -> Default | Unset:
        held = containers(type_) if type_ else ()
        origins = {container.origin for container in held}
        if isinstance(node, Sequence) and _reader(type_) is None:
            # Only where one container is meant do its items have a type to be read as.
            return _as_list(node, held[0].arguments if len(held) == 1 else (None,), reading)
        if isinstance(node, Mapping) and not node.entries and origins == {"dict"}:
            return ()
        return _as_value(node, type_, reading)

    value = keys.read(key, read)
    return value if key in keys.spans else UNSET


def _as_list(node: Sequence, types: tuple[Type | None, ...], reading: Reading) -> Default | Unset:
    """The items, each read as its type; the last of `types` is that of all further items."""
    values: list[Plain] = []
    for item, type_ in zip(node.items, chain(types, repeat(types[-1])), strict=False):
        value = _as_value(item, type_, reading)
        if isinstance(value, Unset):
            return UNSET
        values.append(value)
    return tuple(values)


def _as_value(node: Node, type_: Type | None, reading: Reading) -> Plain | Unset:
    """A single value, read as its type asks where that is one."""
    reader = _reader(type_)
    if reader and type_ and not (is_null(node) and may_be_none(type_)):
        value = reader(node, reading)
        return UNSET if value is None else value
    plain = as_plain(node, reading)
    # A whole number is a float where one is expected, as it is to Python's type checkers.
    if _kinds(type_) == {"float"} and isinstance(plain, int) and not isinstance(plain, bool):
        return float(plain)
    return plain


def _reader(type_: Type | None) -> Reader[Plain] | None:
    return next((reader for kind, reader in _READERS.items() if _kinds(type_) == {kind}), None)


def _kinds(type_: Type | None) -> set[str]:
    return {show(member) for member in members(type_)} - {"None"} if type_ else set()


def as_plain(node: Node, reading: Reading) -> Plain | Unset:
    """A scalar as YAML 1.2 reads it, or UNSET after a finding."""
    if not isinstance(node, Scalar):
        message = "A default is a single value, or a list of them."
        reading.error("bad-default", node.span, message, "leave it out and assign the value")
        return UNSET
    value = node.value
    if node.style != "plain":
        return value
    if NULL.fullmatch(value):
        return None
    if BOOL.fullmatch(value):
        return value.lower() == "true"
    if AMBIGUOUS.fullmatch(value):
        report_ambiguous(node, reading)
        return UNSET
    if re.fullmatch(r"[-+]?[0-9]+", value):
        number = as_integer(node, reading)
        return UNSET if number is None else number
    if FLOAT.fullmatch(value):
        return float(value.lower().replace(".inf", "inf").replace(".nan", "nan"))
    text = as_text(node, reading)
    return UNSET if text is None else text
