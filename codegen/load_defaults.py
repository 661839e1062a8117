"""Defaults: values that a schema gives to fields and params, read as their type asks."""

import re

from .expressions.ast import Generic, Type
from .expressions.types import members, show
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
    kinds = {show(member) for member in members(type_)} if type_ else set()
    origins = {m.origin for m in members(type_) if isinstance(m, Generic)} if type_ else set()
    reader = next((r for kind, r in _READERS.items() if kinds - {"None"} == {kind}), None)

    def read(node: Node, reading: Reading) -> Default | Unset:
        if reader and not (is_null(node) and "None" in kinds):
            value = reader(node, reading)
            return UNSET if value is None else value
        if isinstance(node, Sequence):
            return _as_list(node, reading)
        if isinstance(node, Mapping) and not node.entries and origins == {"dict"}:
            return ()
        plain = as_plain(node, reading)
        # A whole number is a float where one is expected, as it is to Python's type checkers.
        if kinds - {"None"} == {"float"} and isinstance(plain, int) and not isinstance(plain, bool):
            return float(plain)
        return plain

    value = keys.read(key, read)
    return value if key in keys.spans else UNSET


def _as_list(node: Sequence, reading: Reading) -> Default | Unset:
    values: list[Plain] = []
    for item in node.items:
        value = as_plain(item, reading)
        if isinstance(value, Unset):
            return UNSET
        values.append(value)
    return tuple(values)


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
