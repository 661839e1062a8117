"""The descriptors that generated classes declare their fields with."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast, get_origin, overload

import numpy as np
import torch

from .axes import Axis
from .base import StateObject
from .coercions import UNCHANGED, Coerce, checked
from .errors import FieldFrozen
from .objects import is_same

if TYPE_CHECKING:
    from typing import Self

    from .view import SessionView

T = TypeVar("T")
Item = TypeVar("Item")
Kept = TypeVar("Kept", bound=StateObject[Any, Any])


class Field:
    """What all descriptors share: their name in a class, their reason, and what ends them.

    A field is cleared when one of `invalidated_by` is cleared or replaced. Which fields end with
    this one is a matter of the class, since a subclass may add some.
    """

    name = ""
    axes: tuple[Axis, ...] = ()

    def __init__(self, reason: str, invalidated_by: tuple[str, ...] = ()) -> None:
        self.reason = reason
        self.invalidated_by = invalidated_by
        self.__doc__ = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def watch(self) -> None:
        """Look out for changes from now on: a class has fields that end with this one."""

    def open(self, view: "SessionView") -> None:
        """Make what the first view of a session makes."""

    def clear(self, view: "SessionView") -> None:
        """Go back to what a new session has."""

    def _invalidate(self, view: "SessionView") -> None:
        for name in view._dependents[self.name]:
            view._declared[name].clear(view)


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
        self._exact = UNCHANGED.get(coerce)
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

    def check(self, value: object) -> T:
        """`value` coerced. Raises TypeError, and ValueError outside the bounds or beyond 64 bits."""
        found: Any = value
        if type(value) is not self._exact:
            found = checked(self.coerce, value, f"param {self.name!r}")
        low, high = self.minimum, self.maximum
        # Written so that a NaN is outside of any bound.
        if (low is not None and not found >= low) or (high is not None and not found <= high):
            bounds = " and ".join(
                f"at {word} {bound}"
                for word, bound in (("least", low), ("most", high))
                if bound is not None
            )
            raise ValueError(f"param {self.name!r}: expected {bounds}, got {found!r}")
        if type(found) is int and found.bit_length() > 63:
            raise ValueError(f"param {self.name!r}: expected at most 2**63 - 1")
        return cast("T", found)


_MISSING: Final[Any] = object()


class Attr(Field, property, Generic[T]):
    """A value that the session only carries: reading returns the very object assigned.

    `default` is shared by all sessions; a `factory` makes one for each, kept from its first read on.
    """

    # A property, since its C code calls the two closures below in half the time of a `__get__`
    # written in Python, and models read these fields many times per step.

    @overload
    def __init__(
        self,
        *,
        default: T,
        coerce: Coerce[T] | None = None,
        once: bool = False,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        factory: Callable[[], T],
        coerce: Coerce[T] | None = None,
        once: bool = False,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None: ...
    def __init__(
        self,
        *,
        default: T = _MISSING,
        factory: Callable[[], T] | None = None,
        coerce: Coerce[T] | None = None,
        once: bool = False,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        if (default is _MISSING) == (factory is None):
            raise TypeError("an Attr takes either a default or a factory")
        if once and default is not None:
            raise TypeError("an Attr that is written once defaults to None")
        self.default = default
        self.factory = factory
        self.coerce = coerce
        self.once = once
        self.watched = False
        self.reason = reason
        self.invalidated_by = invalidated_by

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self._make_accessors()

    def watch(self) -> None:
        """Compare what is assigned with what was there; other fields keep the plain writer."""
        self.watched = True
        self._make_accessors()

    def _make_accessors(self) -> None:
        read = self._plain_reader() if self.factory is None else self._making_reader(self.factory)
        write = self._writer()
        if self.once or self.watched:
            write = self._careful_writer(write)
        property.__init__(self, read, write)
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
        name, coerce, exact = self.name, self.coerce, UNCHANGED.get(self.coerce)

        def write(view: Any, value: Any) -> None:
            if coerce is not None and type(value) is not exact:
                value = checked(coerce, value, f"session {view.session_id!r}, field {name!r}")
            # Last, since a coercion may run code that ends the session.
            if view._status.closed:
                view._status.require_open(name)
            view._session.attrs[name] = value

        return write

    def _careful_writer(
        self, plain: "Callable[[SessionView, T], None]"
    ) -> "Callable[[SessionView, T], None]":
        """Writes that keep the first value, or take the fields along that depend on it."""

        def write(view: Any, value: Any) -> None:
            attrs = view._session.attrs
            held = attrs.get(self.name, None if self.default is _MISSING else self.default)
            if self.once and held is not None and not view._status.closed:
                if self.coerce is not None:
                    value = checked(
                        self.coerce, value, f"session {view.session_id!r}, {self.name!r}"
                    )
                if not is_same(held, value):
                    raise FieldFrozen(
                        f"session {view.session_id!r}, field {self.name!r}: it is written once and "
                        "holds a value; reset it before writing another"
                    )
                return
            plain(view, value)
            if not is_same(held, attrs.get(self.name)):
                self._invalidate(view)

        return write

    def clear(self, view: "SessionView") -> None:
        """Forget the value, so that the field reads as its default."""
        view._session.attrs.pop(self.name, None)


class _Stored(Field, Generic[Kept]):
    """A field whose value is a state object, made when the first view opens the session."""

    def __init__(
        self,
        kind: type[Kept],
        *,
        allocate: Callable[[Any], Mapping[str, Any]] = lambda view: {},
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        super().__init__(reason, invalidated_by)
        # A parametrised alias would set __orig_class__ on every object that it makes.
        self.kind: type[Kept] = get_origin(kind) or kind
        self.allocate = allocate

    def object_of(self, view: "SessionView") -> Kept:
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
            return cast("Kept", session.setdefault(self.name, made))
        if held._cell is not status:
            self._bound(held, view)
        if not held.resident and not status.closed:
            held.allocate(**self.allocate(view))
        return held

    def open(self, view: "SessionView") -> None:
        """Make the session's object."""
        self.object_of(view)

    def clear(self, view: "SessionView") -> None:
        """Reset the object and allocate it again; one that fails to reset leaves the session."""
        held = self.object_of(view)
        try:
            held.reset()
        except Exception:
            view._session.remove(self.name)
            raise
        held.allocate(**self.allocate(view))

    def _bound(self, obj: Kept, view: "SessionView") -> Kept:
        obj._cell, obj._field = view._session.status, self.name
        return obj


