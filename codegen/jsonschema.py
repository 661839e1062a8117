"""The schema language as a JSON Schema (draft-07), for editors: made of the loader's own rows."""

import json
from typing import Any

from .language import SCHEMA, Atom, Either, Key, ListOf, Named, OneOf, Table, Value
from .scalars import BYTES

DIALECT = "http://json-schema.org/draft-07/schema#"

Node = dict[str, Any]

_FILLED: Node = {"type": "string", "pattern": r"\S"}
_VALUES = ["null", "boolean", "number", "string"]
# A name that the author gives, as Python code can use it.
_GIVEN: Node = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
_ATOMS: dict[Atom, Node] = {
    Atom.VERSION: {"type": "integer", "const": 1},
    Atom.TEXT: _FILLED,
    Atom.NAME: _FILLED,
    Atom.TYPE: _FILLED,
    Atom.CONDITION: _FILLED,
    Atom.SIZE: {"type": ["integer", "string"], "pattern": r"\S"},
    Atom.INTEGER: {"type": "integer"},
    Atom.POSITIVE: {"type": "integer", "minimum": 1},
    Atom.BYTES: {"type": ["integer", "string"], "minimum": 0, "pattern": f"^{BYTES.pattern}$"},
    # An empty mapping is the default of a dict.
    Atom.VALUE: {
        "type": [*_VALUES, "array", "object"],
        "items": {"type": _VALUES},
        "maxProperties": 0,
    },
}


def document() -> str:
    """The JSON Schema, as the text of a file."""
    root = {
        "$schema": DIALECT,
        "title": "A Session State schema",
        "description": "What one model keeps between forward() calls.",
        **_node(SCHEMA),
    }
    return json.dumps(root, indent=2) + "\n"


def _node(value: Value) -> Node:
    """What is accepted where `value` stands."""
    match value:
        case Atom():
            return dict(_ATOMS[value])
        case OneOf(words):
            return {"enum": list(words)}
        case Either(one, other):
            return {"anyOf": [_node(one), _node(other)]}
        case ListOf():
            return _array(value)
        case Named(of, least):
            node = {"type": "object", "propertyNames": _GIVEN, "additionalProperties": _node(of)}
            return {**node, "minProperties": least} if least else node
        case Table():
            return _object(value)


def _array(value: ListOf) -> Node:
    node: Node = {"type": "array", "items": _node(value.item)}
    if value.least:
        node["minItems"] = value.least
    if value.most is not None:
        node["maxItems"] = value.most
    if value.unique:
        node["uniqueItems"] = True
    return node


def _object(table: Table) -> Node:
    """The mapping of a table; of two keys of which one is asked for, exactly one."""
    node: Node = {
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: _property(key) for key in table.keys},
    }
    asked = [[name for name in one.split("|") if name in table.rows] for one in table.required]
    required = [names[0] for names in asked if len(names) == 1]
    # Reasons have a finding of their own, and no row of `required` for that.
    required += [key.name for key in table.keys if key.name == "reason"]
    if required:
        node["required"] = required
    for names in asked:
        if len(names) > 1:
            node["oneOf"] = [{"required": [name]} for name in names]
    return node


def _property(key: Key) -> Node:
    return {"description": key.doc, **_node(key.value)}
