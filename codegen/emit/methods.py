"""The methods of a generated class, as view objects: signature, docstring, lines."""

from collections.abc import Iterator

from attrs import frozen

from ..declared import STEPS, declarations
from ..expressions.ast import Choice, Condition, Size
from ..expressions.sizes import names_in
from ..expressions.types import may_be_none, members
from ..model import Default, Dim, Field, Group, Handoff, Param, Reset, Schema, Unset
from . import python
from .fields import item_type
from .literals import LINE, call, docstring, string, width

_BODY = 8


@frozen
class Method:
    """A generated method; the lines of its body are laid out for their place in a class."""

    signature: str
    docstring: str
    lines: tuple[str, ...]
    decorator: str = ""


def _def(name: str, arguments: list[str], returns: str) -> str:
    return call(f"def {name}", arguments, 4, f" -> {returns}:")


def _statement(head: str, arguments: list[str]) -> str:
    return call(head, arguments, _BODY)


def init(schema: Schema) -> Method:
    arguments = ["self", "session_id: str | None", "manager: SessionStateManager"]
    if schema.params:
        arguments += ["*", *(_parameter(param, param.default) for param in schema.params)]
    given = [f"{param.name}={param.name}" for param in schema.params]
    return Method(
        _def("__init__", arguments, "None"),
        docstring(
            "Open the session `session_id` of `manager`, or join it where it is open.", _BODY
        ),
        (_statement("self._open", ["session_id", "manager", *given]),),
    )


def _parameter(param: Param, default: Default | Unset) -> str:
    text = f"{param.name}: {python.type_text(param.type)}"
    if isinstance(default, Unset):
        return text
    return f"{text} = {python.plain_text(default)}"


def append(field: Field) -> Method:
    what = "frames" if field.kind == "FrameRing" else "one item"
    return Method(
        _def(f"append_{field.name}", ["self", f"item: {item_type(field)}"], "None"),
        docstring(f"Append {what} to `{field.name}`.", _BODY),
        (_statement(f"self.object({string(field.name)}).append", ["item"]),),
    )


def reset(schema: Schema, event: Reset) -> Method:
    names = [field.name for field in schema.fields if event.name not in field.survives]
    return Method(
        _def(f"reset_{event.name}", ["self"], "None"),
        docstring(event.doc, _BODY),
        (_statement("self._clear", list(map(string, names))),),
    )


def group_reset(group: Group) -> Method:
    return Method(
        _def(f"reset_{group.name}", ["self"], "None"),
        docstring(f"Clear the fields of `{group.name}` together.", _BODY),
        (_statement("self._clear", list(map(string, group.fields))),),
    )


def lend(schema: Schema, handoff: Handoff) -> Method:
    """The loan of one key's values where the handoff names an axis, of whole fields otherwise."""
    arguments, key, what = ["self", "module: Any"], "None", "fields"
    for axis in schema.axes:
        if axis.name == handoff.by:
            of = "int" if axis.kind == "range" else "str"
            arguments += ["*", f"{axis.name}: {of}"]
            key, what = axis.name, f"one {axis.name}"
    lent = [f"{string(one.attribute)}: {string(one.field)}" for one in handoff.lend]
    given = [f"lent={python.sequence('{}', lent, _BODY + 4, len('lent='))}"]
    if handoff.fresh:
        fresh = [f"{string(one.attribute)}: {_literal(one.value)}" for one in handoff.fresh]
        given.append(f"fresh={python.sequence('{}', fresh, _BODY + 4, len('fresh='))}")
    return Method(
        _def(f"lend_{handoff.name}", arguments, "AbstractContextManager[None]"),
        docstring(f"Lend {what} to attributes of `module` for the time of a call.", _BODY),
        (call("return self._lend", ["module", key, *given], _BODY),),
    )


