"""Fields whose value is a state object."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, cast, get_origin, overload

import numpy as np
import torch

from ..base import StateObject
from ..stageable import Stageable
from .base import Acting, Field

if TYPE_CHECKING:
    from typing import Self

    from ..view import SessionView

Item = TypeVar("Item")
Kept = TypeVar("Kept", bound=StateObject[Any, Any])


class Stored(Field, Generic[Kept]):
    """A field whose value is a state object, made when the first view opens the session.

    Where the manager may stage it, every write waits for a commit.
    """

    def __init__(
        self,
        kind: type[Kept],
        *,
        allocate: Callable[[Any], Mapping[str, Any]] = lambda view: {},
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
        **acting: Unpack[Acting],
    ) -> None:
        super().__init__(reason, invalidated_by, **acting)
        # A parametrised alias would set __orig_class__ on every object that it makes.
        self.kind: type[Kept] = get_origin(kind) or kind
        self.allocate = allocate
        if self.staged and not issubclass(self.kind, Stageable):
            raise TypeError(f"a field of {self.kind.__name__} cannot be staged")

    def object_of(self, view: "SessionView") -> Kept:
        """The session's object, allocated while the session is open; never the value it views as."""
        session = view._session
        status = session.status
        held = session._objects.get(self.name)
        if not isinstance(held, self.kind):
            made = self.kind()
            made._join(status, self.name, is_bound=True, stages=self.staged)
            if status.closed:
                return made
            made.allocate(**self.allocate(view))
            if held is not None:
                session._objects[self.name] = made
                return made
            return cast("Kept", session._objects.setdefault(self.name, made))
        if held._cell is not status or not held._is_bound:
            held._join(status, self.name, is_bound=True, stages=self.staged)
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

    def stageable_of(self, view: "SessionView") -> Stageable[Any, Any, Any]:
        """The object of a field that is staged."""
        held = self.object_of(view)
        assert isinstance(held, Stageable), f"{self.name} was declared with a kind that stages"
        return held

    def _invalidate(self, view: "SessionView") -> None:
        for name in view._dependents[self.name]:
            ended = view._declared[name]
            if self.staged and isinstance(ended, Stored) and ended.staged:
                ended.stageable_of(view)._stage_empty()
            else:
                ended.clear(view)


class ObjectField(Stored[Kept]):
    """A field that reads as its state object; it is written through the object's methods."""

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> Kept: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | Kept":
        if view is None:
            return self
        view._status.require_whole()
        return self.object_of(view)

    def __set__(self, view: "SessionView", value: object) -> None:
        raise AttributeError(
            f"session {view.session_id!r}: field {self.name!r} is a {self.kind.__name__} and is not "
            f"assigned; use append_{self.name}(), or the methods of session.{self.name}"
        )


class ViewField(Stored[StateObject[Item, Any]], Generic[Item]):
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
        **acting: Unpack[Acting],
    ) -> None:
        super().__init__(
            kind, allocate=allocate, invalidated_by=invalidated_by, reason=reason, **acting
        )
        self.concat = concat
        self.stack = stack

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> Item | None: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | Item | None":
        if view is None:
            return self
        view._status.require_whole()
        try:
            return cast("Item | None", self._joined(self.object_of(view).view()))
        except (RuntimeError, TypeError, ValueError) as error:
            raise ValueError(
                f"session {view.session_id!r}, field {self.name!r}: its items do not read as one "
                f"value ({error})"
            ) from error

    def __set__(self, view: "SessionView", value: Item | None) -> None:
        self.keep(view, value)
        self._invalidate(view)

    def keep(self, view: "SessionView", value: Item | None) -> None:
        """Clear and seed the field, and leave alone what depends on it."""
        view._session.status.require_open(self.name)
        seeds = self.vet(view, value)
        if self.staged:
            self.stageable_of(view)._stage_instead(seeds)
        else:
            held = self.object_of(view)
            self.clear(view)
            for seed in seeds:
                held.append(seed)

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
