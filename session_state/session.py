"""One session: its named objects, and the values that it carries."""

from collections.abc import Callable, Mapping
from operator import index
from typing import Any, NamedTuple, TypeVar

from .accounting import SeenStorages, merge_bytes, walk
from .base import StateObject
from .coverage import Coverage
from .errors import raise_all
from .kinds import KeepsBooks
from .status import Status

M = TypeVar("M", bound=StateObject[Any, Any])


class Opening(NamedTuple):
    """How the first generated view opened a session: its schema, and what shapes its objects."""

    schema: str
    params: Mapping[str, object]


class Measure(NamedTuple):
    """Bytes per device, and per field the types that could not be seen."""

    nbytes: dict[str, int]
    unaccounted: dict[str, tuple[str, ...]]


class SessionState(KeepsBooks):
    """The state objects of one session by name, and `attrs`, the values that it only carries.

    `attrs` is a plain dict. `captured` has the sizes that families learnt at their first write, by
    the name of what was written. `status` is shared with the session's objects and views.
    `transaction` gives the innermost one that is open, or None.
    """

    __slots__ = (
        "_objects",
        "_opening",
        "attrs",
        "captured",
        "status",
        "transaction",
        "__weakref__",
    )

    def __init__(self, session_id: str = "default") -> None:
        self._objects: dict[str, StateObject[Any, Any]] = {}
        self._opening: dict[None, Opening] = {}
        self.attrs: dict[str, object] = {}
        self.captured: dict[str, int] = {}
        self.status = Status(session_id)
        self.transaction: Callable[[], object | None] = _none

    def get(self, name: str) -> StateObject[Any, Any] | None:
        """The object under `name`, or None."""
        return self._objects.get(name)

    def put(self, name: str, obj: M) -> M:
        """Set `obj` under `name` in place of what is there, and return it."""
        self._objects[name] = obj
        return obj

    def get_or_create(self, name: str, factory: Callable[[], M], cls: type[M]) -> M:
        """The object under `name`; made anew when absent, of another class or not resident."""
        obj = self._objects.get(name)
        if isinstance(obj, cls) and obj.resident:
            return obj
        return self.put(name, factory())

    def setdefault(self, name: str, obj: M) -> StateObject[Any, Any]:
        """The object under `name`, which is `obj` when none was there."""
        return self._objects.setdefault(name, obj)

    def remove(self, name: str) -> None:
        """Let go of the object under `name`, when there is one."""
        self._objects.pop(name, None)

    def names(self) -> list[str]:
        """The names of the objects, in the order of their arrival."""
        return list(self._objects)

    @property
    def opening(self) -> Opening | None:
        """How a generated view opened the session, or None when none did."""
        return self._opening.get(None)

    def opened_as(self, opening: Opening) -> Opening:
        """Record `opening` unless one is recorded, and return the one that is."""
        return self._opening.setdefault(None, opening)

    def forget_opening(self, opening: Opening) -> None:
        """Let the next view open the session, when making its objects failed."""
        if self._opening.get(None) is opening:
            del self._opening[None]

    def reset(self) -> None:
        """Reset every object and clear `attrs`.

        An object whose reset raises is dropped from the session and stops none of the others. In
        the end what was raised is raised: one error as itself, several as an ExceptionGroup.
        """
        errors: list[BaseException] = []
        for name, obj in list(self._objects.items()):
            try:
                obj.reset()
            except BaseException as error:
                self.remove(name)
                errors.append(error)
        self.attrs.clear()
        self.captured.clear()
        raise_all(f"session {self.status.session_id!r}: several objects failed to reset", errors)

    def close(self) -> None:
        """Refuse writes through generated views from now on, and release everything.

        Raises as `reset` does; the session is closed all the same.
        """
        self.status.closed = True
        self.reset()

    def measure(self, seen: SeenStorages) -> Measure:
        """Count objects and `attrs` together, apart from what `seen` knows. Never raises.

        An object whose own count raises, or is no mapping of devices to bytes, is walked instead.
        """
        coverage = Coverage.of(seen)
        nbytes: dict[str, int] = {}
        unaccounted: dict[str, tuple[str, ...]] = {}
        for name, obj in list(self._objects.items()):
            mark = len(coverage.unaccounted)
            merge_bytes(nbytes, _reported(obj, seen, coverage))
            if len(coverage.unaccounted) > mark:
                unaccounted[name] = tuple(coverage.unaccounted[mark:])
        for name, value in list(self.attrs.items()):
            found = walk(value, seen)
            merge_bytes(nbytes, found.nbytes)
            if found.unaccounted:
                unaccounted[name] = (*unaccounted.get(name, ()), *found.unaccounted)
        return Measure(nbytes, unaccounted)

    def nbytes_by_device(self, seen: SeenStorages | None = None) -> dict[str, int]:
        """Bytes held per device, each storage once, apart from what `seen` knows. Never raises."""
        return self.measure(set() if seen is None else seen).nbytes

    def unaccounted(self) -> dict[str, tuple[str, ...]]:
        """For each field that holds what could not be seen, the types of it. Never raises."""
        return self.measure(set()).unaccounted

    @property
    def nbytes(self) -> int:
        """Bytes held over all devices; a budget wants `nbytes_by_device`."""
        return sum(self.nbytes_by_device().values())


def _none() -> None:
    return None


def _reported(
    obj: StateObject[Any, Any], seen: SeenStorages, coverage: Coverage
) -> Mapping[str, int]:
    mark, named = len(coverage.claims), len(coverage.unaccounted)
    try:
        reported = obj.nbytes_by_device(seen)
        return {str(device): _count(nbytes) for device, nbytes in reported.items()}
    except Exception:
        coverage.rollback(mark, seen)
        del coverage.unaccounted[named:]
        return walk(obj, seen).nbytes


def _count(nbytes: object) -> int:
    """What an object reported for one device; ValueError or TypeError for no number of bytes."""
    count = index(nbytes)  # type: ignore[arg-type]
    if count < 0:
        raise ValueError(f"{count} is no number of bytes")
    return count
