"""The descriptors that generated classes declare their fields with."""

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, get_origin, overload

import numpy as np
import torch

from .base import StateObject

if TYPE_CHECKING:
    from typing import Self

    from .view import SessionView

T = TypeVar("T")
Item = TypeVar("Item")
O = TypeVar("O", bound=StateObject[Any, Any])  # noqa: E741

Coerce = Callable[[Any], T]


def _expected(what: str, value: object) -> TypeError:
    return TypeError(f"expected {what}, got {value!r} ({type(value).__name__})")


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


def optional(coerce: Coerce[T]) -> Coerce[T | None]:
    """The coercion that lets None through."""
    return lambda value: None if value is None else coerce(value)


# What a coercion returns unchanged when the value is of exactly this type.
_UNCHANGED: dict[Any, type] = {as_int: int, as_bool: bool, as_float: float, as_str: str}


def _checked(coerce: Coerce[T], value: object, session_id: str | None, what: str) -> T:
    try:
        return coerce(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"session {session_id!r}, {what}: {error}") from None


class Field:
    """What all descriptors share: the name under which a class declares them, and their reason."""

    name = ""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.__doc__ = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class Param(Field, Generic[T]):
    """A keyword argument of a generated class, read as an attribute and never assigned.

    One that shapes objects has one value per session, the first view's; any other is the view's own.
    """

    def __init__(
        self,
        coerce: Coerce[T],
        *,
        minimum: int | float | None = None,
        maximum: int | float | None = None,
        shapes_objects: bool = False,
        doc: str = "",
    ) -> None:
        super().__init__(doc)
        self.coerce = coerce
        self._exact = _UNCHANGED.get(coerce)
        self.minimum = minimum
        self.maximum = maximum
        self.shapes_objects = shapes_objects

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> T: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | T":
        return self if view is None else cast("T", view._params[self.name])

    def __set__(self, view: "SessionView", value: T) -> None:
        raise AttributeError(
            f"session {view.session_id!r}: param {self.name!r} is fixed when a view is made; "
            f"pass {self.name}= to {type(view).__name__}"
        )

    def check(self, session_id: str | None, value: object) -> T:
        """`value` coerced. Raises TypeError, and ValueError outside the bounds."""
        checked: Any = value
        if type(value) is not self._exact:
            checked = _checked(self.coerce, value, session_id, f"param {self.name!r}")
        low, high = self.minimum, self.maximum
        if (low is not None and checked < low) or (high is not None and checked > high):
            bounds = " and ".join(
                f"at {word} {bound}"
                for word, bound in (("least", low), ("most", high))
                if bound is not None
            )
            raise ValueError(
                f"session {session_id!r}, param {self.name!r}: expected {bounds}, got {checked!r}"
            )
        return cast("T", checked)


_MISSING: Final[Any] = object()


class Attr(Field, property, Generic[T]):
    """A value that the session only carries: reading returns the very object assigned.

    `default` is shared by all sessions; a `factory` makes one for each, kept from its first read on.
    """

    # A property, since its C code calls the two closures below in half the time of a `__get__`
    # written in Python, and models read these fields many times per step.

    @overload
    def __init__(
        self, *, default: T, coerce: Coerce[T] | None = None, reason: str = ""
    ) -> None: ...
    @overload
    def __init__(
        self, *, factory: Callable[[], T], coerce: Coerce[T] | None = None, reason: str = ""
    ) -> None: ...
    def __init__(
        self,
        *,
        default: T = _MISSING,
        factory: Callable[[], T] | None = None,
        coerce: Coerce[T] | None = None,
        reason: str = "",
    ) -> None:
        if (default is _MISSING) == (factory is None):
            raise TypeError("an Attr takes either a default or a factory")
        self.default = default
        self.factory = factory
        self.coerce = coerce
        self.reason = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        read = self._plain_reader() if self.factory is None else self._making_reader(self.factory)
        property.__init__(self, read, self._writer())
        self.__doc__ = self.reason

    if TYPE_CHECKING:

        @overload
        def __get__(self, view: None, cls: type | None = None) -> Self: ...
        @overload
        def __get__(self, view: SessionView, cls: type | None = None) -> T: ...
        def __get__(self, view: SessionView | None, cls: type | None = None) -> Self | T: ...
        def __set__(self, view: SessionView, value: T) -> None: ...

    def _plain_reader(self) -> "Callable[[SessionView], T]":
        name, default = self.name, self.default

        def read(view: Any) -> Any:
            return default if view._status.closed else view._session.attrs.get(name, default)

        return read

    def _making_reader(self, factory: Callable[[], T]) -> "Callable[[SessionView], T]":
        name = self.name

        def read(view: Any) -> Any:
            if view._status.closed:
                return factory()
            attrs = view._session.attrs
            value = attrs.get(name, _MISSING)
            return attrs.setdefault(name, factory()) if value is _MISSING else value

        return read

    def _writer(self) -> "Callable[[SessionView, T], None]":
        name, coerce, exact = self.name, self.coerce, _UNCHANGED.get(self.coerce)

        def write(view: Any, value: Any) -> None:
            if view._status.closed:
                view._status.require_open(name)
            if coerce is not None and type(value) is not exact:
                value = _checked(coerce, value, view.session_id, f"field {name!r}")
            view._session.attrs[name] = value

        return write

    def clear(self, view: "SessionView") -> None:
        """Forget the value, so that the field reads as its default."""
        view._session.attrs.pop(self.name, None)


