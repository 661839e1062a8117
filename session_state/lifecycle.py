"""What happens around the table: sessions arrive, are leased and given back, and end."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from .endings import Endings
from .errors import SessionBusy, SessionNotFound, raise_all
from .ledger import Ledger
from .local import renew_after_forks
from .session import SessionState
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
    lease: int


class Lifecycle:
    """Moves sessions into the table and out of it, and does what is due, outside every lock.

    What is due is noted by destructors and weak references, which may run under any lock and in any
    thread, and is done at the next call of the manager.
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
        self.due: deque[Abandoned | ref[SessionState]] = deque()
        self._ledger = ledger
        self._endings = Endings(ledger, self.due.append)
        renew_after_forks(self)

    def add(
        self,
        record: Record,
        lease: int | None = None,
        ticket: Ticket | None = None,
        *,
        at_any_size: bool = False,
    ) -> Refusal | None:
        """Add a session to the table, which may evict others."""
        evicted: list[Record] = []
        self._ledger.admit(record.session)
        refusal = self.table.add(record, lease, evicted, ticket, at_any_size=at_any_size)
        if evicted:
            self._let_go(evicted)
        return refusal

    def give_back(self, record: Record, lease: int, is_use: bool = True) -> None:
        """End a lease, and close the session when that was asked for meanwhile. Raises as that does."""
        evicted: list[Record] = []
        # While nobody else can lease it.
        if record.session.status.touched:
            self._ledger.publish(record.session)
        is_closing = self.table.give_back(record, lease, self.clock(), evicted, is_use)
        if self.table.queues:
            self._wake(record.key, None)
        if evicted:
            self._let_go(evicted)
        if is_closing and record.closing is not None:
            self._finish([record.session], record.closing)

    def end(self, key: str, reason: Reason, *, only: SessionState | None = None) -> bool:
        """Close a session, at the end of its lease when it is leased. Returns whether there was one.

        With `only`, it is that one, which may have left the table before.
        """
        record, is_out = self.table.remove(key, reason, only=only)
        if record is None and only is not None and not only.status.closed:
            self.table.count(reason)
            self._finish([only], reason)
        elif record is not None and is_out:
            self._finish([record.session], reason)
        return record is not None

    def sweep(self, idle_seconds: float) -> int:
        """Close what is not leased and has been idle for so long. Returns how many that were."""
        removed: list[Record] = []
        self.table.remove_idle(self.clock() - idle_seconds, removed)
        self._finish([record.session for record in removed], "idle")
        return len(removed)

    @contextmanager
    def held(self, key: str) -> Iterator[SessionState]:
        """A session for the manager's own work: leased meanwhile, unless this thread leases it.

        Raises SessionNotFound and SessionBusy.
        """
        lease = object()
        while True:
            record = self.table.records.get(key)
            if record is None:
                raise SessionNotFound(f"session {key!r} is not in the table")
            refusal = self.table.hold(record, id(lease), self.clock())
            if refusal is not Refusal.MOVED_ON:
                break
        if refusal is not None and record.thread != threading.get_ident():
            raise SessionBusy(
                f"session {key!r} is leased by another thread; do this in that thread, or when "
                "the lease has ended"
            )
        try:
            yield record.session
        finally:
            if refusal is None:
                self.give_back(record, id(lease), is_use=False)

    def leave(self, ticket: Ticket) -> None:
        """Let one wait no longer; whoever is next tries in its place."""
        key, was_queued = ticket.key, ticket.is_queued
        self.table.leave(ticket)
        if was_queued:
            self._wake(key)

    def abandon(self, record: Record, lease: int) -> None:
        """Note that a lease was let go of. Takes no lock, and calls no code of others."""
        self.due.append(Abandoned(record, lease))
        for key in (record.key, None):
            ticket = self.table.queues.first(key)
            if ticket is not None:
                ticket.wake()

    def catch_up(self) -> None:
        """Do what is due, and close what was idle for too long. What objects raise is logged."""
        while self.due:
            try:
                due = self.due.popleft()
            except IndexError:
                # Another thread did it.
                break
            if isinstance(due, Abandoned):
                _log_errors(partial(self.give_back, due.record, due.lease))
            else:
                self.table.count("lru")
                self._endings.bury(due)
        if self.idle_seconds is not None:
            _log_errors(partial(self.sweep, self.idle_seconds))

    def after_fork(self) -> None:
        """Make it usable in a child, where the leases of other threads are abandoned."""
        self.table.after_fork()
        self._ledger.after_fork()
        own = threading.get_ident()
        for record in self.table.snapshot():
            if record.lease is not None and record.thread != own:
                self.due.append(Abandoned(record, record.lease))

    def _let_go(self, evicted: list[Record]) -> None:
        """Let evicted sessions go. Their destructors run here, and hooks of those that died."""
        while evicted:
            self._endings.detach(evicted.pop().session)
        if self.due:
            self.catch_up()

    def _finish(self, sessions: list[SessionState], reason: Reason) -> None:
        """Close sessions that have left the table. Raises what that raised, once all are done."""
        if self.table.queues:
            self._wake(None)
        errors: list[BaseException] = []
        for session in sessions:
            errors.extend(self._endings.close(session, reason))
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
