"""One session: its named objects, and the values that it carries."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from .accounting import SeenStorages, merge_bytes, walk
from .base import StateObject
from .coverage import Coverage
from .errors import raise_all
from .local import StaysInProcess
from .reading import KeepsBooks
from .reports import reported
from .show import by_device, fields_html
from .status import EVERYTHING, Status

if TYPE_CHECKING:
    from .account import Account
    from .view import SessionView

OUT_OF_TABLE: Final = object()
"""Claims a session that left its table, for good."""

Hook = Callable[[str, str], object]
"""Called with a session's id and the reason of its end."""

M = TypeVar("M", bound=StateObject[Any, Any])


class Opening(NamedTuple):
    """How the first generated view opened a session: its class, and all of its params."""

    cls: "type[SessionView]"
    params: Mapping[str, Any]

    @property
    def schema(self) -> str:
        """The model and the version of its schema."""
        return self.cls._schema


class Measure(NamedTuple):
    """Bytes per device, and per field the types that could not be seen."""

    nbytes: dict[str, int]
    unaccounted: dict[str, tuple[str, ...]]


class SessionState(KeepsBooks, StaysInProcess):
    """The state objects of one session by name, and `attrs`, the values that it only carries.

    `attrs` is a plain dict. `captured` has the sizes that families learnt at their first write, by
    the name of what was written. `status` is shared with the session's objects and views. `claim`
    has, under None, the token of whoever has the session: set by `setdefault`, so that one of
    several gets it. `transaction` gives the innermost one that is open, or None.
    """

    __slots__ = (
        *("_hooks", "_objects", "_opening", "_carried"),
        *("captured", "status", "account", "claim", "transaction"),
        "__weakref__",
    )

    def __init__(self, session_id: str = "default") -> None:
        self._hooks: list[Hook] = []
        self._objects: dict[str, StateObject[Any, Any]] = {}
        self._opening: dict[None, Opening] = {}
        self._carried: dict[str, object] = {}
        self.captured: dict[str, int] = {}
        self.status = Status(session_id)
        self.account: Account | None = None
        self.claim: dict[None, object] = {}
        self.transaction: Callable[[], object | None] = _none

    @property
    def is_leased(self) -> bool:
        """Whether somebody has a lease on it."""
        return self.claim.get(None, OUT_OF_TABLE) is not OUT_OF_TABLE

    @property
    def attrs(self) -> dict[str, object]:
        """The carried values; whoever asks for them may change any of them."""
        if EVERYTHING not in self.status.touched:
            self.status.touch(EVERYTHING)
        return self._carried

    @attrs.setter
    def attrs(self, values: dict[str, object]) -> None:
        # The dict stays the same, since views read it.
        if values is not self._carried:
            replaced = dict(values)
            self._carried.clear()
            self._carried.update(replaced)
        self.status.touch(EVERYTHING)

    def get(self, name: str) -> StateObject[Any, Any] | None:
        """The object under `name`, or None."""
        self.status.touch(name)
        return self._objects.get(name)

    def put(self, name: str, obj: M) -> M:
        """Set `obj` under `name` in place of what is there, and return it."""
        self._objects[name] = obj
        obj._join(self.status, name)
        return obj

    def get_or_create(self, name: str, factory: Callable[[], M], cls: type[M]) -> M:
        """The object under `name`; made anew when absent, of another class or not resident."""
        obj = self.get(name)
        if isinstance(obj, cls) and obj.resident:
            return obj
        return self.put(name, factory())

    def remove(self, name: str) -> None:
        """Let go of the object under `name`, when there is one."""
        self._objects.pop(name, None)
        self.status.touch(name)

    def field_names(self) -> set[str]:
        """The names under which anything is held, as an object or carried."""
        return {*self._objects, *self._carried}

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
        self._carried.clear()
        self.captured.clear()
        self.status.failed = None
        self.status.touch(EVERYTHING)
        raise_all(f"session {self.status.session_id!r}: several objects failed to reset", errors)

    def close(self) -> None:
        """Refuse writes through generated views from now on, and release everything.

        Raises as `reset` does; the session is closed all the same.
        """
        self.status.closed = True
        self.status.take_touched(set())
        # Views keep the old dict: nobody writes it any more, so it reads as defaults from now on. It is
        # cleared on both sides, for an interrupt and for a write in between.
        carried = self._carried
        carried.clear()
        self._carried = {}
        carried.clear()
        self.reset()

    def on_close(self, hook: Hook) -> None:
        """Call `hook(session_id, reason)` once the session has ended; the newest hook comes first.

        It runs outside every lock and may call the manager. What it raises is logged and stops no
        other hook. A hook that refers to the session or to a view of it keeps an evicted session
        alive for ever. Raises SessionClosed when the session has ended.
        """
        self.status.require_open("on_close")
        self._hooks.append(hook)

    def measure(self, seen: SeenStorages) -> Measure:
        """Count objects and `attrs` together, apart from what `seen` knows. Never raises.

        An object whose own count raises, or is no mapping of devices to bytes, is walked instead.
        """
        coverage = Coverage.of(seen)
        nbytes: dict[str, int] = {}
        unaccounted: dict[str, tuple[str, ...]] = {}
        for name, obj in list(self._objects.items()):
            mark = len(coverage.unaccounted)
            merge_bytes(nbytes, reported(obj, seen))
            if len(coverage.unaccounted) > mark:
                unaccounted[name] = tuple(coverage.unaccounted[mark:])
        for name, value in list(self._carried.items()):
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

    def __repr__(self) -> str:
        return f"<SessionState {self._described()}>"

    def _repr_html_(self) -> str:
        return fields_html(repr(self).strip("<>"), self.account)

    def _described(self) -> str:
        """The session in a phrase, its bytes as last published."""
        status = self.status
        state = (
            "closed" if status.closed else f"failed at {status.failed}" if status.failed else "open"
        )
        held = {} if self.account is None else dict(+self.account.held)
        return f"{status.session_id!r} {state}{f', {by_device(held)}' if held else ''}"


def _none() -> None:
    return None
