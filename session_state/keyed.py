"""A field with one value per key: what both kinds of family have in common."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack, cast, overload

from .axes import Axis, CapturedAxis, Key, Keys, shared_axes
from .branches import Branches
from .coercions import conforms
from .errors import FieldFrozen, UnknownKey, raise_all
from .fields import Field
from .fields.base import Acting
from .objects import has_same_items

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
        **acting: Unpack[Acting],
    ) -> None:
        super().__init__(reason, invalidated_by, **acting)
        self.per = tuple(per)
        self.axes = tuple(axis for axis in per if isinstance(axis, Axis))
        self.captures = len(self.axes) < len(self.per)
        if not self.axes or self.per[: len(self.axes)] != self.axes:
            raise TypeError("a family has axes with known keys, and last at most a captured one")
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
        keys: Keys = tuple(map(_spelled, key if isinstance(key, tuple) else (key,)))
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

    def names(self, branch: Keys, size: int) -> tuple[str, ...]:
        """The names of a branch's values."""
        path = self.path(branch)
        return _numbered(path, size) if self.captures else (path,)

    def values(self, view: "SessionView", branch: Keys) -> list[Value] | None:
        """What one branch holds, when it is whole, whatever its partner has."""
        size = self.size(view, branch)
        if size is None or view._status.closed:
            return None
        found = [self.load(view, name) for name in self.names(branch, size)]
        written = [one for one in found if one is not None]
        return written if len(written) == len(found) else None

    def complete(self, view: "SessionView", branch: Keys) -> list[Value] | None:
        """What one branch reads as: nothing until it and its partner are whole."""
        view._status.require_whole()
        values = self.values(view, branch)
        partner = view._declared[self.complete_with] if self.complete_with else None
        if values is None or not isinstance(partner, FamilyField):
            return values
        others = partner.branches(view, self._shared(partner, branch))
        whole = all(partner.values(view, other) is not None for other in others)
        return values if whole else None

    def _shared(self, other: "FamilyField[Any]", branch: Keys) -> Keys:
        """The keys of `branch` on the axes that both families begin with."""
        return branch[: shared_axes(self, other)]

    def invalidate(self, view: "SessionView", branch: Keys) -> None:
        """Clear what depends on one branch: of families that share its axes, the same keys."""
        for name, shared in view._dependents[self.name].items():
            dependent = view._declared[name]
            if not isinstance(dependent, FamilyField):
                dependent.clear(view)
                continue
            for other in dependent.branches(view, branch[:shared]):
                dependent.forget(view, other)

    def read(self, view: "SessionView", branch: Keys) -> Any:
        """All of one branch, as a list where it captures; None where it is absent."""
        values = self.complete(view, branch)
        return values if values is None or self.captures else values[0]

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
        """Write all of one branch, or nothing of it, and clear what depends on what changed.

        Raises SessionClosed, FieldFrozen over other values, TypeError and ValueError.
        """
        if self.keep(view, branch, value):
            self.invalidate(view, branch)

    def keep(self, view: "SessionView", branch: Keys, value: Any) -> bool:
        """Write as `write` does, leave alone what depends on it, and say whether it changed."""
        view._status.require_open(self.path(branch))
        values = self.vet(view, branch, value)
        names = self.names(branch, len(values))
        held = [self.load(view, name) for name in names]
        known = self.size(view, branch) if self.captures else len(values)
        kept = [has_same_items(old, new) for old, new in zip(held, values, strict=True)]
        if self.is_frozen and self._would_replace(known, held, kept):
            raise FieldFrozen(
                f"{self.place(view, branch)}: it is written once and holds other values; clear it "
                f"first: del session.{self.name}[{', '.join(map(repr, branch))}]"
            )
        try:
            for name, one in zip(names, values, strict=True):
                self.store(view, name, one)
        except BaseException:
            for name, old in zip(names, held, strict=True):
                if old is None:
                    self.drop(view, name)
            raise
        for name in set(self.stored(view, branch)) - set(names):
            self.remove(view, name)
        if self.captures:
            view._session.captured[self.path(branch)] = len(values)
        view._status.renew(self.path(branch))
        return known != len(values) or not all(kept)

    @staticmethod
    def _would_replace(known: int | None, held: Sequence[Any], kept: Sequence[bool]) -> bool:
        """Whether a write changes what is there, item by item, or how many items there are."""
        changes = any(old is not None and not same for old, same in zip(held, kept, strict=True))
        return changes or known not in (None, len(held))

    def clear(self, view: "SessionView") -> None:
        """Clear every branch."""
        for branch in self.branches(view):
            self.forget(view, branch)

    def forget(self, view: "SessionView", branch: Keys) -> None:
        """Clear one branch, and forget how many values it had.

        A value that fails to go stops none of the others.
        """
        view._session.captured.pop(self.path(branch), None)
        errors: list[Exception] = []
        for name in self.stored(view, branch):
            try:
                self.drop(view, name)
            except Exception as error:
                errors.append(error)
        raise_all(f"{self.place(view, branch)}: several objects failed to reset", errors)

    def within(self, names: Iterable[str], branch: Keys) -> list[str]:
        """Those of the session's names that belong to one branch."""
        path = self.path(branch)
        return [name for name in names if name == path or name.startswith(f"{path}/")]

    @property
    @abstractmethod
    def is_frozen(self) -> bool:
        """Whether the first value of a key stays until it is cleared."""

    @abstractmethod
    def stored(self, view: "SessionView", branch: Keys) -> list[str]:
        """The names that the session knows of one branch, whether or not they hold a value."""

    @abstractmethod
    def load(self, view: "SessionView", name: str) -> Value | None:
        """The value under a name, or None."""

    @abstractmethod
    def store(self, view: "SessionView", name: str, value: Value) -> None:
        """Keep one value under its name."""

    @abstractmethod
    def drop(self, view: "SessionView", name: str) -> None:
        """Let go of the value under a name."""

    @abstractmethod
    def remove(self, view: "SessionView", name: str) -> None:
        """Let go of a name that a capture of another size left behind."""


def _kind(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}[{', '.join(type(one).__name__ for one in value)}]"
    return type(value).__name__


@lru_cache(maxsize=256)
def _numbered(path: str, size: int) -> tuple[str, ...]:
    # The same for every session of a class, and read at every step of a model.
    return tuple(f"{path}/{index}" for index in range(size))


def _spelled(part: object) -> Key:
    """A part of a key as axes spell it: any integer that is no bool as a plain int."""
    if hasattr(part, "__index__") and not isinstance(part, bool):
        return int(index(part))
    return cast("Key", part)
