"""Which methods clear which attributes: the resets of a hand-written class, and its partial clears.

A method is followed statement by statement, through the methods that it calls. Where its arguments
decide, as in `reset(keep_prompt=True)`, each call is followed with the arguments that it gives.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from attrs import Factory, define, field, frozen

from .members import Members
from .python import Function, own_attribute
from .targets import Targets
from .values import Scope, all_arguments, scope_of

_WORDS = ("reset", "clear", "release")
# The ends of a session, which clear everything without being told.
_ENDS = ("close", "drop", "shutdown", "end", "__exit__")
_CLEARING = frozenset(("clear", "reset", "zero_", "fill_"))
_COPYING = frozenset(("list", "tuple", "set", "dict", "deque", "deepcopy", "copy", "reversed"))
_COPIES = frozenset(("copy", "view", "clone", "detach", "items", "values"))
_CALLS = 8

Constants = Mapping[str, object]
_UNKNOWN = object()


@frozen
class Clear:
    """One way to clear: a method, or a method called with other arguments than its defaults.

    Attributes:
        name: what the schema calls it.
        is_reset: whether it is an event for the whole session, and no group of fields.
        source: the call, as the source would write it.
    """

    name: str
    is_reset: bool
    source: str
    doc: str
    cleared: frozenset[str]


@frozen
class Clears:
    resets: tuple[Clear, ...]
    groups: tuple[Clear, ...]
    ends: tuple[str, ...]


def clears_of(members: Members, targets: Targets, names: frozenset[str]) -> Clears:
    """The resets and groups of a class that keeps the attributes `names`."""
    found: list[Clear] = []
    ends: list[str] = []
    for name, function in members.methods.items():
        plain = name.strip("_")
        if name in _ENDS or plain in _ENDS:
            ends.append(name)
        elif plain.startswith(_WORDS):
            cleared = Run(members, targets, names).of(function, {})
            if cleared:
                found.append(_clear(function, cleared, members))
    resets = [one for one in found if one.is_reset]
    everything = _union(one.cleared for one in found)
    if not resets:
        resets = [one for one in found if one.cleared >= everything]
    groups = [one for one in found if one not in resets]
    resets.extend(_variants(members, targets, names, resets))
    return Clears(tuple(resets), tuple(groups), tuple(ends))


def _clear(function: Function, cleared: frozenset[str], members: Members) -> Clear:
    plain = function.name.strip("_")
    short = plain
    for word in _WORDS:
        short = short.removeprefix(f"{word}_")
    is_reset = plain in _WORDS or _calls_a_reset(function)
    return Clear(
        name="session" if plain == "reset" else short,
        is_reset=is_reset,
        source=f"{function.name}()",
        doc=ast.get_docstring(function) or "",
        cleared=cleared,
    )


def _calls_a_reset(function: Function) -> bool:
    """Whether a method is `reset()` called in another way."""
    return any(
        isinstance(node, ast.Call) and own_attribute(node.func) in _WORDS
        for node in ast.walk(function)
    )


def _variants(
    members: Members, targets: Targets, names: frozenset[str], resets: list[Clear]
) -> Iterator[Clear]:
    """Resets that are only an argument of another, and that no method of their own calls."""
    known = {one.cleared for one in resets}
    for word in _WORDS:
        function = members.methods.get(word)
        if function is None:
            continue
        for name, default in _defaults(function).items():
            if not isinstance(default, bool):
                continue
            given = {name: not default}
            cleared = Run(members, targets, names).of(function, given)
            if cleared and cleared not in known:
                known.add(cleared)
                short = name if not default else f"not_{name}"
                source = f"{word}({name}={not default})"
                yield Clear(short, True, source, f"What `{source}` clears.", cleared)


def _defaults(function: Function) -> dict[str, object]:
    """The constants that arguments have where a caller gives none."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    with_default = named[len(named) - len(arguments.defaults) :]
    pairs = [*zip(with_default, arguments.defaults, strict=True)]
    pairs += [
        (one, default)
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    ]
    return {one.arg: _constant(default) for one, default in pairs}


