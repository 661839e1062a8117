"""Fields whose value is an object of one value."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, Unpack, overload

from ..coercions import UNCHANGED, Coerce, checked
from ..objects import is_same
from ..values import Value
from .base import Acting
from .stored import Stored

if TYPE_CHECKING:
    from typing import Self

    from ..view import SessionView

T = TypeVar("T")

_MISSING: Final[Any] = object()


class ValueField(Stored[Value[T]], Generic[T]):
    """A field that reads as the very object assigned, and that the manager may act on.

    `default` is shared by all sessions; a `factory` makes one for each.
    """

    @overload
    def __init__(
        self,
        *,
        default: T,
        coerce: Coerce[T] | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
        **acting: Unpack[Acting],
    ) -> None: ...
    @overload
    def __init__(
        self,
        *,
        factory: Callable[[], T],
        coerce: Coerce[T] | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
        **acting: Unpack[Acting],
    ) -> None: ...
    def __init__(
        self,
        *,
        default: T = _MISSING,
        factory: Callable[[], T] | None = None,
        coerce: Coerce[T] | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
        **acting: Unpack[Acting],
    ) -> None:
        if (default is _MISSING) == (factory is None):
            raise TypeError("a ValueField takes either a default or a factory")
        self.factory: Callable[[], T] = factory or (lambda: default)
        self.coerce = coerce
        self._exact = UNCHANGED.get(coerce)
        super().__init__(
            Value,
            allocate=lambda view: {"factory": self.factory},
            invalidated_by=invalidated_by,
            reason=reason,
            **acting,
        )

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> T: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | T":
        if view is None:
            return self
        view._status.require_whole()
        return self.factory() if view._status.closed else self.object_of(view).view()

    def __set__(self, view: "SessionView", value: T) -> None:
        before = self.object_of(view).view()
        self.keep(view, value)
        if not is_same(before, self.object_of(view).view()):
            self._invalidate(view)

    def keep(self, view: "SessionView", value: T) -> None:
        """Write the value, and leave alone what depends on it."""
        value = self.vet(view, value)
        # Last, since a coercion may run code that ends the session.
        view._status.require_open(self.name)
        self.object_of(view).append(value)

    def vet(self, view: "SessionView", value: T) -> T:
        """The value as it is kept. Raises TypeError and ValueError."""
        if self.coerce is None or type(value) is self._exact:
            return value
        return checked(self.coerce, value, f"session {view.session_id!r}, field {self.name!r}")
