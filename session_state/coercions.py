"""What an assigned scalar becomes, or why it is refused."""

from collections.abc import Callable
from operator import index
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import numpy as np

T = TypeVar("T")

Coerce = Callable[[Any], T]


def _expected(what: str, value: object) -> TypeError:
    kind = type(value).__name__
    # Anything else may be large to show, or lie on a device.
    shown = f"{value!r} ({kind})" if isinstance(value, (bool, int, float, str)) else kind
    return TypeError(f"expected {what}, got {shown}")


def as_int(value: Any) -> int:
    """`value` as a plain int, through `operator.index`; TypeError for what is no integer."""
    if type(value) is int:
        return value
    try:
        return int(index(value))
    except TypeError:
        raise _expected("int", value) from None


def as_bool(value: Any) -> bool:
    """`value` when it is a bool; TypeError for everything else, 0 and 1 included."""
    if type(value) is bool:
        return value
    raise _expected("bool", value)


def as_float(value: Any) -> float:
    """`value` as a plain float, from an int, a float or a NumPy float; TypeError otherwise."""
    if isinstance(value, (int, float, np.floating)) and not isinstance(value, bool):
        return float(value)
    raise _expected("float", value)


def as_str(value: Any) -> str:
    """`value` when it is a str; TypeError otherwise."""
    if isinstance(value, str):
        return value
    raise _expected("str", value)


def as_names(value: Any) -> tuple[str, ...]:
    """`value`, a list or tuple of one or more distinct non-empty strs, as a tuple; none has a slash.

    The names are keys of families, and a slash separates the keys of one value.
    """
    if not isinstance(value, (list, tuple)) or not all(type(name) is str for name in value):
        raise _expected("a tuple of str", value)
    if not value or len(set(value)) < len(value) or any(not one or "/" in one for one in value):
        raise ValueError(f"expected one or more distinct names without a slash, got {value!r}")
    return tuple(value)


def optional(coerce: Coerce[T]) -> Coerce[T | None]:
    """The coercion that lets None through."""
    return lambda value: None if value is None else coerce(value)


# What a coercion returns unchanged when the value is of exactly this type.
UNCHANGED: dict[Any, type] = {as_int: int, as_bool: bool, as_float: float, as_str: str}


def checked(coerce: Coerce[T], value: object, place: str) -> T:
    """`value` coerced; what that raises begins with `place`."""
    try:
        return coerce(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}") from None


def conforms(value: object, annotation: Any) -> bool:
    """Whether a value is of the type that a schema declared, items of tuples and lists included."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(conforms(value, one) for one in arguments)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return isinstance(value, tuple) and all(conforms(one, arguments[0]) for one in value)
        return (
            isinstance(value, tuple)
            and len(value) == len(arguments)
            and all(map(conforms, value, arguments))
        )
    if origin is list:
        return isinstance(value, list) and all(conforms(one, arguments[0]) for one in value)
    kind = object if annotation is Any else origin or annotation
    return not isinstance(kind, type) or isinstance(value, kind)
