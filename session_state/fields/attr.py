"""Fields that the session only carries."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

from ..coercions import UNCHANGED, Coerce, checked
from ..errors import FieldFrozen, SessionClosed
from ..objects import is_same
from .base import Field

if TYPE_CHECKING:
    from typing import Self

    from ..view import SessionView

T = TypeVar("T")

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
        in_place: bool = False,
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
        in_place: bool = False,
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
        in_place: bool = False,
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
        self.in_place = in_place
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
            if name not in view._touched:
                view._status.reads(name)
            return view._carried.get(name, default)

        return read

    def _making_reader(self, factory: Callable[[], T]) -> "Callable[[SessionView], T]":
        name = self.name

        def read(view: Any) -> Any:
            if name not in view._touched:
                view._status.reads(name)
            value = view._carried.get(name, _MISSING)
            if value is not _MISSING:
                return value
            return factory() if view._status.closed else view._carried.setdefault(name, factory())

        return read

    def _writer(self) -> "Callable[[SessionView, T], None]":
        name, coerce, exact = self.name, self.coerce, UNCHANGED.get(self.coerce)

        def write(view: Any, value: Any) -> None:
            touched = view._touched
            if name not in touched:
                view._status.writes(name)
            view._carried[name] = value
            if name not in touched:
                wrote(view, name)

        if coerce is None:
            return write

        def write_checked(view: Any, value: Any) -> None:
            # Before the mark is looked at, since a coercion may run code that ends the session.
            if type(value) is not exact:
                value = checked(coerce, value, f"session {view.session_id!r}, field {name!r}")
            write(view, value)

        return write_checked

    def _careful_writer(
        self, plain: "Callable[[SessionView, T], None]"
    ) -> "Callable[[SessionView, T], None]":
        """Writes that keep the first value, or take the fields along that depend on it."""

        def write(view: Any, value: Any) -> None:
            attrs = view._carried
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
        view._carried.pop(self.name, None)
        view._status.touch(self.name)


def wrote(view: Any, name: str) -> None:
    """Mark a field that was written; what reached a session that ended meanwhile is taken back."""
    try:
        view._status.wrote(name)
    except SessionClosed:
        view._carried.pop(name, None)
        raise
