"""One line per carried value, for adapters written by hand."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast, overload

from .session import SessionState

T = TypeVar("T")


class HasSessionState(Protocol):
    """What a host class needs: the session that it holds, as `_session`."""

    _session: SessionState


class SessionAttr(Generic[T]):
    """A descriptor over `_session.attrs`, keyed by the attribute's own name.

    Reading falls back to `default`, the same object each time; writing passes the value through
    `coerce` when there is one.
    """

    def __init__(self, *, default: T, coerce: Callable[[T], T] | None = None) -> None:
        self.default = default
        self.coerce = coerce
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, obj: None, objtype: type | None = None) -> "SessionAttr[T]": ...
    @overload
    def __get__(self, obj: HasSessionState, objtype: type | None = None) -> T: ...
    def __get__(
        self, obj: HasSessionState | None, objtype: type | None = None
    ) -> "SessionAttr[T] | T":
        if obj is None:
            return self
        return cast("T", obj._session.attrs.get(self.name, self.default))

    def __set__(self, obj: HasSessionState, value: T) -> None:
        session = obj._session
        session.attrs[self.name] = value if self.coerce is None else self.coerce(value)
        # Once more: what was marked before the value was stored may have been published since.
        session.status.touch(self.name)
