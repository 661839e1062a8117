"""The class-level declaration of each param and field."""

from ..declared import shipped_values
from ..expressions.ast import Atom, Generic, Type, Union
from ..expressions.evaluate import evaluate
from ..expressions.sizes import names_in
from ..expressions.types import may_be_none, members
from ..model import Default, Field, Param, Schema, Unset
from ..place import working_on
from . import python
from .axes import axis_constant
from .literals import LINE, call, keyword_string, string, width

_COERCIONS = {"int": "as_int", "bool": "as_bool", "float": "as_float", "str": "as_str"}


def param_declaration(schema: Schema, param: Param) -> str:
    """`name = Param(...)`: how a value is read, its bounds, whether objects depend on it."""
    arguments = [_coercion(param.type) or "as_names"]
    if param.minimum is not None:
        arguments.append(f"minimum={param.minimum}")
    if param.maximum is not None:
        arguments.append(f"maximum={param.maximum}")
    if param.name in _shaping(schema):
        arguments.append("shapes_objects=True")
    arguments.append(keyword_string("doc", param.doc, 8))
    return call(f"{param.name} = Param", arguments, 4)


def field_declaration(schema: Schema, field: Field) -> str:
    """`name = ...`: one declaration for each of the ways in which a field is kept."""
    with working_on(f"field {field.name}"):
        make = _object if field.placement == "object" else _attr
        head, arguments = make(field)
        reason = keyword_string("reason", field.reason, 8)
        arguments += [
            *_family(schema, field),
            *_invalidation(field),
            *_acting(schema, field),
            reason,
        ]
        return call(f"{field.name} = {head}", arguments, 4)


def _object(field: Field) -> tuple[str, list[str]]:
    if field.kind == "Value":
        return f"ValueField[{item_type(field)}]", _assigned(field)
    head = "ObjectFamily" if field.per else "ViewField" if field.view else "ObjectField"
    return head, [_object_class(field), *_joined(field), *_allocation(field)]


def _attr(field: Field) -> tuple[str, list[str]]:
    written = {"once": ["once=True"], "in_place": ["in_place=True"]}.get(field.written, [])
    if field.per:
        annotation = python.type_text(_without_none(_type(field)))
        return f"AttrFamily[{annotation}]", [*_coerce(field), *written]
    return f"Attr[{item_type(field)}]", [*_assigned(field), *written]


def _assigned(field: Field) -> list[str]:
    """What a field reads as before it is assigned, and how what is assigned is checked."""
    return [_default(field), *_coerce(field)]


def _coerce(field: Field) -> list[str]:
    coercion = _coercion(_type(field))
    return [f"coerce={coercion}"] if coercion else []


def _family(schema: Schema, field: Field) -> list[str]:
    """The axes that give a field its keys, and the field without which none of them is there."""
    if not field.per:
        return []
    axes = ", ".join(map(axis_constant, field.per))
    partner = [f"complete_with={string(name)}" for name in _partners(schema, field)]
    return [f"per=({axes}{',' * (len(field.per) == 1)})", *partner]


def _partners(schema: Schema, field: Field) -> set[str]:
    """A schema says `complete_with` on one side, and it holds for both."""
    pointing = {one.name for one in schema.fields if one.complete_with == field.name}
    return pointing | ({field.complete_with} if field.complete_with else set())


def _invalidation(field: Field) -> list[str]:
    """Both declarations mean the same to a session: they differ in what a reader learns."""
    sources = tuple(dict.fromkeys((*field.invalidated_by, *field.derived_from)))
    names = python.sequence("()", list(map(string, sources)), 8, len("invalidated_by="))
    return [f"invalidated_by={names}"] if sources else []


def _acting(schema: Schema, field: Field) -> list[str]:
    """What the manager may do to a field; its way back, at the cost of the shipped configuration."""
    if not field.manager_may:
        return []
    permissions = ", ".join(map(string, field.manager_may))
    arguments = [f"manager_may=({permissions}{',' * (len(field.manager_may) == 1)})"]
    if field.recompute:
        sources = list(map(string, field.recompute.sources))
        sequence = python.sequence("()", sources, 8, len("recompute_from="))
        cost = evaluate(field.recompute.cost, shipped_values(schema))
        arguments += [f"recompute_from={sequence}", f"recompute_cost={cost}"]
    return arguments


def _without_none(type_: Type) -> Type:
    kept = tuple(one for one in members(type_) if one != Atom("None"))
    return kept[0] if len(kept) == 1 else Union(kept)


def item_type(field: Field) -> str:
    """The annotation of a value, of one item of a buffer, or of a chunk of frames."""
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
    size = field.ring.size
    name = "size" if field.kind == "FrameRing" else "maxlen"
    rest = [f'"along": {field.ring.along}'] if field.kind == "FrameRing" else []
    entries = [f'"{name}": {python.size_text(size, _of_session)}', *rest]
    flat = f"allocate=lambda session: {{{', '.join(entries)}}}"
    if 8 + width(flat) + 1 <= LINE:
        return [flat]
    first = python.size_lines(size, LINE - 12 - len(f'"{name}": '), _of_session, after=1)
    entries = [f'"{name}": ' + "\n            ".join(first), *rest]
    lines = "".join(f"            {entry},\n" for entry in entries)
    return [f"allocate=lambda session: {{\n{lines}        }}"]


def _shaping(schema: Schema) -> set[str]:
    """The params that size an object or give a family its keys."""
    sizes = [field.ring.size for field in schema.fields if field.ring]
    used = {name for field in schema.fields for name in field.per}
    axes = [axis for axis in schema.axes if axis.name in used and axis.kind != "captured"]
    parts = (*sizes, *(part for axis in axes for part in (axis.size, axis.where) if part))
    named = {name.name for part in parts for name in names_in(part)}
    return named | {axis.param for axis in axes if axis.param}


def _of_session(name: str) -> str:
    return f"session.{name}"


def _default(field: Field) -> str:
    """`default=` of a value that may be shared, `factory=` of one made anew for each session."""
    value: Default = None if isinstance(field.default, Unset) else field.default
    if not isinstance(value, tuple):
        return f"default={python.plain_text(value)}"
    origin = next(part.origin for part in members(_type(field)) if isinstance(part, Generic))
    items = list(map(python.plain_text, value))
    if origin == "tuple":
        return f"default={python.sequence('()', items, 8, len('default='))}"
    if not value:
        return f"factory={origin}"
    brackets = "{}" if origin == "set" else "[]"
    return f"factory=lambda: {python.sequence(brackets, items, 8, len('factory=lambda: '))}"


def _coercion(type_: Type) -> str | None:
    """The check of an assigned scalar; other values are kept as they are."""
    match [one for one in members(type_) if one != Atom("None")]:
        case [Atom(name="int" | "float" | "bool" | "str" as name)]:
            coercion = _COERCIONS[name]
            return f"optional({coercion})" if may_be_none(type_) else coercion
    return None
