"""Families: fields with one value per key, as state objects or as carried values."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, get_args, get_origin

from .axes import Axis, CapturedAxis, Keys
from .base import StateObject
from .coercions import Coerce, checked
from .fields.base import Acting
from .keyed import FamilyField

if TYPE_CHECKING:
    from .view import SessionView

Value = TypeVar("Value")


class ObjectFamily(FamilyField[Value]):
    """A family of state objects that are written once.

    A reset empties the objects and keeps them, so that a handle stays valid; those beyond the size
    of a new capture leave the session.
    """

    is_frozen = True

    def __init__(
        self,
        kind: type[StateObject[Value, Value | None]],
        *,
        per: Sequence[Axis | CapturedAxis],
        complete_with: str | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
        **acting: Unpack[Acting],
    ) -> None:
        super().__init__(
            per=per,
            complete_with=complete_with,
            invalidated_by=invalidated_by,
            reason=reason,
            **acting,
        )
        self.kind: type[StateObject[Value, Value | None]] = get_origin(kind) or kind
        self._annotation = next(iter(get_args(kind)), object)

    @property
    def annotation(self) -> Any:
        """What the objects' class was parametrised with."""
        return self._annotation

    def open(self, view: "SessionView") -> None:
        """Make the objects whose keys are known before anything is written."""
        if not self.captures:
            for branch in self.branches(view):
                self._object(view, self.path(branch))

    def object_at(self, view: "SessionView", name: str) -> StateObject[Value, Value | None]:
        """The object under a name of the session. Raises AttributeError where there is none."""
        found = view._session.get(name)
        if found is None:
            raise AttributeError(
                f"session {view.session_id!r}: there is no object {name!r}; name one of "
                f"{self.name!r} with its keys, {'/'.join((self.name, *self._spelling))}"
            )
        return found

    @property
    def _spelling(self) -> list[str]:
        return [f"<{axis.name}>" for axis in self.per]

    def load(self, view: "SessionView", name: str) -> Value | None:
        """What the object under a name holds."""
        found = view._session._objects.get(name)
        return None if found is None else found.view(include_staged=False)

    def stored(self, view: "SessionView", branch: Keys) -> list[str]:
        """The objects of one branch."""
        return self.within(view._session.names(), branch)

    def store(self, view: "SessionView", name: str, value: Value) -> None:
        """Commit a value to its object."""
        self._object(view, name).commit(value)

    def drop(self, view: "SessionView", name: str) -> None:
        """Reset an object and keep it; one that fails to reset leaves the session."""
        held = self._object(view, name)
        try:
            held.reset()
        except Exception:
            view._session.remove(name)
            raise
        held.allocate()

    def remove(self, view: "SessionView", name: str) -> None:
        """Take an object out of the session."""
        view._session.remove(name)

    def _object(self, view: "SessionView", name: str) -> StateObject[Value, Value | None]:
        session = view._session
        held = session._objects.get(name)
        if not isinstance(held, self.kind):
            held = self.kind()
            held._join(session.status, name, is_bound=True)
            held.allocate()
            session._objects[name] = held
        return held


class AttrFamily(FamilyField[Value]):
    """A family of values that the session only carries, in `attrs`."""

    def __init__(
        self,
        *,
        coerce: Coerce[Value] | None = None,
        once: bool = False,
        in_place: bool = False,
        per: Sequence[Axis | CapturedAxis],
        complete_with: str | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        super().__init__(
            per=per, complete_with=complete_with, invalidated_by=invalidated_by, reason=reason
        )
        self.coerce = coerce
        self.once = once
        self.in_place = in_place

    @property
    def is_frozen(self) -> bool:
        """Whether the schema says `written: once`."""
        return self.once

    @property
    def annotation(self) -> Any:
        """What the family was parametrised with; a coercion checks in its own way."""
        made_as = getattr(self, "__orig_class__", None)
        return object if self.coerce else next(iter(get_args(made_as)), object)

    def vet_one(self, view: "SessionView", keys: Keys, value: Any) -> Value:
        """One value, coerced. Raises TypeError and ValueError."""
        value = super().vet_one(view, keys, value)
        if self.coerce is None:
            return cast("Value", value)
        return checked(self.coerce, value, self.place(view, keys))

    def load(self, view: "SessionView", name: str) -> Value | None:
        """The value under a name, or None."""
        if name not in view._touched:
            view._status.touch(name)
        return cast("Value | None", view._carried.get(name))

    def stored(self, view: "SessionView", branch: Keys) -> list[str]:
        """The values of one branch."""
        return self.within(view._carried, branch)

    def store(self, view: "SessionView", name: str, value: Value) -> None:
        """Carry a value under its name."""
        carried = view._carried
        if not self.once or carried.get(name) is None:
            carried[name] = value
            view._status.wrote(name)

    def drop(self, view: "SessionView", name: str) -> None:
        """Forget a value."""
        view._carried.pop(name, None)
        view._status.touch(name)

    remove = drop
