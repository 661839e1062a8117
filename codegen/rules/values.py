"""Rules about defaults, bounds and dtypes."""

from collections.abc import Iterator

from ..declared import ARRAY_DTYPES, ITEMSIZE
from ..expressions.ast import Atom, Choice, Generic, Type
from ..expressions.types import (
    NAMES,
    atoms,
    containers,
    holds_bytes,
    may_be_none,
    members,
    mentions_record,
    show,
)
from ..model import Default, Described, Field, Plain, Schema, Unset
from ..span import Span
from .placement import misplaced_keys
from .problem import Problem, did_you_mean, key_of, value_in, value_of

_PARAM_TYPES = (Atom("int"), Atom("float"), Atom("bool"), Atom("str"))


def param_types(schema: Schema) -> Iterator[Problem]:
    """Params of a type that the generated class does not check when it is constructed."""
    for param in schema.params:
        if not is_param_type(param.type):
            message = f"A param cannot be {show(param.type)}: a session checks what it is given."
            hint = f"use int, float, bool or str, each with `| None` or not, or {show(NAMES)}"
            yield Problem(param.keys["type"][1], message, hint)


def is_param_type(type_: Type) -> bool:
    """Whether a session can be given values of this type, and compare and keep them."""
    present = [member for member in members(type_) if member != Atom("None")]
    return type_ == NAMES or (len(present) == 1 and present[0] in _PARAM_TYPES)


def missing_defaults(schema: Schema) -> Iterator[Problem]:
    """Attrs and Values that have no value before the first assignment."""
    for field in schema.fields:
        if not field.is_assigned or field.type is None or may_be_none(field.type):
            continue
        # A key of a family is absent until it is written, as an object is that is placed wrongly.
        if "per" in field.keys or misplaced_keys(field):
            continue
        if "default" not in field.keys:
            message = (
                f"`{field.name}` is {show(field.type)} and has no value before it is assigned."
            )
            written = mentions_record(field.type) or holds_bytes(field.type)
            absent = written or field.written == "once"
            hint = "write `| None` behind its type" if absent else "add `default:`, or `| None`"
            yield Problem(field.at, message, hint)


def bad_defaults(schema: Schema) -> Iterator[Problem]:
    """Defaults that are no value of their type."""
    for param in schema.params:
        for key, value in (("default", param.default), ("shipped", param.shipped)):
            yield from _bad_default(value, param.type, param.keys.get(key, (param.at,) * 2)[1])
    for field in schema.fields:
        if field.type is not None and field.is_assigned:
            yield from _bad_default(field.default, field.type, value_of(field, "default"))
        yield from _default_of_nothing(field)


def _default_of_nothing(field: Field) -> Iterator[Problem]:
    """A default where what was never written has to be seen as that."""
    if isinstance(field.default, Unset) or field.default is None or misplaced_keys(field):
        return
    at = value_of(field, "default")
    if "per" in field.keys:
        message = f"A key of `{field.name}` is absent until it is written, and has no default."
        yield Problem(at, message, "take it out, and ask `key in ...` for what may be absent")
    elif field.written == "once":
        message = f"`{field.name}` is written once, so until then it is None and not a value."
        yield Problem(at, message, "take it out, and write `| None` behind the type")


def _bad_default(value: Default | Unset, type_: Type, at: Span) -> Iterator[Problem]:
    if isinstance(value, Unset):
        return
    fitting = [member for member in members(type_) if _fits(value, member)]
    if not fitting:
        if mentions_record(type_) or holds_bytes(type_):
            hint = "leave the default out, and write `| None` behind the type"
        else:
            hint = f"give a value of {show(type_)}, or change the type"
        shown = list(value) if isinstance(value, tuple) else value
        yield Problem(at, f"{shown!r} is not a value of {show(type_)}.", hint)
    elif isinstance(value, tuple) and len(containers(type_)) > 1:
        kinds = " or ".join(f"a {member.origin}" for member in containers(type_))
        message = f"A list stands for {kinds} here, and does not say for which."
        yield Problem(at, message, "name one of them in the type")
    elif (
        isinstance(value, tuple)
        and containers(type_)[0].origin == "set"
        and len(set(value)) < len(value)
    ):
        twice = next(item for index, item in enumerate(value) if item in value[:index])
        yield Problem(at, f"A set has {twice!r} once.", "list each item once")


