"""Types as annotations write them, said in the schema's notation."""

import ast
import json
from collections.abc import Iterable

from attrs import field, frozen

from .python import Module, ValueClass, dotted

# What an alias or a text in quotes may lead through.
_DEPTH = 16


@frozen
class Member:
    """One member of a union; a container knows the types of what is in it, a record its class."""

    name: str
    items: tuple["Type", ...] = ()
    variadic: bool = False
    record: ValueClass | None = field(default=None, eq=False, repr=False)


Type = tuple[Member, ...]
"""A union; without a member nothing is known of the value."""

UNKNOWN: Type = ()
NONE = Member("None")
OPAQUE = Member("opaque")
TENSOR = Member("Tensor")
NDARRAY = Member("ndarray")

_ATOMS = {"int", "float", "bool", "str", "Generator"}
_CONTAINERS = {
    **dict.fromkeys(("list", "List", "deque", "Deque", "LatentBuffer"), "list"),
    **dict.fromkeys(("set", "Set", "MutableSet"), "set"),
    **dict.fromkeys(("dict", "Dict", "OrderedDict", "defaultdict", "DefaultDict"), "dict"),
    **dict.fromkeys(("Mapping", "MutableMapping"), "dict"),
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
}
_DTYPES = {
    **{"DoubleTensor": "float64", "FloatTensor": "float32", "HalfTensor": "float16"},
    **{"BFloat16Tensor": "bfloat16", "LongTensor": "int64", "IntTensor": "int32"},
    **{"ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8", "BoolTensor": "bool"},
}
# Wrappers that say something else than what the value is.
_TRANSPARENT = {"Annotated", "Final", "Required", "NotRequired", "ReadOnly"}


def is_container(member: Member) -> bool:
    return member.name in ("list", "set", "dict", "tuple")


def union(*types: Type) -> Type:
    """What any of several types may be; containers of one kind are one container."""
    merged: list[Member] = []
    for member in (member for type_ in types for member in type_):
        same = [
            position
            for position, other in enumerate(merged)
            if other.name == member.name and _alike(other, member)
        ]
        if same:
            merged[same[0]] = _joined(merged[same[0]], member)
        else:
            merged.append(member)
    if OPAQUE in merged:
        merged = [member for member in merged if member in (OPAQUE, NONE)]
    return tuple(merged)


def _alike(one: Member, other: Member) -> bool:
    if one.name != "tuple":
        return True
    return not (one.items and other.items) or (len(one.items), one.variadic) == (
        len(other.items),
        other.variadic,
    )


def _joined(one: Member, other: Member) -> Member:
    if not (one.items and other.items):
        return one if one.items else other
    items = tuple(union(*pair) for pair in zip(one.items, other.items, strict=True))
    return Member(one.name, items, one.variadic)


def without_none(type_: Type) -> Type:
    return tuple(member for member in type_ if member != NONE)


def only(type_: Type) -> Member | None:
    """The one member that a type has besides None."""
    members = without_none(type_)
    return members[0] if len(members) == 1 else None


def show(type_: Type) -> str:
    """The type as a schema writes it; what is not known is `opaque`."""
    members = without_none(type_) or (OPAQUE,)
    nullable = [NONE] if NONE in type_ else []
    return " | ".join(_show(member) for member in (*members, *nullable))


def _show(member: Member) -> str:
    if not is_container(member):
        return member.name
    items = member.items or ((UNKNOWN, UNKNOWN) if member.name == "dict" else (UNKNOWN,))
    variadic = member.variadic or (member.name == "tuple" and not member.items)
    return f"{member.name}[{', '.join([*map(show, items), *(['...'] if variadic else [])])}]"


def has_bytes(type_: Type) -> bool:
    """Whether tensors or arrays are anywhere in it."""
    return any(member in (TENSOR, NDARRAY) or any(map(has_bytes, member.items)) for member in type_)


