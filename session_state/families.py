"""Families: fields with one value per key, and the keys that their axes give them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    TypeVar,
    cast,
    get_args,
    get_origin,
    overload,
)

from .axes import Axis, CapturedAxis, Key, Keys
from .base import StateObject
from .branches import Branches
from .coercions import Coerce, checked, conforms
from .errors import FieldFrozen, UnknownKey
from .fields import Field
from .objects import is_same

if TYPE_CHECKING:
    from typing import Self

    from .view import SessionView

Value = TypeVar("Value")


class FamilyField(Field, ABC, Generic[Value]):
    """A field with one value per key; in the session each is named `field/key/key`.

    A branch is one key of every axis but a captured one: it is written at once. Subclasses say how
    a single value is kept.
    """

    def __init__(
        self,
        *,
        per: Sequence[Axis | CapturedAxis],
        complete_with: str | None = None,
        invalidated_by: tuple[str, ...] = (),
        reason: str = "",
    ) -> None:
        super().__init__(reason, invalidated_by)
        self.per = tuple(per)
        self.axes = tuple(axis for axis in per if isinstance(axis, Axis))
        self.captures = len(self.axes) < len(self.per)
        self.complete_with = complete_with

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> "Branches[Value]": ...
    def __get__(
        self, view: "SessionView | None", cls: type | None = None
    ) -> "Self | Branches[Value]":
        return self if view is None else Branches(self, view)

    def __set__(self, view: "SessionView", value: object) -> None:
        raise AttributeError(
            f"{self.place(view, ())}: it has a value per key; assign "
            f"session.{self.name}[{', '.join(axis.name for axis in self.axes)}]"
        )

    def path(self, keys: Keys) -> str:
        """The name in the session of the value, or the branch, under `keys`."""
        return "/".join((self.name, *map(str, keys)))

    def place(self, view: "SessionView", keys: Keys) -> str:
        """How messages name a value."""
        return f"session {view.session_id!r}, field {self.path(keys)!r}"

    def branches(self, view: "SessionView", prefix: Keys = ()) -> Iterator[Keys]:
        """Every branch below `prefix`, in axis order."""
        if len(prefix) >= len(self.axes):
            yield prefix[: len(self.axes)]
            return
        for key in self.axes[len(prefix)].keys(view):
            yield from self.branches(view, (*prefix, key))

    def resolve(self, view: "SessionView", key: object, shortest: int, longest: int) -> Keys:
        """`key` as a tuple of so many parts, each on its axis. Raises UnknownKey."""
        keys: Keys = key if isinstance(key, tuple) else (cast("Key", key),)
        if not shortest <= len(keys) <= longest:
            spelling = ", ".join(axis.name for axis in self.per[:longest])
            raise UnknownKey(f"{self.place(view, ())}: {key!r} is no key, it takes [{spelling}]")
        for axis, part in zip(self.axes, keys, strict=False):
            known = tuple(axis.keys(view))
            if not any(type(one) is type(part) and one == part for one in known):
                listed = ", ".join(map(repr, known))
                raise UnknownKey(
                    f"{self.place(view, ())}: {axis.name} has no key {part!r}, it has {listed}"
                )
        return keys

    def size(self, view: "SessionView", branch: Keys) -> int | None:
        """How many values a branch has; None before a captured one was written."""
        return view._session.captured.get(self.path(branch)) if self.captures else 1

    def names(self, branch: Keys, size: int) -> list[str]:
        """The names of a branch's values."""
        if not self.captures:
            return [self.path(branch)]
        return [self.path((*branch, index)) for index in range(size)]

    def values(self, view: "SessionView", branch: Keys) -> list[Value] | None:
        """What one branch holds, when it is whole, whatever its partner has."""
        size = self.size(view, branch)
        if size is None or view._status.closed:
            return None
        found = [self.load(view, name) for name in self.names(branch, size)]
        written = [one for one in found if one is not None]
        return written if len(written) == len(found) else None

    def is_complete(self, view: "SessionView", branch: Keys) -> bool:
        """Whether a branch and its partner are whole: until then it reads as absent."""
        if self.values(view, branch) is None:
            return False
        partner = view._declared[self.complete_with] if self.complete_with else None
        if not isinstance(partner, FamilyField):
            return True
        others = partner.branches(view, self._shared(partner, branch))
        return all(partner.values(view, other) is not None for other in others)

    def _shared(self, other: "FamilyField[Any]", branch: Keys) -> Keys:
        """The keys of `branch` on the axes that both families begin with."""
        count = 0
        for mine, theirs in zip(self.axes, other.axes, strict=False):
            if mine.name != theirs.name:
                break
            count += 1
        return branch[:count]

    def invalidate(self, view: "SessionView", branch: Keys) -> None:
        """Clear what depends on one branch: of families that share its axes, the same keys."""
        for name in self.dependents:
            dependent = view._declared[name]
            if not isinstance(dependent, FamilyField):
                dependent.clear(view)
                continue
            for other in dependent.branches(view, self._shared(dependent, branch)):
                dependent.forget(view, other)

    def read(self, view: "SessionView", branch: Keys) -> Any:
        """All of one branch, as a list where it captures; None where it is absent."""
        values = self.values(view, branch)
        if values is None or not self.is_complete(view, branch):
            return None
        return values if self.captures else values[0]

    def vet(self, view: "SessionView", branch: Keys, value: Any) -> list[Value]:
        """The values to keep of one branch. Raises TypeError, and ValueError for an empty list."""
        if not self.captures:
            return [self.vet_one(view, branch, value)]
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"{self.place(view, branch)}: expected a list of values, got {type(value).__name__}"
            )
        if not value:
            raise ValueError(f"{self.place(view, branch)}: expected at least one value, got none")
        return [self.vet_one(view, (*branch, at), item) for at, item in enumerate(value)]

    def vet_one(self, view: "SessionView", keys: Keys, value: Any) -> Value:
        """One value as it is kept. Raises TypeError and ValueError."""
        if value is None or not conforms(value, self.annotation):
            expected = str(self.annotation).replace("torch.", "")
            raise TypeError(
                f"{self.place(view, keys)}: expected {expected}, got {_kind(value)}; delete the "
                "key to clear it"
            )
        return cast("Value", value)

    @property
    @abstractmethod
    def annotation(self) -> Any:
        """The declared type of one value."""

    def write(self, view: "SessionView", branch: Keys, value: Any) -> None:
        """Write all of one branch, or nothing of it.

        Raises SessionClosed, FieldFrozen over other values, TypeError and ValueError.
        """
        view._status.require_open(self.path(branch))
        values = self.vet(view, branch, value)
        held = self.values(view, branch)
        if held is not None and is_same(held, values):
            return
        if held is not None and self.is_frozen:
            raise FieldFrozen(
                f"{self.place(view, branch)}: it is written once and holds a value; reset it "
                "before writing another"
            )
        self.forget(view, branch)
        try:
            self.store(view, branch, values)
        except BaseException:
            self.forget(view, branch)
            raise
        if self.captures:
            view._session.captured[self.path(branch)] = len(values)
        self.invalidate(view, branch)

    def clear(self, view: "SessionView") -> None:
        """Clear every branch."""
        for branch in self.branches(view):
            self.forget(view, branch)

    def forget(self, view: "SessionView", branch: Keys) -> None:
        """Clear one branch, and forget how many values it had."""
        view._session.captured.pop(self.path(branch), None)
        self.drop(view, branch)

    @property
    @abstractmethod
    def is_frozen(self) -> bool:
        """Whether the first value of a key stays until it is cleared."""

    @abstractmethod
    def load(self, view: "SessionView", name: str) -> Value | None:
        """The value under a name, or None."""

    @abstractmethod
    def store(self, view: "SessionView", branch: Keys, values: Sequence[Value]) -> None:
        """Keep the values of one branch, which is empty."""

    @abstractmethod
    def drop(self, view: "SessionView", branch: Keys) -> None:
        """Let go of the values of one branch."""


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
    ) -> None:
        super().__init__(
            per=per, complete_with=complete_with, invalidated_by=invalidated_by, reason=reason
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
        found = view._session.get(name)
        return None if found is None or not found.resident else found.view()

    def store(self, view: "SessionView", branch: Keys, values: Sequence[Value]) -> None:
        """Commit each value to its object, and let go of objects that no value needs."""
        names = self.names(branch, len(values))
        for name, value in zip(names, values, strict=True):
            self._object(view, name).commit(value)
        for name in set(self._present(view, branch)) - set(names):
            view._session.remove(name)

    def drop(self, view: "SessionView", branch: Keys) -> None:
        """Reset the objects of one branch; one that fails to reset leaves the session."""
        for name in self._present(view, branch):
            held = self._object(view, name)
            try:
                held.reset()
            except Exception:
                view._session.remove(name)
                raise
            held.allocate()

    def _present(self, view: "SessionView", branch: Keys) -> list[str]:
        path = self.path(branch)
        if not self.captures:
            return [path] if view._session.get(path) is not None else []
        return [name for name in view._session.names() if name.startswith(f"{path}/")]

    def _object(self, view: "SessionView", name: str) -> StateObject[Value, Value | None]:
        session = view._session
        held = session.get(name)
        if not isinstance(held, self.kind):
            held = self.kind()
            held._cell, held._field = session.status, name
            held.allocate()
            session.put(name, held)
        return held


class AttrFamily(FamilyField[Value]):
    """A family of values that the session only carries, in `attrs`."""

    def __init__(
        self,
        *,
        coerce: Coerce[Value] | None = None,
        once: bool = False,
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
        return cast("Value | None", view._session.attrs.get(name))

    def store(self, view: "SessionView", branch: Keys, values: Sequence[Value]) -> None:
        """Carry each value under its name."""
        view._session.attrs.update(zip(self.names(branch, len(values)), values, strict=True))

    def drop(self, view: "SessionView", branch: Keys) -> None:
        """Forget the values of one branch."""
        attrs, path = view._session.attrs, self.path(branch)
        for name in [name for name in attrs if name == path or name.startswith(f"{path}/")]:
            attrs.pop(name, None)


def _kind(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}[{', '.join(type(one).__name__ for one in value)}]"
    return type(value).__name__
