"""What an expression shows of the value that it gives: its type, its bound, where it lies."""

import ast
from collections.abc import Mapping

from attrs import Factory, define, frozen

from .python import Function, Module, dotted, keyword, own_attribute
from .types import (
    NDARRAY,
    NONE,
    OPAQUE,
    TENSOR,
    UNKNOWN,
    Member,
    Type,
    only,
    read_annotation,
    union,
)

_DEPTH = 12
_SCALARS = ("int", "float", "bool", "str")
_BUILT = {"list": "list", "sorted": "list", "set": "set", "frozenset": "set", "tuple": "tuple"}
# What a tensor's methods give another tensor by.
_METHODS = """
    clone contiguous cpu cuda detach expand flatten float half long permute repeat reshape
    squeeze to transpose type_as unsqueeze view
"""
_TENSOR_METHODS = frozenset(_METHODS.split())
_COPIES = frozenset(("clone", "contiguous", "copy", "cpu", "cuda", "detach", "to", "view"))
# Functions of torch and numpy that give no tensor or array.
_NOT_ARRAYS = frozenset(("device", "dtype", "Generator", "is_tensor", "no_grad", "inference_mode"))


@define
class Scope:
    """The names of one method: its arguments, and what its locals are assigned."""

    module: Module
    arguments: Mapping[str, Type] = Factory(dict)
    local: dict[str, list[ast.expr]] = Factory(dict)


@frozen
class Bound:
    """How many items a ring holds, as the source writes it, and along which dimension."""

    size: ast.expr
    along: int | None = None


def scope_of(function: Function | None, module: Module) -> Scope:
    """The names that are known inside `function`."""
    if function is None:
        return Scope(module)
    arguments = {
        one.arg: read_annotation(one.annotation, module) for one in all_arguments(function)
    }
    scope = Scope(module, arguments)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                scope.local.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                scope.local.setdefault(name, []).append(value)
    return scope