def dtype_of(annotation: ast.expr | None) -> str | None:
    """The dtype that an annotation names: `LongTensor`, `NDArray[np.uint8]`."""
    for node in ast.walk(annotation) if annotation else ():
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in _DTYPES:
                return _DTYPES[name]
            case ast.Subscript(value=value, slice=inner) if dotted(value)[-1:] == ("NDArray",):
                names = dotted(inner)
                return names[-1] if names and names[-1] != "Any" else None
    return None


def read_annotation(node: ast.expr | None, module: Module, depth: int = 0) -> Type:
    """The type that an annotation says; what the language has no word for is opaque."""
    if node is None or depth > _DEPTH:
        return UNKNOWN
    match node:
        case ast.Constant(value=None):
            return (NONE,)
        case ast.Constant(value=str() as text):
            return read_annotation(_parsed(text), module, depth + 1) or (OPAQUE,)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _any_of((left, right), module, depth)
        case ast.Subscript(value=value, slice=inner):
            return _subscripted(dotted(value)[-1:], inner, module, depth)
        case ast.Name() | ast.Attribute():
            return _named(dotted(node), module, depth)
    return (OPAQUE,)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _any_of(nodes: Iterable[ast.expr], module: Module, depth: int) -> Type:
    return union(*(read_annotation(node, module, depth + 1) for node in nodes))


def _named(names: tuple[str, ...], module: Module, depth: int) -> Type:
    name = names[-1] if names else ""
    if name in _ATOMS:
        return (Member(name),)
    if name == "Tensor" or name in _DTYPES:
        return (TENSOR,)
    if name in ("ndarray", "NDArray"):
        return (NDARRAY,)
    if name in _CONTAINERS:
        return (Member(_CONTAINERS[name]),)
    if name == "None":
        return (NONE,)
    if len(names) == 1 and name not in module.classes and name in module.constants:
        alias = read_annotation(module.constants[name], module, depth + 1)
        return alias or (OPAQUE,)
    held = module.value_class(name) if len(names) == 1 else None
    return (Member(name.strip("_"), record=held),) if held else (OPAQUE,)


def _subscripted(name: tuple[str, ...], inner: ast.expr, module: Module, depth: int) -> Type:
    arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    match name:
        case ("Optional",):
            return union(read_annotation(inner, module, depth + 1), (NONE,))
        case ("Union",):
            return _any_of(arguments, module, depth)
        case ("Literal",):
            return (_literal(arguments),)
        case (wrapper,) if wrapper in _TRANSPARENT:
            return read_annotation(arguments[0], module, depth + 1)
        case ("NDArray",):
            return (NDARRAY,)
        case (origin,) if origin in _CONTAINERS:
            return (_container(_CONTAINERS[origin], arguments, module, depth),)
    return (OPAQUE,)


def _container(origin: str, arguments: list[ast.expr], module: Module, depth: int) -> Member:
    ellipsis = [isinstance(one, ast.Constant) and one.value is ... for one in arguments]
    variadic = origin == "tuple" and ellipsis == [False, True]
    written = [one for one, dots in zip(arguments, ellipsis, strict=True) if not dots]
    items = tuple(read_annotation(one, module, depth + 1) for one in written)
    wanted = {"list": 1, "set": 1, "dict": 2}.get(origin, len(items))
    return Member(origin, items if len(items) == wanted else (), variadic)


def _literal(arguments: list[ast.expr]) -> Member:
    texts = [one.value for one in arguments if isinstance(one, ast.Constant)]
    words = [text for text in texts if isinstance(text, str) and _is_plain(text)]
    if not words or len(words) < len(arguments):
        return OPAQUE
    return Member(f"Literal[{', '.join(json.dumps(word) for word in dict.fromkeys(words))}]")


def _is_plain(text: str) -> bool:
    """Whether the language's own literals, which know no escapes, can say the text."""
    return text.isascii() and text.isprintable() and not {'"', "\\"} & set(text)
