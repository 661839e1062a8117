"""The contract of a value that the manager may act on."""

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any, Generic, TypeVar

from .accounting import SeenStorages
from .freed import freed_by
from .status import Status

PayloadT = TypeVar("PayloadT")
"""What writers hand in."""
ViewT = TypeVar("ViewT")
"""What readers get."""


class StateObject(ABC, Generic[PayloadT, ViewT]):
    """One named unit of session state: release it, accumulate into it, stage and commit, rebuild.

    A subclass binds the payload and view types and implements the abstract methods. It may own its
    bytes, or be a handle to storage of another component and delegate to it. It need not call
    `super().__init__()`.

    A generated view binds the object to its session. Once that session is closed, our own kinds
    refuse writes with SessionClosed and read as empty. Of a field that the manager may stage, they
    stage every write.
    """

    recompute_source: "StateObject[Any, Any] | None" = None
    """What this object is rebuilt from; None means that it cannot be rebuilt."""
    recompute_cost: int = 0
    """Estimated work of a rebuild while the source is resident, in units of the caller's choice."""

    _staged: PayloadT | None = None
    _stages = False
    _cell: Status | None = None
    _field: str = ""
    _is_bound: bool = False
    """Whether a generated view made it: such an object reads as empty while it is cleared."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "nbytes_by_device" in vars(cls) and "_contents" not in vars(cls):
            # It counts in its own way, whatever its base class keeps where.
            cls._contents = StateObject._contents  # type: ignore[method-assign]

    @abstractmethod
    def allocate(self, *args: Any, **kwargs: Any) -> None:
        """Make the object resident and empty; a subclass names its sizes as keyword arguments."""

    def stage(self, payload: PayloadT) -> None:
        """Hold `payload` beside what is committed, until `commit()` or `discard()`."""
        self._staged = payload
        self._touched()

    @abstractmethod
    def commit(self, payload: PayloadT | None = None) -> None:
        """Make `payload`, or without one what is staged, part of what is kept."""

    def discard(self) -> None:
        """Drop what is staged; what is committed stays."""
        self._staged = None
        self._touched()

    def append(self, payload: PayloadT) -> None:
        """Write in one step, past the staging."""
        self.commit(payload)

    @abstractmethod
    def view(self, *, include_staged: bool = True) -> ViewT:
        """What the reader gets, by default as it would be once the staged payload is committed."""

    def evict(self, policy: Any = None) -> int:
        """Let go of everything and return the bytes that this really freed.

        Bytes that an alias outside still holds are not freed. Storage that the walk cannot see, such
        as another component's, counts as this object reports it. `policy` is reserved.
        """
        return sum(freed_by(self.reset, [self]).values())

    @abstractmethod
    def reset(self) -> None:
        """Go back to the unallocated state."""

    @abstractmethod
    def nbytes_by_device(self, seen: SeenStorages) -> dict[str, int]:
        """Bytes held per device, apart from what `seen` knows; hand `seen` on to `device_bytes`."""

    @property
    def nbytes(self) -> int:
        """Bytes held over all devices; a budget wants `nbytes_by_device`."""
        return sum(self.nbytes_by_device(set()).values())

    @property
    @abstractmethod
    def resident(self) -> bool:
        """Whether the data is in memory."""

    @property
    def recomputable(self) -> bool:
        """Whether it could be dropped and rebuilt right now: its source is resident."""
        return self.recompute_source is not None and self.recompute_source.resident

    def _vet(self, payload: PayloadT) -> None:
        """Raise what seeding an empty object with `payload` would raise."""

    def _contents(self) -> tuple[object, object] | None:
        """What is committed and what is staged; None for a class that only counts itself."""
        return None

    def _join(
        self, cell: Status, field: str, *, is_bound: bool = False, stages: bool = False
    ) -> None:
        """Report to a session from now on: what is done with the object was done to its field."""
        # A class with slots of its own cannot report; its session is looked at when it is used.
        with suppress(AttributeError):
            self._cell, self._field = cell, field
            self._is_bound, self._stages = is_bound, stages
        cell.touch(field)

    def _touched(self) -> None:
        cell = self._cell
        if cell is not None and self._field not in cell.touched:
            cell.touch(self._field)

    def _require_open(self) -> None:
        if self._is_bound and self._cell is not None:
            self._cell.writes(self._field)

    def __repr__(self) -> str:
        kind = type(self).__name__
        if self._cell is None:
            return f"<{kind} of no session>"
        return f"<{kind} {self._field!r} of session {self._cell.session_id!r}>"

    @property
    def _place(self) -> str:
        """How messages name this object."""
        if self._cell is None:
            return f"an unbound {type(self).__name__}"
        return f"session {self._cell.session_id!r}, field {self._field!r}"
