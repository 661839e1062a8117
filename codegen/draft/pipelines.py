"""Sessions that a class or a module keeps by their id, beside the class that says what one keeps."""

import ast
import re
from collections.abc import Iterator

from attrs import frozen

from .members import Members
from .python import Module, dotted, own_attribute
from .types import read_annotation
from .values import infer, scope_of

_ID = re.compile(
    r"_*(?:.*_)?(?:session|request|req|stream|conversation|client)_?(?:id|key)s?|_*(?:s|r)id"
)
# What is capitalised like a class of somebody's state, and is none.
_NO_STATE = frozenset(("Any", "Tensor", "Callable", "Future", "Task", "Lock", "Event"))
_READING = ("get", "pop", "setdefault")


@frozen
class Store:
    """A dict of sessions: where it is, and the class of its values, empty where it has none."""

    name: str
    line: int
    holds: str


def stores_of(members: Members) -> tuple[Store, ...]:
    """The attributes of a class that hold something per session id."""
    read = {name for function in members.methods.values() for name in _read_by_id(function)}
    found = {store.name: store for store in _dicts(members)}
    return tuple(store for name, store in found.items() if name in read)


def _read_by_id(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=value, slice=key) if _is_id(key):
                held = value
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=[key, *_]) if (
                method in _READING and _is_id(key)
            ):
                held = value
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[value]) if _is_id(
                key
            ):
                held = value
            case _:
                continue
        if (name := own_attribute(held)) is not None:
            yield name


def _is_id(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and node.args and dotted(node.func) == ("str",):
        return _is_id(node.args[0])
    names = dotted(node)
    return bool(names) and _ID.fullmatch(names[-1]) is not None


def _dicts(members: Members) -> Iterator[Store]:
    for name, declared in members.declarations.items():
        if any(member.name == "dict" for member in declared.type):
            yield Store(name, declared.line, _held(declared.annotation))
    for function in members.methods.values():
        scope = scope_of(function, members.module)
        for node in ast.walk(function):
            match node:
                case ast.AnnAssign(target=target, annotation=annotation):
                    type_ = read_annotation(annotation, members.module)
                    holds = _held(annotation)
                case ast.Assign(targets=[target], value=value):
                    type_, holds = infer(value, scope), ""
                case _:
                    continue
            found = own_attribute(target)
            if found is not None and any(member.name == "dict" for member in type_):
                yield Store(found, node.lineno, holds)


def _held(annotation: ast.expr | None) -> str:
    """The class of a dict's values: `X` of `dict[str, X]`."""
    match annotation:
        case ast.Subscript(slice=ast.Tuple(elts=[_, value])):
            named = value.value if isinstance(value, ast.Constant) else "".join(dotted(value)[-1:])
            is_class = isinstance(named, str) and named.strip("_")[:1].isupper()
            return str(named) if is_class and named not in _NO_STATE else ""
    return ""


def module_stores(module: Module, class_name: str) -> tuple[Store, ...]:
    """The dicts at the top of a file whose values are of this class."""
    return tuple(
        Store(node.target.id, node.lineno, class_name)
        for node in module.tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and _held(node.annotation) == class_name
    )
