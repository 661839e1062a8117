"""Rules about the names that a schema gives."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from ..expressions.types import ATOMS
from ..model import Schema
from ..names import EMITTED, KEYWORDS, SURFACE, generated_names, is_identifier, spelling
from ..span import Span
from .problem import Problem, value_in, value_of

# Files of a package that no model may take.
_PACKAGE_FILES = frozenset({"__init__", "__main__"})
_LOOK_LIKE_DIGITS = ("l", "O", "I")


@frozen
class _Named:
    """A name of a schema: what it names, and what else answers to it."""

    what: str
    name: str
    at: Span
    taken: frozenset[str] = EMITTED


def _named(schema: Schema) -> Iterator[_Named]:
    members = SURFACE | EMITTED
    for field in schema.fields:
        yield _Named("field", field.name, field.at, members)
    for param in schema.params:
        yield _Named("param", param.name, param.at, members)
    for dim in schema.dims:
        yield _Named("dim", dim.name, dim.at)
    for axis in schema.axes:
        yield _Named("axis", axis.name, axis.at)
    for record in schema.records:
        yield _Named("record", record.name, record.at, EMITTED | set(ATOMS))
        for member in record.members:
            yield _Named("member", member.name, member.at)
    for argument in schema.arguments:
        yield _Named("argument", argument.name, argument.at)
    if schema.class_name:
        yield _Named("class", schema.class_name, value_in(schema, "class"))


def _methods(schema: Schema) -> Iterator[tuple[str, _Named]]:
    """Resets, groups and handoffs, each with the name of the method that the class gets for it."""
    for reset in schema.resets:
        yield f"reset_{reset.name}", _Named("reset", reset.name, reset.at)
    for group in schema.groups:
        yield f"reset_{group.name}", _Named("group", group.name, group.at)
    for handoff in schema.handoffs:
        yield f"lend_{handoff.name}", _Named("handoff", handoff.name, handoff.at)


def _owned(schema: Schema) -> Iterator[_Named]:
    """What others keep: no code names it, and fields are rebuilt from it by name."""
    for one in schema.elsewhere:
        yield _Named("value of `elsewhere`", one.name, one.at)


def bad_names(schema: Schema) -> Iterator[Problem]:
    """Names that are no Python names, and a model that no module can be named after."""
    methods = (named for _, named in _methods(schema))
    for named in (*_named(schema), *methods, *_owned(schema)):
        if not is_identifier(named.name):
            close = spelling(named.name)
            hint = f"call it `{close}`" if close else "use letters, digits and underscores"
            article = "an" if named.what[0] in "ae" else "a"
            what = f"{article} {named.what}"
            message = f"`{named.name}` is not a name that Python code can use for {what}."
            yield Problem(named.at, message, hint)
        elif named.name in _LOOK_LIKE_DIGITS:
            message = f"`{named.name}` reads like a digit, and linters refuse it."
            yield Problem(named.at, message, "use two letters")
    module = schema.module
    if schema.model and (
        module in _PACKAGE_FILES or module in KEYWORDS or not is_identifier(module)
    ):
        message = f"The model `{schema.model}` would be the module `{module}`, which cannot be."
        hint = "name the model as its authors do, starting with a letter"
        yield Problem(value_in(schema, "model"), message, hint)


def reserved_names(schema: Schema) -> Iterator[Problem]:
    """Names that Python, the session's own surface, or generated code already answers to."""
    methods = generated_names(schema)
    for named in _named(schema):
        if reason := _taken(named):
            yield _rename(named, reason)
        elif named.what in ("field", "param") and named.name in methods:
            yield _rename(named, f"is the method that {methods[named.name]} gets")
    for method, named in _methods(schema):
        if named.name.startswith("_"):
            yield _rename(named, "starts with an underscore, which is the runtime's own space")
        elif method in SURFACE | EMITTED:
            yield _rename(named, f"would replace the generated method `{method}`")


