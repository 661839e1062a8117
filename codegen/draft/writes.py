"""How the methods of a class write what it keeps."""

import ast
from collections.abc import Iterator
from typing import Literal

from attrs import frozen

from .members import Members
from .outside import handlers
from .python import Function, dotted, keyword, own_attribute
from .targets import Targets
from .values import Bound, Scope, bound_of, scope_of, tail_of

How = Literal["assign", "in_place", "append"]

_APPENDING = frozenset(("append", "appendleft", "extend", "extendleft", "insert"))
_METHODS = """
    add difference_update discard move_to_end pop popitem popleft put_nowait remove reverse
    rotate setdefault sort update
"""
_MUTATING = frozenset(_METHODS.split())
_JOINING = frozenset(("cat", "concat", "concatenate", "hstack", "vstack", "append", "dstack"))


@frozen
class Write:
    """One place that writes an attribute.

    Attributes:
        method: of the class itself; empty where code outside it writes.
        value: what is assigned or, of `append`, one item; None where no expression says it.
        annotation: of an annotated assignment.
        bound: of a ring, where this place shows it.
        is_list: whether `value` is several items.
        along: of what grows by joining tensors, the dimension.
    """

    name: str
    how: How
    value: ast.expr | None
    method: str
    scope: Scope
    line: int
    annotation: ast.expr | None = None
    bound: Bound | None = None
    is_list: bool = False
    joins: bool = False
    along: int | None = None


def writes_of(members: Members, targets: Targets) -> list[Write]:
    """Every write of every method, in the order of the source."""
    functions = (*members.methods.values(), *members.setters.values(), *members.properties.values())
    found: list[Write] = []
    for function in functions:
        found.extend(_Writes(function, members, targets, function.name).all())
    return found


def writes_outside(members: Members, targets: Targets) -> list[Write]:
    """The writes of functions of the same file that hold an object of the class."""
    found: list[Write] = []
    for function in handlers(members.module, members.node):
        found.extend(_Writes(function, members, targets, "").all())
    return found