def all_arguments(function: Function) -> list[ast.arg]:
    """The arguments of a function behind `self`."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one for one in named if one.arg != "self"]


def infer(node: ast.expr | None, scope: Scope, depth: int = 0) -> Type:
    """The type of an expression, as far as it can be read off."""
    if node is None or depth > _DEPTH:
        return UNKNOWN
    match node:
        case ast.Constant(value=value):
            return _of_constant(value)
        case ast.List(elts=items):
            return (Member("list", _one_of(items, scope, depth)),)
        case ast.Set(elts=items):
            return (Member("set", _one_of(items, scope, depth)),)
        case ast.Tuple(elts=items):
            return (Member("tuple", tuple(infer(one, scope, depth + 1) for one in items)),)
        case ast.Dict(keys=keys, values=values):
            named = [key for key in keys if key is not None]
            inner = (*_one_of(named, scope, depth), *_one_of(values, scope, depth))
            return (Member("dict", inner if len(inner) == 2 else ()),)
        case ast.ListComp(elt=item):
            return (Member("list", _one_of([item], scope, depth)),)
        case ast.SetComp(elt=item):
            return (Member("set", _one_of([item], scope, depth)),)
        case ast.DictComp():
            return (Member("dict"),)
        case ast.JoinedStr():
            return (Member("str"),)
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return (Member("bool"),)
        case ast.UnaryOp(operand=inner_node):
            return infer(inner_node, scope, depth + 1)
        case ast.Lambda():
            return (OPAQUE,)
    return _combined(node, scope, depth)


def _combined(node: ast.expr, scope: Scope, depth: int) -> Type:
    match node:
        case ast.BoolOp(values=values):
            return union(*(infer(one, scope, depth + 1) for one in values))
        case ast.IfExp(body=body, orelse=other):
            return union(infer(body, scope, depth + 1), infer(other, scope, depth + 1))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divided = union(infer(left, scope, depth + 1), infer(right, scope, depth + 1))
            return divided if TENSOR in divided or NDARRAY in divided else (Member("float"),)
        case ast.BinOp(left=left, right=right):
            return _arithmetic(infer(left, scope, depth + 1), infer(right, scope, depth + 1))
        case ast.Name(id=name):
            return _named(name, scope, depth)
        case ast.Subscript(value=value):
            held = infer(value, scope, depth + 1)
            return tuple(member for member in held if member in (TENSOR, NDARRAY))
        case ast.Call():
            return _called(node, scope, depth)
        case ast.Attribute() if own_attribute(node) is None and dotted(node)[0:1]:
            # A member of an enum, or a constant of a class: a value that the language cannot spell.
            return (OPAQUE,) if dotted(node)[0][:1].isupper() else UNKNOWN
    return UNKNOWN


def _of_constant(value: object) -> Type:
    if value is None:
        return (NONE,)
    name = type(value).__name__
    return (Member(name),) if name in _SCALARS else (OPAQUE,)


def _one_of(nodes: list[ast.expr], scope: Scope, depth: int) -> tuple[Type, ...]:
    found = union(*(infer(node, scope, depth + 1) for node in nodes))
    return (found,) if found else ()


def _arithmetic(left: Type, right: Type) -> Type:
    for member in (*left, *right):
        if member in (TENSOR, NDARRAY) or member.name in ("list", "tuple"):
            return (member,)
    both = union(left, right)
    return (Member("float"),) if Member("float") in both else both


def _named(name: str, scope: Scope, depth: int) -> Type:
    if name in scope.local:
        assigned = [infer(one, scope, depth + 1) for one in scope.local[name]]
        return union(scope.arguments.get(name, UNKNOWN), *assigned)
    if name in scope.arguments:
        return scope.arguments[name]
    constant = scope.module.constant(name)
    # A name that is its own constant has been followed already.
    return UNKNOWN if constant is None else infer(constant, Scope(scope.module), depth + 1)


def _called(call: ast.Call, scope: Scope, depth: int) -> Type:
    names = dotted(call.func)
    name = names[-1] if names else ""
    if len(names) == 1:
        if name in _SCALARS:
            return (Member(name),)
        if name == "len":
            return (Member("int"),)
        if name in _BUILT:
            held = only(infer(call.args[0], scope, depth + 1)) if call.args else None
            items = held.items if held and held.name in ("list", "set") else ()
            return (Member(_BUILT[name], items, variadic=name == "tuple" and bool(items)),)
    if name == "deque":
        held = only(infer(call.args[0], scope, depth + 1)) if call.args else None
        return (Member("list", held.items if held else ()),)
    if name in ("dict", "OrderedDict", "defaultdict") or names == ("dict", "fromkeys"):
        given = infer(call.args[0], scope, depth + 1) if len(names) == 1 and call.args else UNKNOWN
        return tuple(one for one in given if one.name == "dict") or (Member("dict"),)
    return _of_library(call, names, scope, depth)


def _of_library(call: ast.Call, names: tuple[str, ...], scope: Scope, depth: int) -> Type:
    root = scope.module.roots.get(names[0]) if names else None
    if root in ("torch", "numpy") and names[-1] == "Generator":
        return (Member("Generator"),)
    if root == "torch" and len(names) == 2 and names[1] not in _NOT_ARRAYS:
        return (TENSOR,)
    if root == "numpy" and len(names) == 2:
        return (NDARRAY,)
    if isinstance(call.func, ast.Attribute):
        held = infer(call.func.value, scope, depth + 1)
        if TENSOR in held and call.func.attr in _TENSOR_METHODS:
            return (TENSOR,)
        if call.func.attr in _COPIES:
            return held
    # Only a class is called by a capitalised name.
    return (OPAQUE,) if names and names[-1].lstrip("_")[:1].isupper() else UNKNOWN


def bound_of(node: ast.expr | None) -> Bound | None:
    """The bound of a `deque(maxlen=...)`."""
    if isinstance(node, ast.Call) and dotted(node.func)[-1:] == ("deque",):
        size = keyword(node, "maxlen", 1)
        if size is not None and not (isinstance(size, ast.Constant) and size.value is None):
            return Bound(size)
    return None


def tail_of(node: ast.expr) -> tuple[ast.expr, Bound] | None:
    """What a slice of the newest is taken of, and its bound: `x[-n:]`, `x[:, :, -n:]`."""
    if not isinstance(node, ast.Subscript):
        return None
    slices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    *before, last = slices
    match last:
        case ast.Slice(lower=ast.UnaryOp(op=ast.USub(), operand=size), upper=None, step=None):
            if all(isinstance(one, ast.Slice) and _is_whole(one) for one in before):
                return node.value, Bound(size, len(before))
    return None


def _is_whole(one: ast.Slice) -> bool:
    return one.lower is None and one.upper is None and one.step is None


def is_on_host(node: ast.expr | None, scope: Scope, depth: int = 0) -> bool:
    """Whether an expression moves its value to the host: `.cpu()`, `.to("cpu")`, `device="cpu"`."""
    if node is None or depth > _DEPTH:
        return False
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            if method == "cpu" or any(map(_is_cpu, _device_arguments(node, method))):
                return True
            return method in _TENSOR_METHODS and is_on_host(value, scope, depth + 1)
        case ast.Name(id=name) if name in scope.local:
            return any(is_on_host(one, scope, depth + 1) for one in scope.local[name])
    return False


def _device_arguments(call: ast.Call, method: str) -> list[ast.expr]:
    named = [one.value for one in call.keywords if one.arg == "device"]
    return [*named, *(call.args if method == "to" else ())]


def _is_cpu(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value="cpu"):
            return True
        case ast.Call(func=function, args=[inner, *_]) if dotted(function)[-1:] == ("device",):
            return _is_cpu(inner)
    return False


def dtype_in(node: ast.expr | None, module: Module) -> str | None:
    """The dtype that a call names: `torch.zeros(1, dtype=torch.int64)`."""
    if isinstance(node, ast.Call):
        names = dotted(keyword(node, "dtype") or ast.Constant(None))
        if len(names) == 2 and module.roots.get(names[0]) in ("torch", "numpy"):
            return names[1]
    return None