class _Stored(Field, Generic[O]):
    """A field whose value is a state object, made when the first view opens the session."""

    def __init__(
        self,
        kind: type[O],
        *,
        allocate: Callable[[Any], Mapping[str, Any]] = lambda view: {},
        reason: str = "",
    ) -> None:
        super().__init__(reason)
        # A parametrised alias would set __orig_class__ on every object that it makes.
        self.kind: type[O] = get_origin(kind) or kind
        self.allocate = allocate

    def object_of(self, view: "SessionView") -> O:
        """The session's object, allocated while the session is open; never the value it views as."""
        session = view._session
        status = session.status
        held = session.get(self.name)
        if not isinstance(held, self.kind):
            made = self._bound(self.kind(), view)
            if status.closed:
                return made
            made.allocate(**self.allocate(view))
            if held is not None:
                return session.put(self.name, made)
            return cast("O", session.setdefault(self.name, made))
        if held._cell is not status:
            self._bound(held, view)
        if not held.resident and not status.closed:
            held.allocate(**self.allocate(view))
        return held

    def clear(self, view: "SessionView") -> None:
        """Reset the object and allocate it again; one that fails to reset leaves the session."""
        held = self.object_of(view)
        try:
            held.reset()
        except Exception:
            view._session.remove(self.name)
            raise
        held.allocate(**self.allocate(view))

    def _bound(self, obj: O, view: "SessionView") -> O:
        obj._cell, obj._field = view._session.status, self.name
        return obj


class ObjectField(_Stored[O]):
    """A field that reads as its state object; it is written through the object's methods."""

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> O: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | O":
        return self if view is None else self.object_of(view)

    def __set__(self, view: "SessionView", value: object) -> None:
        raise AttributeError(
            f"session {view.session_id!r}: field {self.name!r} is a {self.kind.__name__} and is not "
            f"assigned; use append_{self.name}(), or the methods of session.{self.name}"
        )


class ViewField(_Stored[StateObject[Item, Any]], Generic[Item]):
    """A field that reads as one value: its items concatenated or stacked, None when empty.

    Assigning clears it and seeds it, a ring keeping the newest; None clears.
    """

    def __init__(
        self,
        kind: type[StateObject[Item, Any]],
        *,
        concat: int | None = None,
        stack: int | None = None,
        allocate: Callable[[Any], Mapping[str, Any]] = lambda view: {},
        reason: str = "",
    ) -> None:
        super().__init__(kind, allocate=allocate, reason=reason)
        self.concat = concat
        self.stack = stack

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> Item | None: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | Item | None":
        if view is None:
            return self
        return cast("Item | None", self._joined(self.object_of(view).view()))

    def __set__(self, view: "SessionView", value: Item | None) -> None:
        view._session.status.require_open(self.name)
        seeds = [] if value is None else self._seeds(view, value)
        held = self.object_of(view)
        for seed in seeds:
            held._vet(seed)
        self.clear(view)
        for seed in seeds:
            held.append(seed)

    def _joined(self, viewed: Any) -> Any:
        if not isinstance(viewed, list):
            return viewed
        if not viewed:
            return None
        arrays = isinstance(viewed[0], np.ndarray)
        if self.stack is not None:
            return np.stack(viewed, self.stack) if arrays else torch.stack(viewed, self.stack)
        if len(viewed) == 1:
            return viewed[0]
        along = self.concat or 0
        return np.concatenate(viewed, along) if arrays else torch.cat(viewed, along)

    def _seeds(self, view: "SessionView", value: Any) -> Iterable[Any]:
        if not isinstance(value, (torch.Tensor, np.ndarray)):
            raise TypeError(
                f"session {view.session_id!r}, field {self.name!r}: expected a tensor, an array or "
                f"None, got {type(value).__name__}"
            )
        if self.stack is None:
            return [value]
        if isinstance(value, np.ndarray):
            return list(np.moveaxis(value, self.stack, 0))
        return value.unbind(self.stack)