def _literal(value: Default) -> str:
    """A value that is made anew each time that the line runs: a list where there are several."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(python.plain_text, value))}]"
    return python.plain_text(value)


def reset_reason(schema: Schema) -> Method:
    """Each value that a rule names is read once, so that a type checker can follow its tests."""
    arguments = [f"{one.name}: {python.type_text(one.type)}" for one in schema.arguments]
    used = {name.name for rule in schema.reset_rules for name in names_in(rule.condition)}
    names = [*(param.name for param in schema.params), *(field.name for field in schema.fields)]
    own = [name for name in names if name in used]
    named = {rule.reset for rule in schema.reset_rules}
    resets = [string(event.name) for event in schema.resets if event.name in named]
    lines = [f"{name}{_widened(schema, name)} = self.{name}" for name in own]
    for rule in schema.reset_rules:
        for test in _ifs(rule.condition):
            lines += [test, f"    return {string(rule.reset)}"]
    return Method(
        _def("reset_reason", ["self", *arguments], f"Literal[{', '.join(resets)}] | None"),
        docstring(
            "The reset that is due before the next forward(); the first rule that holds.", _BODY
        ),
        (*lines, "return None"),
    )


def _widened(schema: Schema, name: str) -> str:
    """A value of few texts is compared as a str: a checker would refuse to test it twice."""
    types = {field.name: field.type for field in schema.fields}
    found = types.get(name)
    if found is None or not any(isinstance(one, Choice) for one in members(found)):
        return ""
    return ": str | None" if may_be_none(found) else ": str"


def _ifs(condition: Condition) -> Iterator[str]:
    """The tests of a rule: one where it fits a line, else one for each of its alternatives."""
    room = LINE - _BODY - len("if :")
    if width(python.condition_text(condition)) <= room:
        yield f"if {python.condition_text(condition)}:"
        return
    inner = "\n" + " " * (_BODY + 4)
    for one in python.alternatives(condition):
        lines = python.condition_lines(one, room, LINE - _BODY - 4)
        if len(lines) == 1:
            yield f"if {lines[0]}:"
        else:
            yield f"if ({inner}{inner.join(lines)}\n{' ' * _BODY}):"


def _derived(dim: Dim) -> str:
    """A dim that follows from others, unless the caller gave it."""
    size, rest = python.size_text(dim.size), f"if {dim.name} is None else {dim.name}"
    flat = f"{dim.name} = {size} {rest}"
    if _BODY + width(flat) <= LINE:
        return flat
    inner = "\n" + " " * (_BODY + 4)
    room = LINE - _BODY - 4
    if width(f"{size} {rest}") <= room:
        lines = [f"{size} {rest}"]
    else:
        lines = [
            *python.size_lines(dim.size, room),
            f"if {dim.name} is None",
            f"else {dim.name}",
        ]
    return f"{dim.name} = ({inner}{inner.join(lines)}\n{' ' * _BODY})"


def declared_nbytes(schema: Schema) -> Method:
    """One keyword per dim and param; a dim that follows from others is computed when left out."""
    found = [(field, one) for field in schema.fields for one in declarations(schema, field)]
    used = {name.name for _, one in found for term in one.terms for name in names_in(term)}
    grows = STEPS in used
    derived = [dim for dim in schema.dims if names_in(dim.size)]
    arguments = ["cls", "*"]
    if grows:
        arguments.append(f"{STEPS}: int = {schema.horizon}")
    arguments.append('accelerator: str = "cuda:0"')
    if schema.default_dtype:
        arguments.append(f"dtype: str = {string(schema.default_dtype)}")
    arguments += [_parameter(param, _shipped(param)) for param in schema.params]
    arguments += [_dim(dim) for dim in schema.dims]
    lines = [_statement(f"{one.name} = cls.{one.name}.check", [one.name]) for one in schema.params]
    lines += map(_derived, derived)
    sizes = [STEPS] * grows + [item.name for item in schema.dims]
    if sizes:
        lines.append(_statement("check_sizes", [f"{name}={name}" for name in sizes]))
    lines.append("declared = DeclaredBytes()")
    for field, one in found:
        device = "accelerator" if field.device == "accelerator" else '"cpu"'
        item = "dtype" if one.dtype is None else string(one.dtype)
        terms = [_term(term) for term in one.terms]
        lines.append(_statement("declared.add", [string(field.name), device, item, *terms]))
    what = "generation" if schema.scope == "generation" else "session"
    after = f" after `{STEPS}` steps" if grows else ""
    return Method(
        _def("declared_nbytes", arguments, "DeclaredBytes"),
        docstring(f"The most bytes that one {what} holds{after}, per device.", _BODY),
        (*lines, "return declared"),
        decorator="classmethod",
    )


def _term(term: Size) -> str:
    inner = _BODY + 4
    return f"\n{' ' * inner}".join(python.size_lines(term, LINE - inner, after=1))


def _shipped(param: Param) -> Default | Unset:
    return param.shipped if isinstance(param.default, Unset) else param.default


def _dim(dim: Dim) -> str:
    if names_in(dim.size):
        return f"{dim.name}: int | None = None"
    return f"{dim.name}: int = {python.size_text(dim.size)}"
