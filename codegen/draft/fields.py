"""From an attribute of a state class to the keys of its field, the best that the language can say."""

import ast
from collections.abc import Iterator

from attrs import evolve, frozen

from .python import Module, own_attribute
from .state import Attribute
from .text import literal, one_line, type_text
from .types import (
    NDARRAY,
    NONE,
    OPAQUE,
    TENSOR,
    Member,
    Type,
    has_bytes,
    is_container,
    only,
    show,
    union,
    without_none,
)


@frozen
class Key:
    """One key of a field, its value as YAML, and what is worth saying behind it."""

    name: str
    value: str
    comment: str = ""


@frozen
class Spoken:
    """What sizes can name: the params of the draft, by their names in the source."""

    module: Module
    params: dict[str, str]


def wordings(
    attribute: Attribute, survives: tuple[str, ...], spoken: Spoken
) -> Iterator[list[Key]]:
    """Ways to say one field, the closest to the source first."""
    tail = [*_survival(survives), Key("reason", "TODO")]
    if attribute.written in ("ring", "append") and (item := _item(attribute)) is not None:
        yield [*_buffer(attribute, item, spoken), *tail]
    for type_, default in _starts(attribute, spoken.module):
        yield [*_attr(attribute, type_, default, spoken), *tail]


def _survival(survives: tuple[str, ...]) -> list[Key]:
    return [Key("survives", f"[{', '.join(survives)}]")] if survives else []


def _item(attribute: Attribute) -> Type | None:
    """The type of one item of what is appended to, where a buffer can hold it."""
    held = only(attribute.type)
    if attribute.joins or held == TENSOR:
        return (TENSOR,) if held in (TENSOR, None) else None
    if held is None or held.name != "list":
        return None
    item = held.items[0] if held.items else (OPAQUE,)
    # Nothing but bytes makes a list worth the manager's bound, unless the source bounds it itself.
    if attribute.bound is None and not has_bytes(item):
        return None
    return item if NONE not in item else None


def _buffer(attribute: Attribute, item: Type, spoken: Spoken) -> Iterator[Key]:
    along = attribute.bound.along if attribute.bound else None
    frames = attribute.bound is not None and TENSOR in attribute.type
    yield Key("placement", "object")
    yield Key("kind", "FrameRing" if frames else "LatentBuffer")
    yield _type(attribute, item)
    yield from _where(attribute, item)
    if attribute.bound is not None:
        size, comment = _size(attribute.bound.size, spoken)
        if size is not None:
            dimension = f", along: {along or 0}" if frames else ""
            yield Key("ring", f"{{size: {size}{dimension}}}", comment)
    if attribute.joins and not frames:
        yield Key("view", f"{{concat: {attribute.along or 0}}}")
    yield Key("manager_may", "[accumulate]")


def _size(node: ast.expr, spoken: Spoken) -> tuple[str | None, str]:
    """The size of a ring, and the source's word for it."""
    said = one_line(ast.unparse(node))
    name = own_attribute(node) or (node.id if isinstance(node, ast.Name) else "")
    if name in spoken.params:
        return spoken.params[name], ""
    number = spoken.module.integer(node)
    if number is None or number < 1:
        return None, said
    return str(number), "" if said == str(number) else said


def bound_unknown(attribute: Attribute, spoken: Spoken) -> str | None:
    """The source's word for the size of a ring, where it has no value in the source."""
    if attribute.bound is None:
        return None
    size, said = _size(attribute.bound.size, spoken)
    return said if size is None else None


def _starts(attribute: Attribute, module: Module) -> Iterator[tuple[Type, str | None]]:
    """Types with a value that an attr can start as; without one it starts as None."""
    default = literal(attribute.start, module)
    if default is not None and default != "null":
        yield attribute.type, default
        yield union(attribute.type, _type_of(default)), default
    yield union(attribute.type, (NONE,)), None


def _type_of(default: str) -> Type:
    name = {"t": "bool", "f": "bool", '"': "str"}.get(default[0])
    if name is None:
        name = "float" if "." in default else "int"
    return (Member(name),) if default[0] not in "[{" else ()


def _attr(attribute: Attribute, type_: Type, default: str | None, spoken: Spoken) -> Iterator[Key]:
    yield Key("placement", "attr")
    yield _type(attribute, type_)
    if default is not None:
        yield Key("default", default)
    elif attribute.is_argument:
        yield Key("default", "null", "the constructor asks for it")
    elif attribute.start is not None and literal(attribute.start, spoken.module) is None:
        yield Key("default", "null", f"{one_line(ast.unparse(attribute.start), 60)} in the source")
    yield from _where(attribute, type_)
    if attribute.written != "assign" and _is_mutable(type_):
        yield Key("written", "in_place")


def _is_mutable(type_: Type) -> bool:
    return any(
        member in (TENSOR, NDARRAY, OPAQUE) or is_container(member)
        for member in without_none(type_)
    )


def _type(attribute: Attribute, type_: Type) -> Key:
    said = attribute.annotation or ""
    comment = one_line(f"{said} in the source", 80) if said and "opaque" in show(type_) else ""
    return Key("type", type_text(show(type_)), comment)


def _where(attribute: Attribute, type_: Type) -> Iterator[Key]:
    if not has_bytes(type_):
        return
    if attribute.dtype is not None:
        yield Key("dtype", attribute.dtype)
    if attribute.on_host or only_arrays(type_):
        yield Key("device", "host")


def only_arrays(type_: Type) -> bool:
    """Whether all that holds bytes is an array, which lies on the host."""
    text = show(type_)
    return "ndarray" in text and "Tensor" not in text


def without(keys: list[Key], *names: str) -> list[Key]:
    return [key for key in keys if key.name not in names]


def as_said(keys: list[Key], comment: str) -> list[Key]:
    """The keys, with one more remark behind the first."""
    return [evolve(keys[0], comment=comment), *keys[1:]]
