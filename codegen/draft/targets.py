"""What an expression of a method refers to: an attribute, or a key of the session behind an adapter.

A class that keeps its values in a session of the manager writes `self._session.put("frames", ...)`
or `self._session.attrs["steps"] = ...`, and reads them through properties and methods of its own.
Both ends are resolved here to the name of what is kept.
"""

import ast
from collections.abc import Iterator

from .members import Members
from .python import Function, dotted, own_attribute
from .types import UNKNOWN, Type, read_annotation, union, without_none
from .values import Scope, scope_of

_DEPTH = 8


class Targets:
    """The names that expressions of one class refer to."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self.handles = frozenset(self._handles())
        # Keys that are put together: `und_kv/{layer}`.
        self.families: set[str] = set()

    def of(self, node: ast.expr, scope: Scope, depth: int = 0) -> tuple[str, ...]:
        """The attributes or keys whose value `node` is."""
        if depth > _DEPTH:
            return ()
        name = own_attribute(node)
        if name is not None:
            getter = self._members.properties.get(name)
            return self._returned(getter, depth) if getter else (name,)
        match node:
            case ast.Name(id=local) if local in scope.local:
                return _all(self.of(one, scope, depth + 1) for one in scope.local[local])
            case ast.IfExp(body=body, orelse=other):
                return _all(self.of(one, scope, depth + 1) for one in (body, other))
            case ast.Subscript(value=value, slice=key) if self._is_attrs(value):
                return self.keys(key, scope)
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]) if (
                self._is_attrs(value) or own_attribute(value) in self.handles
            ):
                return self.keys(key, scope)
            case ast.Call(
                func=ast.Attribute(value=value, attr="get_or_create"), args=[key, *_]
            ) if own_attribute(value) in self.handles:
                return self.keys(key, scope)
            case ast.Call(func=function) if (called := own_attribute(function)) is not None:
                return self._returned(self._members.methods.get(called), depth)
        return ()

    def keys(self, node: ast.expr, scope: Scope, depth: int = 0) -> tuple[str, ...]:
        """The names of a session's keys; of a key that is put together, its constant head."""
        if depth > _DEPTH:
            return ()
        match node:
            case ast.Constant(value=str() as text):
                return (text,) if text else ()
            case ast.JoinedStr(values=[ast.Constant(value=str() as head), *_]):
                name = head.partition("/")[0]
                self.families.add(name)
                return (name,) if name else ()
            case ast.IfExp(body=body, orelse=other):
                return _all(self.keys(one, scope, depth + 1) for one in (body, other))
            case ast.Name(id=name):
                constant = self._members.module.constant(name)
                local = scope.local.get(name) or ([constant] if constant else [])
                return _all(self.keys(one, scope, depth + 1) for one in local)
            case ast.Call(func=ast.Name(id=name)) if name in self._members.module.functions:
                function = self._members.module.functions[name]
                inner = scope_of(function, self._members.module)
                return _all(self.keys(one, inner, depth + 1) for one in returns(function))
        return ()

    def accessed(self) -> Iterator[tuple[str, Type, ast.expr]]:
        """Keys with the types that the properties and methods which return them are annotated with."""
        for function in (*self._members.properties.values(), *self._members.methods.values()):
            if function.returns is None:
                continue
            type_ = read_annotation(function.returns, self._members.module)
            for name in self._returned(function, 0):
                yield name, type_, function.returns

    def stored(self, node: ast.expr | None, scope: Scope) -> Type:
        """The payload of a `StateObject[Payload, View]` of this file that `node` constructs."""
        nodes = scope.local.get(node.id, []) if isinstance(node, ast.Name) else [node]
        return union(*(self._payload(one) for one in nodes))

    def _payload(self, node: ast.expr | None) -> Type:
        name = (
            node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        )
        found = self._members.module.classes.get(name)
        for base in found.bases if found else ():
            match base:
                case ast.Subscript(value=value, slice=ast.Tuple(elts=[payload, *_])) if dotted(
                    value
                )[-1:] == ("StateObject",):
                    return without_none(read_annotation(payload, self._members.module))
        return UNKNOWN

    def _returned(self, function: Function | None, depth: int) -> tuple[str, ...]:
        if function is None:
            return ()
        scope = scope_of(function, self._members.module)
        return _all(self.of(one, scope, depth + 1) for one in returns(function))

    def _is_attrs(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Attribute)
            and node.attr == "attrs"
            and own_attribute(node.value) in self.handles
        )

    def _handles(self) -> Iterator[str]:
        """Attributes that hold a session of the manager."""
        for function in self._members.methods.values():
            for node in ast.walk(function):
                match node:
                    case ast.Assign(
                        targets=[target],
                        value=ast.Call(func=ast.Attribute(attr="get_or_create_session")),
                    ) if (name := own_attribute(target)) is not None:
                        yield name


def returns(function: Function) -> list[ast.expr]:
    """The expressions that a function returns."""
    found = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return [value for value in found if value is not None]


def _all(found: Iterator[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in found for name in names))
