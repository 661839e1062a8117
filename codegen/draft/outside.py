"""Code beside a class that writes its objects: functions and methods of the same file.

A dataclass has often no method at all, and is written by whoever is given it. Such a function is
read as if it were a method of the class: the name that holds the object is called `self` in it.
"""

import ast
from collections.abc import Iterator, Set
from copy import deepcopy

from .python import Function, Module, dotted

_ONE_OF = ("get", "pop", "setdefault")


def handlers(module: Module, node: ast.ClassDef) -> Iterator[Function]:
    """The functions outside the class that hold one of its objects, once for each name of it."""
    own = set(ast.walk(node))
    functions = [one for one in ast.walk(module.tree) if isinstance(one, Function)]
    makers = {one.name for one in functions if _is_of(one.returns, node.name)} | {node.name}
    stores = set(_stores(module, node.name))
    for function in functions:
        if function not in own:
            for name in sorted(_holders(function, node.name, makers, stores)):
                renamed: Function = _Renaming(name).visit(deepcopy(function))
                yield renamed


def with_self(function: Function) -> Function:
    """A method whose first argument is called `self`, as it mostly is."""
    arguments = function.args
    first, *_ = *arguments.posonlyargs, *arguments.args, ast.arg("self")
    if first.arg == "self":
        return function
    renamed: Function = _Renaming(first.arg).visit(deepcopy(function))
    return renamed


def _holders(function: Function, class_name: str, makers: Set[str], stores: Set[str]) -> set[str]:
    """The names that hold an object of the class in a function."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = {one.arg for one in named if _is_of(one.annotation, class_name)}
    for node in ast.walk(function):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if _is_of(annotation, class_name):
                    found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if _gives_one(value, makers, stores):
                    found.add(name)
    return found - {"self"}


def _gives_one(value: ast.expr, makers: Set[str], stores: Set[str]) -> bool:
    match value:
        case ast.Await(value=inner):
            return _gives_one(inner, makers, stores)
        case ast.Call(func=ast.Attribute(value=held, attr=method)) if method in _ONE_OF:
            return dotted(held)[-1:] != () and dotted(held)[-1] in stores
        case ast.Call(func=function):
            return dotted(function)[-1:] != () and dotted(function)[-1] in makers
        case ast.Subscript(value=held):
            return dotted(held)[-1:] != () and dotted(held)[-1] in stores
    return False


def _stores(module: Module, class_name: str) -> Iterator[str]:
    """The names of dicts whose values are objects of the class."""
    for node in ast.walk(module.tree):
        match node:
            case ast.AnnAssign(
                target=target,
                annotation=ast.Subscript(slice=ast.Tuple(elts=[_, value])),
            ) if _is_of(value, class_name) and (names := dotted(target)):
                yield names[-1]


def _is_of(annotation: ast.expr | None, class_name: str) -> bool:
    """Whether an annotation is the class, or the class or None."""
    match annotation:
        case ast.Name(id=name) | ast.Constant(value=str() as name):
            return name.strip() in (class_name, f"{class_name} | None")
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_of(left, class_name) or _is_of(right, class_name)
        case ast.Subscript(value=value, slice=inner) if dotted(value)[-1:] == ("Optional",):
            return _is_of(inner, class_name)
    return False


class _Renaming(ast.NodeTransformer):
    """Calls one name `self`, and what was `self` something that no source can."""

    def __init__(self, name: str) -> None:
        self._names = {name: "self", "self": "another self"}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._names.get(node.arg, node.arg)
        return node