def _taken(named: _Named) -> str | None:
    """Why a name cannot be had, or None."""
    if named.name in KEYWORDS:
        return "is a Python keyword"
    if is_identifier(named.name) and named.name.startswith("_"):
        return "starts with an underscore, which is the runtime's own space"
    if named.name in EMITTED:
        return "is a name that the generated code itself uses"
    if named.name in named.taken:
        return "is a name of the session's own interface"
    return None


def _rename(named: _Named, reason: str) -> Problem:
    plain = named.name.strip("_")
    hint = f"call it `{plain}_`, or name what it holds" if plain else "name what it holds"
    return Problem(named.at, f"`{named.name}` {reason}.", hint)


def duplicate_names(schema: Schema) -> Iterator[Problem]:
    """Two things of one name, where code would have one thing for both."""
    params = [_Named("param", param.name, param.at) for param in schema.params]
    fields = [_Named("field", field.name, field.at) for field in schema.fields]
    dims = [_Named("dim", dim.name, dim.at) for dim in schema.dims]
    arguments = [_Named("argument", one.name, one.at) for one in schema.arguments]
    yield from _repeated(params, dims)
    yield from _repeated(params, fields)
    yield from _repeated([*params, *fields], arguments)
    yield from _repeated(fields, _owned(schema))
    axes = [_Named("axis", axis.name, axis.at) for axis in schema.axes]
    yield from _repeated([*params, *dims], axes)
    yield from _constants(axes)
    records = [_Named("record", record.name, record.at) for record in schema.records]
    of_class = [_Named("class", schema.class_name, value_in(schema, "class"))]
    yield from _repeated([*params, *fields, *of_class], records)
    methods = [named for _, named in _methods(schema)]
    resets = [named for named in methods if named.what == "reset"]
    yield from _repeated(resets, [named for named in methods if named.what == "group"])


def _constants(axes: Iterable[_Named]) -> Iterator[Problem]:
    """Axes that differ in case only: generated code has a constant for each, in upper case."""
    known: dict[str, _Named] = {}
    for axis in axes:
        other = known.setdefault(axis.name.upper(), axis)
        if other is not axis:
            message = f"The axes `{other.name}` and `{axis.name}` differ in nothing but case."
            yield Problem(axis.at, message, "give one of them another name")


def _repeated(first: Iterable[_Named], second: Iterable[_Named]) -> Iterator[Problem]:
    known = {named.name: named for named in first}
    for named in second:
        if other := known.get(named.name):
            message = (
                f"The {named.what} `{named.name}` has the name of the {other.what} "
                f"in line {other.at.line}."
            )
            yield Problem(named.at, message, "give one of them another name")


def bad_renames(schema: Schema) -> Iterator[Problem]:
    """Fields renamed from one that is still there, or from one that another took the name of."""
    heirs: dict[str, str] = {}
    known = {field.name for field in schema.fields}
    for field in schema.fields:
        old, at = field.renamed_from, value_of(field, "renamed_from")
        if old is None:
            continue
        if old == field.name:
            message = f"`{old}` is renamed from itself."
            yield Problem(at, message, "write the name that it had, or take `renamed_from` out")
        elif old in known:
            message = f"`{old}` is still a field, so `{field.name}` cannot have been it."
            yield Problem(at, message, f"take `{old}` out, or `renamed_from`")
        elif (heir := heirs.setdefault(old, field.name)) != field.name:
            message = f"`{heir}` is renamed from `{old}`, too: one of the two is new."
            yield Problem(at, message, "take `renamed_from` out of the new one")


def duplicate_modules(schemas: Iterable[Schema]) -> Iterator[tuple[Schema, Problem]]:
    """Two models that would be written to one module."""
    first: dict[str, Schema] = {}
    for schema in schemas:
        other = first.setdefault(schema.module, schema)
        if other is not schema and schema.model:
            message = (
                f"`{schema.model}` would be written to `{schema.module}.py`, as `{other.model}` "
                f"of {other.path} is."
            )
            hint = "give one of the two models another name"
            yield schema, Problem(value_in(schema, "model"), message, hint)