class _Writes:
    """The writes of one method."""

    def __init__(self, function: Function, members: Members, targets: Targets, method: str) -> None:
        self._function = function
        self._method_name = method
        self._members = members
        self._targets = targets
        self._scope = scope_of(function, members.module)

    def all(self) -> Iterator[Write]:
        for node in _in_order(self._function):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        yield from self._assigned(target, value, None)
                case ast.AnnAssign(target=target, annotation=annotation, value=value):
                    yield from self._assigned(target, value, annotation)
                case ast.withitem(optional_vars=ast.expr() as target):
                    yield from self._assigned(target, None, None)
                case ast.For(target=target) | ast.AsyncFor(target=target):
                    yield from self._assigned(target, None, None)
                case ast.AugAssign(target=target, value=value):
                    yield from self._augmented(target, value)
                case ast.Delete(targets=targets):
                    for target in targets:
                        yield from self._deleted(target)
                case ast.Call():
                    yield from self._called(node)
                case ast.If(test=test, body=body) | ast.While(test=test, body=body):
                    yield from self._trimmed(test, body)

    def _write(
        self,
        names: tuple[str, ...],
        how: How,
        value: ast.expr | None,
        at: ast.AST,
        *,
        annotation: ast.expr | None = None,
        bound: Bound | None = None,
        is_list: bool = False,
        joins: bool = False,
        along: int | None = None,
    ) -> Iterator[Write]:
        for name in names:
            yield Write(
                name=name,
                how=how,
                value=value,
                method=self._method_name,
                scope=self._scope,
                line=getattr(at, "lineno", self._function.lineno),
                annotation=annotation,
                bound=bound,
                is_list=is_list,
                joins=joins,
                along=along,
            )

    def _assigned(
        self, target: ast.expr, value: ast.expr | None, annotation: ast.expr | None
    ) -> Iterator[Write]:
        if isinstance(target, ast.Tuple | ast.List):
            given = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            paired = given if len(given) == len(target.elts) else [None] * len(target.elts)
            for one, part in zip(target.elts, paired, strict=True):
                yield from self._assigned(one, part, None)
            return
        if isinstance(target, ast.Starred):
            target, value = target.value, None
        name = own_attribute(target)
        if name in self._members.properties:
            return
        if name is not None:
            yield from self._bound_to((name,), value, target, annotation)
            return
        keys = self._targets.of(target, self._scope) if isinstance(target, ast.Subscript) else ()
        if keys:
            yield from self._bound_to(keys, value, target, None)
            return
        yield from self._inside(target)

    def _bound_to(
        self,
        names: tuple[str, ...],
        value: ast.expr | None,
        at: ast.AST,
        annotation: ast.expr | None,
    ) -> Iterator[Write]:
        """An assignment, which may be of itself with more behind it, or of its newest part."""
        bound = bound_of(value)
        grown = value
        if value is not None and (tail := tail_of(value)) and self._mentions(tail[0], names):
            grown, bound = tail
        added = self._added(grown, names) if grown is not None else None
        if added is None and (bound is None or bound == bound_of(value)):
            yield from self._write(names, "assign", value, at, annotation=annotation, bound=bound)
            return
        items, joins, along = added or (None, bound is not None and bool(bound.along), None)
        yield from self._write(
            names, "append", items, at, bound=bound, is_list=not joins, joins=joins, along=along
        )

    def _added(
        self, value: ast.expr, names: tuple[str, ...]
    ) -> tuple[ast.expr | None, bool, int | None] | None:
        """What is put behind the old value, and whether tensors are joined, along which dimension."""
        match value:
            case ast.Name(id=local) if len(self._scope.local.get(local, ())) == 1:
                return self._added(self._scope.local[local][0], names)
            case ast.IfExp(body=body, orelse=other):
                return self._added(body, names) or self._added(other, names)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if self._mentions(left, names):
                is_list = isinstance(right, ast.List | ast.ListComp | ast.Call)
                return (right, False, None) if is_list else None
            case ast.Call(func=function, args=[ast.List() | ast.Tuple() as parts, *_]) if (
                dotted(function)[-1:] and dotted(function)[-1] in _JOINING
            ):
                rest = [part for part in parts.elts if not self._mentions(part, names)]
                if len(rest) == len(parts.elts):
                    return None
                along = keyword(value, "dim", 1) or keyword(value, "axis", 1)
                dimension = 0 if along is None else self._members.module.integer(along)
                return rest[0] if rest else None, True, dimension
        return None

    def _mentions(self, node: ast.expr, names: tuple[str, ...]) -> bool:
        """Whether the old value is in an expression, and not its length alone."""
        return any(
            own_attribute(one) in names for one in ast.walk(node) if isinstance(one, ast.Attribute)
        ) or bool(set(self._targets.of(node, self._scope)) & set(names))

    def _augmented(self, target: ast.expr, value: ast.expr) -> Iterator[Write]:
        name = own_attribute(target)
        if name is None or name in self._members.properties:
            yield from self._inside(target)
        elif isinstance(value, ast.List | ast.ListComp):
            yield from self._write((name,), "append", value, target, is_list=True)
        else:
            yield from self._write((name,), "assign", value, target)

    def _deleted(self, target: ast.expr) -> Iterator[Write]:
        match target:
            case ast.Subscript(
                value=value, slice=ast.Slice(lower=None, upper=ast.UnaryOp() as cut)
            ):
                names = self._targets.of(value, self._scope)
                if isinstance(cut.op, ast.USub):
                    bound = Bound(cut.operand)
                    yield from self._write(names, "in_place", None, target, bound=bound)
                    return
        yield from self._inside(target)

    def _inside(self, target: ast.expr) -> Iterator[Write]:
        """A write to a part of a value: an item of it, or an attribute of it."""
        node = target
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
            names = self._targets.of(node, self._scope)
            if names and not self._is_handle(names):
                yield from self._write(names, "in_place", None, target)
                return

    def _called(self, call: ast.Call) -> Iterator[Write]:
        for one in call.keywords:
            if one.arg == "out":
                yield from self._write(
                    self._targets.of(one.value, self._scope), "in_place", None, call
                )
        match call:
            case ast.Call(
                func=ast.Name(id="setattr"),
                args=[ast.Name(id="self"), ast.Constant(value=str() as name), value],
            ):
                yield from self._write((name,), "assign", value, call)
            case ast.Call(func=ast.Attribute(value=held, attr=method)):
                yield from self._method(call, held, method)

    def _method(self, call: ast.Call, held: ast.expr, method: str) -> Iterator[Write]:
        if own_attribute(held) in self._targets.handles:
            if method in ("put", "get_or_create") and len(call.args) > 1:
                names = self._targets.keys(call.args[0], self._scope)
                yield from self._write(names, "assign", call.args[1], call)
            return
        names = self._targets.of(held, self._scope)
        if self._is_handle(names):
            return
        if method in _APPENDING and call.args:
            is_list = method.startswith("extend")
            yield from self._write(names, "append", call.args[-1], call, is_list=is_list)
        elif method in _MUTATING or _is_torch_in_place(method):
            yield from self._write(names, "in_place", None, call)

    def _trimmed(self, test: ast.expr, body: list[ast.stmt]) -> Iterator[Write]:
        """`if len(self.x) > n:` before the oldest is dropped."""
        match test:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="len"), args=[value]),
                ops=[ast.Gt() | ast.GtE()],
                comparators=[size],
            ):
                names = self._targets.of(value, self._scope)
                if names and any(self._drops_oldest(statement, names) for statement in body):
                    yield from self._write(names, "in_place", None, test, bound=Bound(size))

    def _drops_oldest(self, statement: ast.stmt, names: tuple[str, ...]) -> bool:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=method), args=args)):
                first = [ast.dump(one) for one in args] == [ast.dump(ast.Constant(0))]
                dropped = method in ("popleft", "popitem") or (method == "pop" and first)
            case ast.Delete(targets=[ast.Subscript(value=value, slice=ast.Constant(value=0))]):
                dropped = True
            case _:
                return False
        return dropped and bool(set(self._targets.of(value, self._scope)) & set(names))

    def _is_handle(self, names: tuple[str, ...]) -> bool:
        return not self._targets.handles.isdisjoint(names)


def _is_torch_in_place(method: str) -> bool:
    """`copy_`, `fill_`, `add_`: torch's spelling of what writes into its tensor."""
    return method.endswith("_") and not method.startswith("_") and method != "requires_grad_"


def _in_order(function: Function) -> Iterator[ast.AST]:
    """The nodes of a method as they are written, without those of classes inside it."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.ClassDef):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
