"""The kind of object that is one value."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .stageable import Stageable

T = TypeVar("T")


class Value(Stageable[T, T, T]):
    """One value, assigned wholesale and kept by reference.

    Nothing is copied: what was written is changed by another write, and not in place.
    """

    def __init__(self) -> None:
        self._value: T | None = None
        self._factory: Callable[[], T | None] | None = None

    def allocate(self, *, factory: Callable[[], T | None] = lambda: None) -> None:
        """Hold what `factory` makes, with nothing staged. Raises SessionClosed."""
        self._require_open()
        self._value = factory()
        self.discard()
        self._factory = factory

    def stage(self, payload: T) -> None:
        """Hold a value beside what is committed, in place of any staged before. Raises as `append`."""
        self._writable()
        self._stage(payload, replaces=True)

    def append(self, payload: T) -> None:
        """Write the value, None included: at once or, where writes are staged, with the next commit.

        Raises SessionClosed, and RuntimeError when not allocated.
        """
        if self._stages:
            self.stage(payload)
        else:
            self._writable()
            self._value = payload
            self._touched()

    def view(self, *, include_staged: bool = True) -> T:
        """The very object that was written last; None after a reset."""
        self._touched()
        if include_staged and self._pending is not None:
            return self._pending.content
        return cast("T", self._value)

    def reset(self) -> None:
        """Let go of the value and of what is staged."""
        self._factory = None
        self._value = None
        self.discard()

    @property
    def resident(self) -> bool:
        """Whether it is allocated."""
        return self._factory is not None

    def _writable(self) -> "Callable[[], T | None]":
        self._require_open()
        if self._factory is None:
            raise RuntimeError(f"{self._place} is not allocated; call allocate() first")
        return self._factory

    def _settle(self) -> None:
        self._writable()
        self._value, self._pending = self.view(), None

    def _stage_empty(self) -> None:
        self.stage(cast("T", self._writable()()))

    def _contents(self) -> tuple[object, object]:
        return self._value, self._waiting

    def _saved(self) -> tuple[Any, ...]:
        return self._factory, self._value, self._pending

    def _put_back(self, saved: tuple[Any, ...]) -> None:
        self._factory, self._value, self._pending = saved
