"""The table: sessions by id in the order of their last use, and which of them are leased."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import Enum
from itertools import count
from operator import index
from threading import get_ident
from typing import TYPE_CHECKING, Any, Literal

from .session import OUT_OF_TABLE, SessionState
from .waiting import Queues, Ticket

if TYPE_CHECKING:
    from .view import SessionView

Reason = Literal["client", "idle", "failed", "shutdown", "lru"]


class Refusal(Enum):
    """Why a record was not leased, or not added."""

    MOVED_ON = "another thread changed that meanwhile"
    ENDING = "its end was asked for during a lease that is over"
    LEASED = "somebody has it, or is waiting for it"
    FULL = "every session of a full table is leased, or others wait for a place"


class Record:
    """A session in the table and how it is used; times are seconds of the manager's clock.

    `claim` is the session's: a token there does not refer to its lease, so that a lease which is let
    go of can give the session back. `opening` lasts while the view of a lease is made: whether the
    lease made the session. `view` is the one of the last lease, and `given` what it was made with,
    for the next lease that would make its like.
    """

    __slots__ = (
        "claim",
        "closing",
        "given",
        "key",
        "leased_seconds",
        "opening",
        "session",
        "since",
        "steps",
        "thread",
        "used",
        "view",
    )

    def __init__(self, key: str, now: float) -> None:
        self.key = key
        self.session = SessionState(key)
        self.claim = self.session.claim
        self.opening: Literal["new", "existing", None] = None
        self.view: SessionView | None = None
        self.given: dict[str, Any] | None = None
        self.thread = 0
        self.since = self.used = now
        self.closing: Reason | None = None
        self.steps = 0
        self.leased_seconds = 0.0

    @property
    def lease(self) -> object | None:
        """The token of the lease, if there is one."""
        return self.claim.get(None) if self.session.is_leased else None


class Tally:
    """A count that any thread adds to without a lock, by one operation of the interpreter."""

    __slots__ = ("add", "_count")

    def __init__(self) -> None:
        self._count = count()
        self.add = self._count.__next__

    def __int__(self) -> int:
        # Its repr is the one way to see where it stands without moving it: "count(7)".
        return int(repr(self._count)[6:-1])


class Table:
    """Which sessions there are, and the lock under which that changes.

    Looking up, leasing and giving back are single operations of dictionaries and take no lock. Under
    the lock sessions come and go, by dictionary operations and nothing else: whatever may run code
    of others comes after it, and so does letting go, for which what leaves is added to a list of the
    caller's.
    """

    def __init__(
        self, max_sessions: int, lock_factory: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self.max_sessions = index(max_sessions)
        if self.max_sessions < 1:
            raise ValueError(f"max_sessions must be at least 1, got {max_sessions}")
        self.records: OrderedDict[str, Record] = OrderedDict()
        self.queues = Queues()
        self.hits = Tally()
        self.misses = self.evictions = self.drops = 0
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
        lease: object | None,
        evicted: list[Record],
        ticket: Ticket | None = None,
        *,
        at_any_size: bool = False,
    ) -> Refusal | None:
        """Add a record, leased when `lease` is given; the cap holds unless `at_any_size`."""
        key = record.key
        if lease is not None:
            record.claim[None], record.thread = lease, get_ident()
            record.opening = "new"
        with self.lock:
            if key in self.records:
                return Refusal.MOVED_ON
            is_behind = not at_any_size and self.queues.is_behind(None, ticket)
            if is_behind or not (self._make_room(1, evicted) or at_any_size):
                self.queues.join(None, ticket)
                # Looked at again: a lease that ended before the ticket was queued woke nobody.
                is_due = ticket is not None and not is_behind and self._has_place()
                return Refusal.MOVED_ON if is_due else Refusal.FULL
            self.misses += 1
            self.records[key] = record
        return None

    def lease(
        self,
        record: Record,
        lease: object,
        now: float,
        ticket: Ticket | None = None,
        is_use: bool = True,
    ) -> Refusal | None:
        """Lease a record, in turn; it is the most recent then. Without `is_use` at once, for the
        manager's own work.
        """
        key = record.key
        if self.queues and is_use and self.queues.is_behind(key, ticket):
            return self._join(record, ticket)
        if record.claim.setdefault(None, lease) is not lease:
            return self._join(record, ticket)
        if record.closing is not None:
            record.claim.clear()
            return Refusal.ENDING
        record.thread = get_ident()
        record.since = now
        if is_use:
            record.used = now
            self.hits.add()
            self.records.move_to_end(key)
        return None

    def settle(self, record: Record, evicted: list[Record]) -> bool:
        """Evict what exceeds the cap. Returns whether the record went as well, since somebody asked
        for its end during a lease.
        """
        is_out = False
        with self.lock:
            if record.closing is not None:
                is_out = self._take_out(record, record.closing)
            self._make_room(0, evicted)
        return is_out

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
        records = self.snapshot()
        with self.lock:
            for record in records:
                if record.used > since:
                    break
                if self._claim(record):
                    record.closing = "idle"
                    removed.append(record)
            for record in removed:
                self._drop(record, "idle")

    def count_end(self, reason: Reason) -> None:
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

    def _join(self, record: Record, ticket: Ticket | None) -> Refusal:
        """Have a ticket wait for a record that was refused."""
        with self.lock:
            if self.records.get(record.key) is not record:
                return Refusal.MOVED_ON
            self.queues.join(record.key, ticket)
        # Looked at again: a lease that ended before the ticket was queued woke nobody.
        is_due = ticket is not None and not record.claim
        return Refusal.MOVED_ON if is_due else Refusal.LEASED

    def _take_out(self, record: Record, reason: Reason) -> bool:
        """Take a record out of the table, now or at the end of its lease."""
        record.closing = record.closing or reason
        if not self._claim(record):
            return False
        self._drop(record, record.closing)
        return True

    def _claim(self, record: Record) -> bool:
        """Get a record for good, unless it is leased or was taken out before."""
        return not record.claim and record.claim.setdefault(None, OUT_OF_TABLE) is OUT_OF_TABLE

    def _drop(self, record: Record, reason: Reason) -> None:
        del self.records[record.key]
        self.closed[reason] = self.closed.get(reason, 0) + 1

    def _has_place(self) -> bool:
        if len(self.records) < self.max_sessions:
            return True
        return any(not record.claim and record.key not in self.queues for record in self.snapshot())

    def _make_room(self, places: int, evicted: list[Record]) -> bool:
        """Evict until there are so many places within the cap. Returns whether there are now."""
        excess = len(self.records) + places - self.max_sessions
        while excess > 0:
            try:
                for record in self.records.values():
                    if record.key not in self.queues and self._claim(record):
                        evicted.append(record)
                        excess -= 1
                        if not excess:
                            break
                else:
                    break
            except RuntimeError:
                # A lookup or a lease moved one to the end.
                continue
        for record in evicted:
            del self.records[record.key]
        self.evictions += len(evicted)
        return excess <= 0
