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
        left: list[Record],
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
            if is_behind or not (self._make_room(1, left) or at_any_size):
                self.queues.join(None, ticket)
                # Looked at again: a lease that ended before the ticket was queued woke nobody.
                is_due = ticket is not None and not is_behind and self._has_place()
                return Refusal.MOVED_ON if is_due else Refusal.FULL
            self.records[key] = record
            self.misses += 1
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

    def settle(self, record: Record, left: list[Record]) -> None:
        """Take out what exceeds the cap, and the record where somebody asked for its end."""
        with self.lock:
            if self.records.get(record.key) is record and (
                record.closing is not None or record.claim.get(None) is OUT_OF_TABLE
            ):
                self._take_out(record, left)
            self._make_room(0, left)

    def remove(
        self, key: str, reason: Reason, left: list[Record], *, only: Record | None = None
    ) -> Record | None:
        """Take a session, or `only` that one, out of the table; a leased one goes with its lease.

        Returns its record, None when there was none.
        """
        with self.lock:
            record = self.records.get(key)
            if record is None or (only is not None and record is not only):
                return None
            record.closing = record.closing or reason
            self._take_out(record, left)
        return record

    def remove_idle(self, since: float, left: list[Record]) -> None:
        """Take out what is not leased and was last used at `since` or before."""
        records = self.snapshot()
        with self.lock:
            for record in records:
                if record.used > since:
                    break
                if not record.claim and self.records.get(record.key) is record:
                    record.closing = record.closing or "idle"
                    self._take_out(record, left)

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
            if record.claim.get(None) is OUT_OF_TABLE:
                return Refusal.ENDING
            self.queues.join(record.key, ticket)
        # Looked at again: a lease that ended before the ticket was queued woke nobody.
        is_due = ticket is not None and not record.claim
        return Refusal.MOVED_ON if is_due else Refusal.LEASED

    def _take_out(self, record: Record, left: list[Record]) -> None:
        """Take a record out unless it is leased, and add it to those that left."""
        if self._claim(record, left):
            self._drop(record)

    def _claim(self, record: Record, left: list[Record]) -> bool:
        """Get a record of the table for good, unless it is leased.

        One that is claimed already is still there since an interrupt came before it was dropped. To
        be found then it is noted among those that leave before anything else happens.
        """
        left.append(record)
        if record.claim.setdefault(None, OUT_OF_TABLE) is OUT_OF_TABLE:
            return True
        left.pop()
        return False

    def _drop(self, record: Record) -> None:
        reason = record.closing
        count = 0 if reason is None else self.closed.get(reason, 0)
        # From here on no function is called, so that nothing interrupts.
        del self.records[record.key]
        if reason is None:
            self.evictions += 1
        else:
            self.closed[reason] = count + 1

    def _has_place(self) -> bool:
        if len(self.records) < self.max_sessions:
            return True
        return any(not record.claim and record.key not in self.queues for record in self.snapshot())

    def _make_room(self, places: int, left: list[Record]) -> bool:
        """Evict until there are so many places within the cap. Returns whether there are now."""
        first = len(left)
        excess = len(self.records) + places - self.max_sessions
        while excess > 0:
            try:
                for record in self.records.values():
                    is_free = not record.claim or record.claim.get(None) is OUT_OF_TABLE
                    if is_free and record.key not in self.queues and self._claim(record, left):
                        excess -= 1
                        if not excess:
                            break
                else:
                    break
            except RuntimeError:
                # A lookup or a lease moved one to the end.
                continue
        for at in range(first, len(left)):
            self._drop(left[at])
        return excess <= 0
