"""The members of a state class: its methods and properties, and the attributes its body declares."""

import ast
from collections.abc import Iterator
from typing import Literal

from attrs import Factory, define, frozen

from .outside import with_self
from .python import Function, Module, dotted, keyword
from .types import Type, read_annotation

Style = Literal["plain", "dataclass", "attrs"]

_ATTRS = {"define", "frozen", "mutable", "attrs", "s", "attributes", "dataclass"}
_FIELD_CALLS = {"field", "ib", "attrib", "Factory"}
_INITIALISERS = ("__init__", "__post_init__", "__attrs_post_init__", "__attrs_pre_init__")


@frozen
class Declaration:
    """An attribute that the class body declares; `value` is what it starts as."""

    name: str
    line: int
    annotation: ast.expr | None
    type: Type
    value: ast.expr | None
    # Whether a constructor asks for it.
    is_argument: bool


@define(eq=False)
class Members:
    """What a class and its bases in the same file consist of, the class's own first."""

    module: Module
    node: ast.ClassDef
    style: Style
    methods: dict[str, Function] = Factory(dict)
    properties: dict[str, Function] = Factory(dict)
    setters: dict[str, Function] = Factory(dict)
    declarations: dict[str, Declaration] = Factory(dict)
    # Constants of the class, which no session keeps.
    constants: dict[str, ast.expr] = Factory(dict)
    slots: dict[str, int] = Factory(dict)
    unread_bases: list[str] = Factory(list)

    @property
    def initialisers(self) -> list[str]:
        return [name for name in _INITIALISERS if name in self.methods]


def members_of(module: Module, node: ast.ClassDef) -> Members:
    """Read a class, and the classes of the same file that it inherits from."""
    members = Members(module, node, _style(node))
    for one in _lineage(module, node, members.unread_bases):
        style = _style(one)
        for statement in one.body:
            if isinstance(statement, Function):
                _take_method(members, statement)
            else:
                _take_statement(members, statement, style)
    return members


def _lineage(
    module: Module, node: ast.ClassDef, unread: list[str], seen: tuple[str, ...] = ()
) -> Iterator[ast.ClassDef]:
    yield node
    for base in node.bases:
        names = dotted(base.value if isinstance(base, ast.Subscript) else base)
        name = names[-1] if names else ""
        if name in module.classes and name not in (*seen, node.name):
            yield from _lineage(module, module.classes[name], unread, (*seen, node.name))
        elif name and name not in ("object", "ABC", "Generic", "Protocol", node.name):
            unread.append(name)


def _style(node: ast.ClassDef) -> Style:
    for decorator in node.decorator_list:
        names = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if names[-1:] == ("dataclass",) and names[0] not in ("attr", "attrs"):
            return "dataclass"
        if names and names[-1] in _ATTRS:
            return "attrs"
    return "plain"


def _take_method(members: Members, function: Function) -> None:
    for decorator in function.decorator_list:
        names = dotted(decorator)
        if names[-1:] in (("property",), ("cached_property",)):
            members.properties.setdefault(function.name, function)
            return
        if names[-1:] == ("setter",):
            members.setters.setdefault(function.name, function)
            return
        if names[-1:] in (("deleter",), ("overload",), ("classmethod",)):
            return
        if names == ("staticmethod",):
            members.methods.setdefault(function.name, function)
            return
    members.methods.setdefault(function.name, with_self(function))


def _take_statement(members: Members, statement: ast.stmt, style: Style) -> None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            _annotated(members, statement, name, annotation, value, style)
        case ast.Assign(targets=[ast.Name(id="__slots__")], value=value):
            for slot, line in _slots(value):
                members.slots.setdefault(slot, line)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            _assigned(members, statement, name, value, style)


def _slots(value: ast.expr) -> Iterator[tuple[str, int]]:
    """The names that `__slots__` writes out, and their lines; a dict has their docs as values."""
    match value:
        case ast.Constant(value=str() as name):
            yield name, value.lineno
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from _slots(item)
        case ast.Dict(keys=keys):
            for key in keys:
                if key is not None:
                    yield from _slots(key)
        case ast.BinOp(left=left, right=right):
            yield from _slots(left)
            yield from _slots(right)
        case ast.Starred(value=inner):
            yield from _slots(inner)
        case ast.Call(args=[inner]):
            yield from _slots(inner)


def _annotated(
    members: Members,
    statement: ast.AnnAssign,
    name: str,
    annotation: ast.expr,
    value: ast.expr | None,
    style: Style,
) -> None:
    outer = dotted(annotation.value if isinstance(annotation, ast.Subscript) else annotation)
    if outer[-1:] == ("ClassVar",) or (outer[-1:] == ("Final",) and style == "plain"):
        if value is not None:
            members.constants.setdefault(name, value)
        return
    if outer[-1:] in (("InitVar",), ("KW_ONLY",)):
        return
    start, asked = _start_of(value, style)
    declared = Declaration(
        name,
        statement.lineno,
        annotation,
        read_annotation(annotation, members.module),
        start,
        asked,
    )
    members.declarations.setdefault(name, declared)


def _start_of(value: ast.expr | None, style: Style) -> tuple[ast.expr | None, bool]:
    """What a declared attribute starts as, and whether the constructor has to be given it."""
    if style == "plain":
        return value, False
    if not (
        isinstance(value, ast.Call) and dotted(value.func)[-1:] in {(n,) for n in _FIELD_CALLS}
    ):
        return value, value is None
    if dotted(value.func)[-1:] == ("Factory",):
        return _made_by(value.args[0] if value.args else None), False
    default = keyword(value, "default")
    factory = keyword(value, "default_factory") or keyword(value, "factory")
    if isinstance(default, ast.Call) and dotted(default.func)[-1:] == ("Factory",):
        factory = default.args[0] if default.args else factory
        default = None
    if factory is not None:
        return _made_by(factory), False
    absent = keyword(value, "init")
    is_inner = isinstance(absent, ast.Constant) and absent.value is False
    return default, default is None and not is_inner


def _made_by(factory: ast.expr | None) -> ast.expr | None:
    """What a factory gives: the body of a lambda, or its call."""
    if isinstance(factory, ast.Lambda):
        return factory.body
    if factory is None:
        return None
    return ast.copy_location(ast.Call(factory, [], []), factory)


def _assigned(
    members: Members, statement: ast.Assign, name: str, value: ast.expr, style: Style
) -> None:
    match value:
        case ast.Call(func=ast.Subscript(value=descriptor, slice=inner)) if dotted(descriptor)[
            -1:
        ] == ("SessionAttr",):
            type_ = read_annotation(inner, members.module)
            start = keyword(value, "default")
            declared = Declaration(name, statement.lineno, inner, type_, start, False)
            members.declarations.setdefault(name, declared)
        case ast.Call(func=function) if style == "attrs" and dotted(function)[-1:] in (
            ("ib",),
            ("attrib",),
            ("field",),
        ):
            start, asked = _start_of(value, style)
            annotation = keyword(value, "type")
            type_ = read_annotation(annotation, members.module)
            declared = Declaration(name, statement.lineno, annotation, type_, start, asked)
            members.declarations.setdefault(name, declared)
        case _:
            members.constants.setdefault(name, value)
