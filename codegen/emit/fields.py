"""The class-level declaration of each param and field."""

from ..expressions.ast import Atom, Generic, Size, Type
from ..expressions.sizes import names_in
from ..expressions.types import may_be_none, members
from ..model import Default, Field, Param, Schema, Unset
from . import python
from .literals import LINE, call, keyword_string, width

_COERCIONS = {"int": "as_int", "bool": "as_bool", "float": "as_float", "str": "as_str"}


def param_declaration(schema: Schema, param: Param) -> str:
    """`name = Param(...)`: how a value is read, its bounds, whether objects depend on it."""
    arguments = [_coercion(param.type) or "as_is"]
    if param.minimum is not None:
        arguments.append(f"minimum={param.minimum}")
    if param.maximum is not None:
        arguments.append(f"maximum={param.maximum}")
    if any(field.ring and param.name in _names(field.ring.size) for field in schema.fields):
        arguments.append("shapes_objects=True")
    arguments.append(keyword_string("doc", param.doc, 8))
    return call(f"{param.name} = Param", arguments, 4)


def field_declaration(field: Field) -> str:
    """`name = ...`: one declaration for each of the ways in which a field is kept."""
    reason = keyword_string("reason", field.reason, 8)
    if field.placement == "object":
        kind = "ViewField" if field.view else "ObjectField"
        arguments = [_object_class(field), *_joined(field), *_allocation(field), reason]
        return call(f"{field.name} = {kind}", arguments, 4)
    annotation = python.type_text(_type(field), field.dtype)
    arguments = [_default(field), reason]
    coercion = _coercion(_type(field))
    if coercion:
        arguments.insert(1, f"coerce={coercion}")
    return call(f"{field.name} = Attr[{annotation}]", arguments, 4)


def item_type(field: Field) -> str:
    """The annotation of one item of a buffer, or of a chunk of frames."""
    return python.type_text(_type(field), field.dtype)


def _type(field: Field) -> Type:
    assert field.type is not None, f"{field.name} has no type, which the rules refuse"
    return field.type


def _object_class(field: Field) -> str:
    return "FrameRing" if field.kind == "FrameRing" else f"{field.kind}[{item_type(field)}]"


def _joined(field: Field) -> list[str]:
    """How a list of items reads as one value; a ring of frames is one value by itself."""
    if field.view is None or field.kind == "FrameRing":
        return []
    return [f"{field.view.how}={field.view.dim}"]


def _allocation(field: Field) -> list[str]:
    """The object's sizes, read off the session's params."""
    if field.ring is None:
        return []
    if field.kind == "FrameRing":
        sizes = {"size": _of_session(field.ring.size), "along": str(field.ring.along)}
    else:
        sizes = {"maxlen": _of_session(field.ring.size)}
    entries = [f'"{name}": {text}' for name, text in sizes.items()]
    flat = f"allocate=lambda session: {{{', '.join(entries)}}}"
    if 8 + width(flat) + 1 <= LINE:
        return [flat]
    lines = "".join(f"            {entry},\n" for entry in entries)
    return [f"allocate=lambda session: {{\n{lines}        }}"]


def _names(size: Size) -> set[str]:
    return {name.name for name in names_in(size)}


def _of_session(size: Size) -> str:
    return python.size_text(size, lambda name: f"session.{name}")


def _default(field: Field) -> str:
    """`default=` of a value that may be shared, `factory=` of one made anew for each session."""
    value: Default = None if isinstance(field.default, Unset) else field.default
    if not isinstance(value, tuple):
        return f"default={python.plain_text(value)}"
    origin = next(part.origin for part in members(_type(field)) if isinstance(part, Generic))
    if origin == "tuple":
        return f"default={python.plain_text(value)}"
    if not value:
        return f"factory={origin}"
    inner = ", ".join(map(python.plain_text, value))
    return (
        f"factory=lambda: {'{' if origin == 'set' else '['}{inner}{'}' if origin == 'set' else ']'}"
    )


def _coercion(type_: Type) -> str | None:
    """The check of an assigned scalar; other values are kept as they are."""
    match members(type_):
        case (Atom(name="int" | "float" | "bool" | "str" as name),):
            coercion = _COERCIONS[name]
            return f"optional({coercion})" if may_be_none(type_) else coercion
    return None
