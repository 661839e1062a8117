"""What a state class keeps: its attributes with all that its source says of each."""

import ast
from collections.abc import Iterator, Mapping
from typing import Literal

from attrs import define, frozen

from .clears import Clears, clears_of
from .members import Declaration, Members, members_of
from .python import Module, dotted, own_attribute
from .targets import Targets
from .types import (
    NONE,
    OPAQUE,
    TENSOR,
    UNKNOWN,
    Member,
    Type,
    dtype_of,
    is_container,
    only,
    read_annotation,
    union,
    without_none,
)
from .values import Bound, Scope, dtype_in, infer, is_on_host
from .writes import Write, writes_of, writes_outside

Written = Literal["assign", "in_place", "append", "ring"]

# Names by which a hand-written class knows its session; a generated one has its own.
IDENTITY = frozenset(("session_id",))
_SCALARS = tuple((Member(name),) for name in ("int", "float", "bool", "str"))


@frozen
class Attribute:
    """One attribute of a state class.

    Attributes:
        type: its type, or that of what it holds where it is appended to.
        start: what it starts as; None where only its constructor's caller knows.
        bound: of a ring, None where the source does not show it.
        joins: whether it grows by joining tensors, along the dimension `along`.
    """

    name: str
    line: int
    type: Type
    start: ast.expr | None
    written: Written
    bound: Bound | None
    joins: bool
    along: int | None
    on_host: bool
    dtype: str | None
    annotation: str | None
    is_family: bool
    is_argument: bool


@define(frozen=True, eq=False)
class State:
    """A state class as its source shows it.

    Attributes:
        params: scalar arguments of the constructor that nothing writes again.
        identity: attributes that hold the session's id.
        handles: attributes that hold a session of the manager.
    """

    members: Members
    attributes: tuple[Attribute, ...]
    params: tuple[Attribute, ...]
    identity: tuple[str, ...]
    handles: tuple[str, ...]
    clears: Clears


def read_state(module: Module, node: ast.ClassDef) -> State:
    """What the class keeps, in the order in which its source mentions it."""
    members = members_of(module, node)
    targets = Targets(members)
    writes = writes_of(members, targets)
    accessed = {name: (type_, at) for name, type_, at in targets.accessed()}
    names = _names(members, writes, targets)
    writes += [write for write in writes_outside(members, targets) if write.name in names]
    by_name: dict[str, list[Write]] = {name: [] for name in names}
    for write in writes:
        if write.name in by_name:
            by_name[write.name].append(write)
    tensors = frozenset(_given_to_torch(members))
    found = {
        name: _attribute(name, members, by_name[name], targets, accessed.get(name), name in tensors)
        for name in names
    }
    identity = tuple(name for name in names if name.lstrip("_") in IDENTITY)
    params = [
        name for name in names if name not in identity and _is_param(name, found, by_name, members)
    ]
    kept = [name for name in names if name not in (*params, *identity)]
    return State(
        members=members,
        attributes=tuple(found[name] for name in kept),
        params=tuple(found[name] for name in params),
        identity=identity,
        handles=tuple(sorted(targets.handles)),
        clears=clears_of(members, targets, frozenset(kept)),
    )


def _names(members: Members, writes: list[Write], targets: Targets) -> list[str]:
    declared = [*members.declarations, *members.slots]
    written = [write.name for write in writes]
    found = dict.fromkeys((*declared, *written))
    # A property may be the way to a key of the same name, which the writes then name.
    skipped = members.methods.keys() | targets.handles | (members.properties.keys() - set(written))
    return [name for name in found if name not in skipped and not _is_pythons(name)]


