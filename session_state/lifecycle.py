"""What happens around the table: sessions arrive, are leased and given back, and end."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from .endings import Endings, take
from .errors import SessionBusy, SessionNotFound, raise_all
from .ledger import Ledger
from .local import renew_after_forks
from .session import OUT_OF_TABLE, SessionState
from .table import Reason, Record, Refusal, Table
from .waiting import Ticket

if TYPE_CHECKING:
    from .generations import Generation

log = logging.getLogger(__name__)


class Beginning(threading.local):
    """The generation that this thread is making a view for."""

    generation: "Generation | None" = None


class Abandoned(NamedTuple):
    """A lease that was let go of."""

    record: Record
    lease: object


class Lifecycle:
    """Moves sessions into the table and out of it, and does what is due, outside every lock.

    What is due is noted by destructors and weak references, which may run under any lock and in any
    thread, and where an interrupt cut something short; it is done at the next call of the manager.
    """

    def __init__(
        self,
        table: Table,
        ledger: Ledger,
        clock: Callable[[], float],
        idle_seconds: float | None,
    ) -> None:
        self.table = table
        self.clock = clock
        self.idle_seconds = idle_seconds
        self.beginning = Beginning()
        self.due: deque[Abandoned | Record | ref[SessionState]] = deque()
        self._ledger = ledger
        self._endings = Endings(ledger, self.due.append)
        renew_after_forks(self)

    def add(
        self,
        record: Record,
        lease: object | None = None,
        ticket: Ticket | None = None,
        *,
        at_any_size: bool = False,
    ) -> Refusal | None:
        """Add a session to the table, which may evict others."""
        left: list[Record] = []
        try:
            self._ledger.admit(record.session)
            refusal = self.table.add(record, lease, left, ticket, at_any_size=at_any_size)
            if left:
                self._see_off(left)
        except BaseException:
            self.due.extend(left)
            raise
        return refusal

    def give_back(self, record: Record, lease: object, is_use: bool = True) -> None:
        """End a lease, and do what waited for that. Raises as closing does."""
        if record.claim.get(None) is not lease:
            # Forgotten in a fork, or interrupted before it began.
            return
        table, session = self.table, record.session
        if session.status.touched:
            # While nobody else can lease it.
            self._ledger.publish(session)
        if is_use:
            now = self.clock()
            record.used = now
            record.steps += 1
            record.leased_seconds += now - record.since
            table.records.move_to_end(record.key)
        record.thread = 0
        try:
            record.claim.clear()
            # In this order: who asks for something during a lease notes it, then looks at the lease.
            if (
                record.closing is not None
                or table.queues
                or len(table.records) > table.max_sessions
            ):
                self.settle(record)
        except BaseException:
            self.due.append(record)
            raise

    def settle(self, record: Record) -> None:
        """Do what waited for the end of a lease on `record`. Raises as closing does."""
        left: list[Record] = []
        try:
            self.table.settle(record, left)
            if self.table.queues:
                self._wake(record.key, None)
            self._see_off(left)
        except BaseException:
            self.due.extend(left)
            raise

    def end(self, key: str, reason: Reason, *, only: Record | None = None) -> bool:
        """Close a session, at the end of its lease when it is leased. Returns whether there was one.

        With `only`, it is that one, which may have left the table before.
        """
        left: list[Record] = []
        try:
            record = self.table.remove(key, reason, left, only=only)
            # One that never came into the table has no claim, and one that another thread is closing
            # was counted.
            if record is None and only is not None and only.claim:
                left.append(only)
                if only.closing is None and not only.session.status.closed:
                    only.closing = reason
                    self.table.count_end(reason)
            self._see_off(left)
        except BaseException:
            self.due.extend(left)
            raise
        return record is not None

    def sweep(self, idle_seconds: float) -> int:
        """Close what is not leased and has been idle for so long. Returns how many that were."""
        left: list[Record] = []
        try:
            self.table.remove_idle(self.clock() - idle_seconds, left)
            count = len(left)
            self._see_off(left)
        except BaseException:
            self.due.extend(left)
            raise
        return count

    @contextmanager
    def held(self, key: str) -> Iterator[SessionState]:
        """A session for the manager's own work: leased meanwhile, unless this thread leases it.

        Raises SessionNotFound and SessionBusy.
        """
        lease = object()
        abandoned: Abandoned | None = None
        try:
            while True:
                record = self.table.records.get(key)
                if record is None:
                    raise SessionNotFound(f"session {key!r} is not in the table")
                abandoned = Abandoned(record, lease)
                refusal = self.table.lease(record, lease, self.clock(), is_use=False)
                if refusal is None or refusal is Refusal.LEASED:
                    break
                if refusal is Refusal.ENDING:
                    self.settle(record)
            if refusal is not None and record.thread != threading.get_ident():
                raise SessionBusy(
                    f"session {key!r} is leased by another thread; do this in that thread, or when "
                    "the lease has ended"
                )
            try:
                yield record.session
            finally:
                if refusal is None:
                    self.give_back(record, lease, is_use=False)
        except BaseException:
            # Which does nothing where it was given back.
            if abandoned is not None:
                self.due.append(abandoned)
            raise

    def leave(self, ticket: Ticket) -> None:
        """Let one wait no longer; whoever is next tries in its place."""
        key, was_queued = ticket.key, ticket.is_queued
        self.table.leave(ticket)
        if was_queued:
            self._wake(key)

    def abandon(self, record: Record, lease: object) -> None:
        """Note that a lease was let go of. Takes no lock, and calls no code of others."""
        self.due.append(Abandoned(record, lease))
        for key in (record.key, None):
            ticket = self.table.queues.first(key)
            if ticket is not None:
                ticket.wake()

    def catch_up(self) -> None:
        """Do what is due, and close what was idle for too long. What objects raise is logged."""
        while self.due:
            taken: list[Abandoned | Record | ref[SessionState]] = []
            try:
                take(self.due.popleft, taken)
                for due in taken:
                    self._do(due)
            except BaseException:
                self.due.extendleft(taken)
                raise
        if self.idle_seconds is not None:
            _log_errors(partial(self.sweep, self.idle_seconds))

    def _do(self, due: "Abandoned | Record | ref[SessionState]") -> None:
        """Do what is due, also what was done before or by half."""
        if isinstance(due, Abandoned):
            # One that was interrupted before it was added had no use.
            was_used = self.table.records.get(due.record.key) is due.record
            _log_errors(partial(self.give_back, due.record, due.lease, was_used))
        elif isinstance(due, Record):
            _log_errors(partial(self.settle, due))
            if due.claim.get(None) is OUT_OF_TABLE:
                _log_errors(partial(self._see_off, [due]))
        elif self._endings.bury(due):
            self.table.count_end("lru")

    def after_fork(self) -> None:
        """Make it usable in a child, where the leases of other threads are abandoned."""
        self.table.after_fork()
        own = threading.get_ident()
        for record in self.table.snapshot():
            if record.lease is not None and record.thread != own:
                self.due.append(Abandoned(record, record.lease))

    def _see_off(self, left: list[Record]) -> None:
        """Close, or let go, what has left the table; `left` has what is still to do.

        Destructors run here, and hooks. Raises what that raised, once all are done.
        """
        if self.table.queues:
            self._wake(None)
        errors: list[BaseException] = []
        while left:
            reason = left[0].closing
            if reason is None:
                self._endings.detach(left[0].session)
            else:
                errors += self._endings.close(left[0].session, reason)
            del left[0]
            if reason is None and self.due:
                self.catch_up()
        raise_all("several sessions failed to close", errors)

    def _wake(self, *keys: str | None) -> None:
        """Let those try again whose turn it is to have one of `keys`."""
        for key in keys:
            ticket = self.table.queues.first(key)
            while ticket is not None and not ticket.wake():
                self.table.leave(ticket)
                ticket = self.table.queues.first(key)


def _log_errors(action: Callable[[], object]) -> None:
    try:
        action()
    except Exception:
        log.exception("a session that was due to end raised; it has ended all the same")