def _fits(value: Default, type_: Type) -> bool:
    match type_:
        case Choice(values=values):
            return value in values
        case Generic(origin=origin, arguments=arguments, variadic=variadic):
            if not isinstance(value, tuple):
                return False
            if origin == "tuple" and not variadic:
                pairs = zip(value, arguments, strict=False)
                return len(value) == len(arguments) and all(_fits_any(*pair) for pair in pairs)
            # Only an empty dict can be written as a default.
            return not value if origin == "dict" else all(_fits_any(v, arguments[0]) for v in value)
        case Atom(name=name):
            return {
                "None": value is None,
                "bool": isinstance(value, bool),
                "int": isinstance(value, int) and not isinstance(value, bool),
                "float": isinstance(value, float),
                "str": isinstance(value, str),
            }.get(name, False)
    return False


def _fits_any(value: Plain, type_: Type) -> bool:
    return any(_fits(value, member) for member in members(type_))


def bad_ranges(schema: Schema) -> Iterator[Problem]:
    """Bounds of params that exclude each other or the param's own values."""
    for param in schema.params:
        low, high = param.minimum, param.maximum
        if low is not None and high is not None and low > high:
            message = f"No value of `{param.name}` is at least {low} and at most {high}."
            yield Problem(param.keys["max"][1], message, "raise `max`, or lower `min`")
            continue
        for key, value in (("default", param.default), ("shipped", param.shipped)):
            if not isinstance(value, int) or isinstance(value, bool):
                continue
            if (low is not None and value < low) or (high is not None and value > high):
                bound = f"at least {low}" if low is not None and value < low else f"at most {high}"
                message = f"`{param.name}` must be {bound}; its {key} is {value}."
                yield Problem(param.keys[key][1], message, "change one of the two")


def bad_dtypes(schema: Schema) -> Iterator[Problem]:
    """Dtypes that nobody has, or that an array cannot have."""
    if schema.default_dtype is not None and schema.default_dtype not in ITEMSIZE:
        at = value_in(schema, "defaults.dtype")
        yield _unknown_dtype(schema.default_dtype, at, list(ITEMSIZE))
    for field in schema.described:
        if field.dtype is None or field.type is None:
            continue
        names = list(ITEMSIZE)
        if any(atom.name == "ndarray" for atom in atoms(field.type)):
            names = [name for name in ITEMSIZE if name in ARRAY_DTYPES]
        if field.dtype not in names:
            yield _unknown_dtype(field.dtype, value_of(field, "dtype"), names)


def _unknown_dtype(dtype: str, at: Span, names: list[str]) -> Problem:
    if dtype in ITEMSIZE:
        return Problem(at, f"NumPy has no dtype `{dtype}`.", "store the array as another dtype")
    plain = dtype.removeprefix("torch.").removeprefix("np.").removeprefix("numpy.")
    hint = did_you_mean(plain, names, f"the dtypes are {', '.join(names)}")
    return Problem(at, f"`{dtype}` is not a dtype.", hint)


def missing_dtypes(schema: Schema) -> Iterator[Problem]:
    """Fields that hold bytes of a dtype that is named nowhere."""
    without: list[Described] = []
    for field in schema.described:
        sized = [key for key in ("shape", "entries") if key in field.keys]
        if field.type is None or not holds_bytes(field.type) or "dtype" in field.keys or not sized:
            continue
        if any(atom.name == "ndarray" for atom in atoms(field.type)):
            message = f"`{field.name}` is an array, and the default dtype is of tensors."
            yield Problem(key_of(field, sized[0]), message, "add `dtype: uint8`, say")
        elif schema.default_dtype is None and not _default_dtype_refused(schema):
            without.append(field)
    if without:
        others = f", as do {len(without) - 1} more," if without[1:] else ""
        message = f"`{without[0].name}` holds bytes{others} and no dtype says how many per element."
        hint = "add `dtype:` to `defaults`, or to each field"
        first = "shape" if "shape" in without[0].keys else "entries"
        yield Problem(key_of(without[0], first), message, hint)


def _default_dtype_refused(schema: Schema) -> bool:
    return "defaults" in schema.keys and not schema.complete
