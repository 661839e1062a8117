"""The table: sessions by id in the order of their last use, and which of them are leased."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import Enum
from operator import index
from threading import get_ident
from typing import Any, Literal

from .session import SessionState
from .waiting import Queues, Ticket

Reason = Literal["client", "idle", "failed", "shutdown", "lru"]


class Refusal(Enum):
    """Why a record was not leased, or not added."""

    MOVED_ON = "another thread added or removed the id meanwhile"
    LEASED = "somebody has it, or is waiting for it"
    FULL = "every session of a full table is leased, or others wait for a place"


class Record:
    """A session in the table and how it is used; times are seconds of the manager's clock.

    `lease` is the identity of the lease and no reference, so that one which is let go of can give
    the session back. `opening` lasts until its view was made: whether the lease made the session.
    """

    __slots__ = (
        "closing",
        "key",
        "lease",
        "leased_seconds",
        "opening",
        "session",
        "since",
        "steps",
        "thread",
        "used",
    )

    def __init__(self, key: str, now: float) -> None:
        self.key = key
        self.session = SessionState(key)
        self.lease: int | None = None
        self.opening: Literal["new", "existing", None] = None
        self.thread = 0
        self.since = self.used = now
        self.closing: Reason | None = None
        self.steps = 0
        self.leased_seconds = 0.0


class Table:
    """Which sessions there are, and the lock under which that changes.

    Under the lock dictionaries are read and written, and nothing else happens: whatever may run
    code of others comes after it, and so does letting go, for which what leaves is added to a list
    of the caller's. Looking up one id, counting and reading counters take no lock.
    """

    def __init__(
        self, max_sessions: int, lock_factory: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self.max_sessions = index(max_sessions)
        if self.max_sessions < 1:
            raise ValueError(f"max_sessions must be at least 1, got {max_sessions}")
        self.records: OrderedDict[str, Record] = OrderedDict()
        self.queues = Queues()
        self.hits = self.misses = self.evictions = self.drops = 0
        self.closed: dict[Reason, int] = {}
        self._lock_factory = lock_factory
        self.lock = lock_factory()

    def snapshot(self) -> list[Record]:
        """The records, the least recently used first."""
        while True:
            try:
                return list(self.records.values())
            except RuntimeError:
                # A collection of garbage gave way to another thread while the list was made.
                continue

    def add(
        self,
        record: Record,
        lease: int | None,
        evicted: list[Record],
        ticket: Ticket | None = None,
        *,
        at_any_size: bool = False,
    ) -> Refusal | None:
        """Add a record, leased when `lease` is given; the cap holds unless `at_any_size`."""
        key = record.key
        record.lease, record.thread = lease, get_ident()
        if lease is not None:
            record.opening, record.session.is_leased = "new", True
        with self.lock:
            if key in self.records:
                return Refusal.MOVED_ON
            if not at_any_size and (self.queues.is_behind(None, ticket) or not self._has_place()):
                self.queues.join(None, ticket)
                return Refusal.FULL
            self.misses += 1
            self._make_room(1, evicted)
            self.records[key] = record
        return None

    def lease(
        self, record: Record, lease: int, now: float, ticket: Ticket | None = None
    ) -> Refusal | None:
        """Lease a record that is in the table, and make it the most recent."""
        key, thread = record.key, get_ident()
        with self.lock:
            if self.records.get(key) is not record:
                return Refusal.MOVED_ON
            if record.lease is not None or (self.queues and self.queues.is_behind(key, ticket)):
                self.queues.join(key, ticket)
                return Refusal.LEASED
            record.lease = lease
            record.thread = thread
            record.opening = "existing"
            record.since = record.used = now
            record.session.is_leased = True
            self.hits += 1
            self.records.move_to_end(key)
        return None

    def hold(self, record: Record, lease: int, now: float) -> Refusal | None:
        """Lease a record for the manager's own work, which is no use of it and waits for no turn."""
        thread = get_ident()
        with self.lock:
            if self.records.get(record.key) is not record:
                return Refusal.MOVED_ON
            if record.lease is not None:
                return Refusal.LEASED
            record.lease = lease
            record.thread = thread
            record.since = now
            record.session.is_leased = True
        return None

    def give_back(
        self, record: Record, lease: int, now: float, evicted: list[Record], is_use: bool
    ) -> bool:
        """End a lease, and evict what exceeded the cap. Returns whether the session leaves as well,
        since somebody asked for its end during the lease.
        """
        is_closing = False
        with self.lock:
            if record.lease != lease:
                return False
            record.lease = record.opening = None
            record.session.is_leased = False
            if is_use:
                record.used = now
                record.steps += 1
                record.leased_seconds += now - record.since
                self.records.move_to_end(record.key)
            if record.closing is not None:
                is_closing = self._take_out(record, record.closing)
            self._make_room(0, evicted)
        return is_closing

    def remove(
        self, key: str, reason: Reason, *, only: SessionState | None = None
    ) -> tuple[Record | None, bool]:
        """Take a session, or `only` that one, out of the table; a leased one goes with its lease.

        Returns its record, None when there was none, and whether it is out.
        """
        is_out = False
        with self.lock:
            record = self.records.get(key)
            if record is not None and only is not None and record.session is not only:
                record = None
            if record is not None:
                is_out = self._take_out(record, reason)
        return record, is_out

    def remove_idle(self, since: float, removed: list[Record]) -> None:
        """Take out what is not leased and was last used at `since` or before."""
        with self.lock:
            for record in self.records.values():
                if record.used > since:
                    break
                if record.lease is None:
                    removed.append(record)
            for record in removed:
                self._take_out(record, "idle")

    def count(self, reason: Reason) -> None:
        """Count the end of a session that had left the table before."""
        with self.lock:
            self.closed[reason] = self.closed.get(reason, 0) + 1

    def leave(self, ticket: Ticket) -> None:
        """Wait no longer."""
        with self.lock:
            self.queues.leave(ticket)

    def after_fork(self) -> None:
        """Make it usable in a child: a new lock, and nobody who waits."""
        self.lock = self._lock_factory()
        self.queues = Queues()

    def _take_out(self, record: Record, reason: Reason) -> bool:
        if record.lease is not None:
            record.closing = record.closing or reason
            return False
        del self.records[record.key]
        self.closed[reason] = self.closed.get(reason, 0) + 1
        return True

    def _has_place(self) -> bool:
        if len(self.records) < self.max_sessions:
            return True
        return any(map(self._may_leave, self.records.values()))

    def _may_leave(self, record: Record) -> bool:
        return record.lease is None and record.key not in self.queues

    def _make_room(self, places: int, evicted: list[Record]) -> None:
        """Evict until there are so many places within the cap, as far as that goes."""
        excess = len(self.records) + places - self.max_sessions
        if excess <= 0:
            return
        for record in self.records.values():
            if self._may_leave(record):
                evicted.append(record)
                excess -= 1
                if not excess:
                    break
        for record in evicted:
            del self.records[record.key]
        self.evictions += len(evicted)