def _constant(node: ast.expr) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=[]) | ast.List(elts=[]):
            return ()
    return _UNKNOWN


class _Returned(Exception):
    """The method ends here, whatever else it says."""


@define
class Run:
    """What one call of a method clears; what is kept on purpose is taken out again."""

    _members: Members
    _targets: Targets
    _names: frozenset[str]
    _cleared: set[str] = Factory(set)
    _running: list[str] = Factory(list)
    _constants: Constants = field(factory=dict)
    _scope: Scope | None = None

    def of(self, function: Function, given: Constants) -> frozenset[str]:
        self._call(function, given)
        return frozenset(self._cleared & self._names)

    def _call(self, function: Function, given: Constants) -> None:
        if function.name in self._running or len(self._running) >= _CALLS:
            return
        outer = self._constants, self._scope
        self._running.append(function.name)
        self._constants = {**_defaults(function), **given}
        self._scope = scope_of(function, self._members.module)
        self._scope.local.clear()
        with suppress(_Returned):
            self._block(function.body)
        self._running.pop()
        self._constants, self._scope = outer

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If(test=test, body=body, orelse=other):
                self._branch(test, body, other)
            case ast.For(target=ast.Name(id=name), iter=values, body=body):
                self._loop(name, values, body)
            case ast.For(body=body) | ast.While(body=body) | ast.With(body=body):
                self._either(body)
            case ast.AsyncFor(body=body) | ast.AsyncWith(body=body):
                self._either(body)
            case ast.Match(cases=cases):
                for case in cases:
                    self._either(case.body)
            case (
                ast.Try(body=body, orelse=other, finalbody=final)
                | ast.TryStar(body=body, orelse=other, finalbody=final)
            ):
                self._either(body)
                self._either(other)
                self._either(final)
            case ast.Return(value=value):
                self._expressions(value)
                raise _Returned
            case ast.Assign(targets=targets, value=value):
                self._expressions(value)
                for target in targets:
                    self._assigned(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._expressions(value)
                self._assigned(target, value)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._clear(target.value if isinstance(target, ast.Subscript) else target)
            case ast.Expr(value=value):
                self._expressions(value)

    def _branch(self, test: ast.expr, body: list[ast.stmt], other: list[ast.stmt]) -> None:
        holds = self._decide(test)
        if holds is None:
            self._either(body)
            self._either(other)
        else:
            self._block(body if holds else other)

    def _either(self, body: list[ast.stmt]) -> None:
        """A block that may run or not: where it returns, the method may go on all the same."""
        with suppress(_Returned):
            self._block(body)

    def _loop(self, name: str, values: ast.expr, body: list[ast.stmt]) -> None:
        """A loop over names that are written out runs once for each: `setattr(self, name, None)`."""
        if isinstance(values, ast.Name):
            values = self._members.module.constants.get(values.id, values)
        texts = [
            item.value
            for item in (values.elts if isinstance(values, ast.Tuple | ast.List) else [])
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        for text in texts:
            self._constants = {**self._constants, name: text}
            self._either(body)
        if not texts:
            self._either(body)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            given = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for one, part in zip(target.elts, given, strict=False):
                self._assigned(one, part)
            return
        if isinstance(target, ast.Name):
            if self._scope is not None:
                self._scope.local[target.id] = [value]
            return
        name = own_attribute(target)
        if name in self._members.setters:
            self._call(self._members.setters[name], {})
        elif name is not None:
            self._set((name,), value)
        elif isinstance(target, ast.Subscript) and self._is_blank(value):
            self._clear(target.value)

    def _set(self, names: tuple[str, ...], value: ast.expr) -> None:
        kept = self._passes_on(value)
        for name in names:
            if name in kept:
                self._cleared.discard(name)
            else:
                self._cleared.add(name)

    def _clear(self, node: ast.expr) -> None:
        if self._scope is not None:
            self._cleared.update(self._targets.of(node, self._scope))

    def _expressions(self, value: ast.expr | None) -> None:
        """The calls of an expression that clear something."""
        for node in ast.walk(value) if value else ():
            if isinstance(node, ast.Call):
                self._called(node)

    def _called(self, call: ast.Call) -> None:
        match call:
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), name, value]):
                text = name.value if isinstance(name, ast.Constant) else self._value(name)
                if isinstance(text, str):
                    self._set((text,), value)
                return
            case ast.Call(func=ast.Attribute(value=held, attr=method)):
                self._method(call, held, method)

    def _method(self, call: ast.Call, held: ast.expr, method: str) -> None:
        handle = own_attribute(held)
        if isinstance(held, ast.Name) and held.id == "self":
            if method in self._members.methods:
                self._call(self._members.methods[method], self._given(call, method))
        elif handle in self._targets.handles and self._scope is not None:
            if method == "reset":
                self._cleared.update(self._names)
            elif method == "put" and len(call.args) > 1:
                self._set(self._targets.keys(call.args[0], self._scope), call.args[1])
        elif method in _CLEARING:
            self._clear(held)
        elif method in ("extend", "append") and isinstance(held, ast.Name) and self._scope:
            # A new list that is filled with the old items again passes them on.
            self._scope.local.setdefault(held.id, []).extend(call.args)

    def _given(self, call: ast.Call, method: str) -> Constants:
        """The constants that a call gives to the arguments of a method."""
        names = [one.arg for one in all_arguments(self._members.methods[method])]
        given = dict(zip(names, map(self._value, call.args), strict=False))
        return given | {one.arg: self._value(one.value) for one in call.keywords if one.arg}

    def _value(self, node: ast.expr) -> object:
        if isinstance(node, ast.Name):
            return self._constants.get(node.id, _UNKNOWN)
        return _constant(node)

    def _decide(self, test: ast.expr) -> bool | None:
        """Whether a condition holds; None where the arguments do not say."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._decide(operand)
                return None if inner is None else not inner
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as how], comparators=[other]):
                sides = self._value(left), self._value(other)
                if _UNKNOWN in sides:
                    return None
                return (sides[0] is sides[1]) == isinstance(how, ast.Is)
            case ast.BoolOp(op=operator, values=values):
                decided = [self._decide(one) for one in values]
                settling = isinstance(operator, ast.Or)
                if settling in decided:
                    return settling
                return None if None in decided else not settling
        value = self._value(test)
        return None if value is _UNKNOWN else bool(value)

    def _passes_on(self, value: ast.expr, depth: int = 0) -> frozenset[str]:
        """The attributes whose old value an expression hands on, as it is or as a copy."""
        if depth > _CALLS or self._scope is None:
            return frozenset()
        match value:
            case ast.IfExp(test=test, body=body, orelse=other):
                holds = self._decide(test)
                chosen = [body, other] if holds is None else [body if holds else other]
                return _union(self._passes_on(one, depth + 1) for one in chosen)
            case ast.Name(id=name) if name in self._scope.local:
                return _union(self._passes_on(one, depth + 1) for one in self._scope.local[name])
            case ast.Subscript(value=inner):
                return self._passes_on(inner, depth + 1)
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _COPYING:
                return self._passes_on(inner, depth + 1)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _COPIES:
                return self._passes_on(inner, depth + 1)
            case ast.BoolOp(values=values):
                return _union(self._passes_on(one, depth + 1) for one in values)
        return frozenset(self._targets.of(value, self._scope))

    def _is_blank(self, value: ast.expr) -> bool:
        match value:
            case ast.Constant(value=0 | None | False):
                return True
            case ast.List(elts=[]) | ast.Tuple(elts=[]):
                return True
        return False


def _union(found: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset(name for names in found for name in names)