def _is_pythons(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _attribute(
    name: str,
    members: Members,
    writes: list[Write],
    targets: Targets,
    accessed: tuple[Type, ast.expr] | None,
    given_to_torch: bool,
) -> Attribute:
    declared = members.declarations.get(name)
    assigned = [write for write in writes if write.how == "assign"]
    appended = [write for write in writes if write.how == "append"]
    buffer = _buffer_of(assigned, members)
    bound = next((write.bound for write in writes if write.bound), None)
    bound = buffer.bound if buffer else bound
    start, scope = _start(name, declared, assigned, members)
    type_ = _annotated(declared, writes, members) or (accessed[0] if accessed else UNKNOWN)
    if buffer and buffer.type:
        type_ = buffer.type
    inferred = union(
        infer(declared.value, Scope(members.module)) if declared else UNKNOWN,
        *(
            targets.stored(write.value, write.scope) or infer(write.value, write.scope)
            for write in assigned
        ),
    )
    if _says_nothing(type_) and not _says_nothing(inferred):
        type_ = union(inferred, tuple(one for one in type_ if one == NONE))
    type_ = type_ or inferred or _of_constant(name, members)
    if not without_none(type_) and given_to_torch:
        type_ = union((TENSOR,), type_)
    type_ = _filled(type_, inferred, appended)
    joins = any(write.joins for write in writes)
    values = [write for write in writes if write.value is not None]
    annotation = declared.annotation if declared else _annotation_in(writes)
    return Attribute(
        name=name,
        line=declared.line
        if declared
        else min((one.line for one in writes), default=members.slots.get(name, 1)),
        type=type_,
        start=start,
        written=_written(writes, bound, buffer is not None),
        bound=bound,
        joins=joins,
        along=next((write.along for write in appended if write.joins), None),
        on_host=any(is_on_host(write.value, write.scope) for write in values),
        dtype=dtype_of(annotation)
        or next((found for one in values if (found := dtype_in(one.value, members.module))), None)
        or (dtype_in(start, members.module) if scope else None),
        annotation=ast.unparse(annotation) if annotation else None,
        is_family=name in targets.families,
        is_argument=bool(declared and declared.is_argument)
        or isinstance(start, ast.Name)
        and start.id in scope.arguments,
    )


@frozen
class _Buffer:
    type: Type
    bound: Bound | None


def _buffer_of(assigned: list[Write], members: Members) -> _Buffer | None:
    """The `LatentBuffer` that a method of the class makes and allocates."""
    for write in assigned:
        match write.value:
            case ast.Call(func=function) if own_attribute(function) in members.methods:
                made = members.methods[own_attribute(function) or ""]
            case ast.Attribute() if own_attribute(write.value) in members.methods:
                made = members.methods[own_attribute(write.value) or ""]
            case _:
                continue
        for node in ast.walk(made):
            match node:
                case ast.Call(func=ast.Attribute(attr="allocate"), keywords=keywords):
                    size = next((one.value for one in keywords if one.arg == "maxlen"), None)
                    none = size is None or (isinstance(size, ast.Constant) and size.value is None)
                    bound = None if none or size is None else Bound(size)
                    return _Buffer(read_annotation(made.returns, members.module), bound)
    return None


def _annotation_in(writes: list[Write]) -> ast.expr | None:
    return next((write.annotation for write in writes if write.annotation is not None), None)


def _says_nothing(type_: Type) -> bool:
    """Whether a type is unknown, None alone, or `Any`."""
    return without_none(type_) in (UNKNOWN, (OPAQUE,))


def _given_to_torch(members: Members) -> Iterator[str]:
    """The attributes that a function of torch is given: `torch.equal(self.prompt, tokens)`."""
    roots = members.module.roots
    for function in members.methods.values():
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and roots.get("".join(dotted(node.func)[:1])) == "torch":
                yield from (name for one in node.args if (name := own_attribute(one)) is not None)


def _annotated(declared: Declaration | None, writes: list[Write], members: Members) -> Type:
    if declared is not None and declared.type:
        return declared.type
    annotated = [write.annotation for write in writes if write.annotation is not None]
    return union(*(read_annotation(one, members.module) for one in annotated))


def _of_constant(name: str, members: Members) -> Type:
    return infer(members.constants.get(name), Scope(members.module))


def _filled(type_: Type, inferred: Type, appended: list[Write]) -> Type:
    """The type with what is appended in its containers, where it does not say what is in them."""
    if any(write.joins for write in appended):
        joined = (TENSOR,) if _says_nothing(type_) else without_none(type_)
        return union(joined, tuple(one for one in type_ if one == NONE))
    items = union(*(_item(write) for write in appended))
    held = only(type_) if type_ else Member("list")
    if held is None or not is_container(held) or any(held.items):
        return type_
    if not items:
        known = next((one for one in inferred if one.name == held.name and one.items), None)
        return union((known,), type_) if known else type_
    if held.name != "list":
        return type_
    return union((Member("list", (items,)),), tuple(one for one in type_ if one.name != "list"))


def _item(write: Write) -> Type:
    """The type of one item of what a place appends."""
    found = infer(write.value, write.scope)
    if not write.is_list:
        return found
    held = only(found)
    return held.items[0] if held and held.name in ("list", "set") and held.items else UNKNOWN


def _start(
    name: str, declared: Declaration | None, assigned: list[Write], members: Members
) -> tuple[ast.expr | None, Scope]:
    """What the attribute is when its object is new, and the names that expression sees."""
    if declared is not None and declared.value is not None:
        return declared.value, Scope(members.module)
    if declared is not None and declared.is_argument:
        return None, Scope(members.module)
    if name in members.constants:
        return members.constants[name], Scope(members.module)
    for method in _at_birth(members):
        for write in assigned:
            if write.method == method:
                return write.value, write.scope
    return None, Scope(members.module)


def _at_birth(members: Members) -> Iterator[str]:
    """The methods that run while the object is made: `__init__`, and those of its own it calls."""
    waiting, seen = list(members.initialisers), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        for node in ast.walk(members.methods[name]):
            called = own_attribute(node.func) if isinstance(node, ast.Call) else None
            if called in members.methods and called is not None:
                waiting.append(called)


def _written(writes: list[Write], bound: Bound | None, is_buffer: bool) -> Written:
    if bound is not None:
        return "ring"
    hows: set[str] = {write.how for write in writes}
    if "append" in hows or is_buffer:
        return "append"
    return "in_place" if "in_place" in hows else "assign"


def _is_param(
    name: str,
    found: Mapping[str, Attribute],
    writes: Mapping[str, list[Write]],
    members: Members,
) -> bool:
    """Whether an attribute is an argument of the constructor that shapes, and is no state."""
    attribute = found[name]
    if attribute.type not in _SCALARS or members.style != "plain":
        return False
    if not (attribute.is_argument and all(one.method == "__init__" for one in writes[name])):
        return False
    return OPAQUE not in attribute.type


def default_of_argument(state: State, attribute: Attribute) -> ast.expr | None:
    """The default of the constructor's argument that an attribute is assigned."""
    function = state.members.methods.get("__init__")
    if function is None or not isinstance(attribute.start, ast.Name):
        return None
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    with_default = named[len(named) - len(arguments.defaults) :]
    pairs = [
        *zip(with_default, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return next((value for one, value in pairs if one.arg == attribute.start.id), None)