class ObjectField(_Stored[Kept]):
    """A field that reads as its state object; it is written through the object's methods."""

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> Kept: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | Kept":
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
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        super().__init__(kind, allocate=allocate, invalidated_by=invalidated_by, reason=reason)
        self.concat = concat
        self.stack = stack

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> Item | None: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | Item | None":
        if view is None:
            return self
        try:
            return cast("Item | None", self._joined(self.object_of(view).view()))
        except (RuntimeError, TypeError, ValueError) as error:
            raise ValueError(
                f"session {view.session_id!r}, field {self.name!r}: its items do not read as one "
                f"value ({error})"
            ) from error

    def __set__(self, view: "SessionView", value: Item | None) -> None:
        view._session.status.require_open(self.name)
        seeds = self.vet(view, value)
        held = self.object_of(view)
        self.clear(view)
        for seed in seeds:
            held.append(seed)
        self._invalidate(view)

    def vet(self, view: "SessionView", value: Any) -> Iterable[Any]:
        """The items that seed the field with `value`. Raises what assigning it would raise."""
        seeds = [] if value is None else self._seeds(view, value)
        for seed in seeds:
            self.object_of(view)._vet(seed)
        return seeds

    def _joined(self, viewed: Any) -> Any:
        if not isinstance(viewed, list):
            return viewed
        if not viewed:
            return None
        if self.stack is None and len(viewed) == 1:
            return viewed[0]
        arrays = isinstance(viewed[0], np.ndarray)
        if self.stack is not None:
            return np.stack(viewed, self.stack) if arrays else torch.stack(viewed, self.stack)
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
