"""Leases: one holder of a session at a time."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from threading import enumerate as living_threads
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar, cast

from .errors import SessionBusy, SessionExists, SessionNotFound
from .local import StaysInProcess
from .table import Record, Refusal
from .waiting import TaskTicket, ThreadTicket, Ticket

if TYPE_CHECKING:
    from .manager import SessionStateManager
    from .view import SessionView

V_co = TypeVar("V_co", bound="SessionView", covariant=True)

Expect = Literal["any", "new", "existing"]

_MISSING: Final = object()


class Lease(
    StaysInProcess,
    AbstractContextManager[V_co, None],
    AbstractAsyncContextManager[V_co, None],
    Generic[V_co],
):
    """One holder's use of a session, as a context manager and as an asynchronous one.

    Entering leases the session and gives a view of it. While the lease lasts the session stays in
    the table, and nobody else leases it; a lease that is let go of gives the session back as well.
    """

    __slots__ = (
        "_args",
        "_expect",
        "_kwargs",
        "_make",
        "_manager",
        "_record",
        "_wait",
        "key",
    )

    def __init__(
        self,
        manager: "SessionStateManager",
        key: str,
        make: Callable[..., V_co],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        expect: Expect,
        wait: float | None,
    ) -> None:
        self._record: Record | None = None
        self._manager = manager
        self.key = key
        self._make = make
        self._args = args
        # Also the token of the lease, since it is new for each and refers to nothing of it.
        self._kwargs = kwargs
        self._expect = expect
        self._wait = wait

    def __repr__(self) -> str:
        use = "open it with `with`" if self._record is None else "held"
        return f"<Lease of session {self.key!r}: {use}>"

    def __enter__(self) -> V_co:
        """Lease the session, blocking for at most `wait` seconds while somebody else has it."""
        refusal = self._try(None)
        return self._opened() if refusal is None else self._waited(refusal)

    async def __aenter__(self) -> V_co:
        """Lease the session; while somebody else has it, other tasks go on."""
        refusal = self._try(None)
        return self._opened() if refusal is None else await self._awaited(refusal)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give the session back, and close it when that was asked for meanwhile."""
        record = self._record
        if record is not None:
            self._manager._lifecycle.give_back(record, self._kwargs)
            self._record = None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def __del__(self) -> None:
        # It may run under any lock, so that the session is given back at the manager's next call.
        if self._record is not None:
            self._manager._lifecycle.abandon(self._record, self._kwargs)

    def _try(self, ticket: Ticket | None) -> Refusal | None:
        """Lease the session unless it is refused. Raises what waiting would not change."""
        if self._record is not None:
            return Refusal.LEASED
        key, lifecycle = self.key, self._manager._lifecycle
        if lifecycle.due or lifecycle.idle_seconds is not None:
            lifecycle.catch_up()
        while True:
            now = lifecycle.clock()
            record = lifecycle.table.records.get(key)
            if record is None:
                refusal = self._add(Record(key, now), ticket)
            else:
                if self._expect == "new" or record.session.status.failed is not None:
                    self._refuse(record)
                # Noted before it is leased, so that an interrupt in between loses no session.
                self._record = record
                refusal = lifecycle.table.lease(record, self._kwargs, now, ticket)
            if refusal is None:
                return None
            self._record = None
            if ticket is not None:
                ticket.prepare()
            if refusal is Refusal.ENDING and record is not None:
                lifecycle.settle(record)
            elif refusal is not Refusal.MOVED_ON:
                return refusal

    def _add(self, record: Record, ticket: Ticket | None) -> Refusal | None:
        """Lease a session that was not there."""
        if self._expect == "existing":
            raise SessionNotFound(
                f"session {self.key!r} is not in the table: it ended, was evicted, or was never "
                'opened; open it with expect="any" to start anew'
            )
        self._record = record
        return self._manager._lifecycle.add(record, self._kwargs, ticket)

    def _refuse(self, record: Record) -> None:
        """Raise what keeps the record from being leased."""
        if self._expect == "new":
            raise SessionExists(
                f"session {self.key!r} is in the table; close it first, or use another id"
            )
        record.session.status.require_whole()

    def _opened(self) -> V_co:
        """The view: that of the last lease, where a new one would be its like."""
        record: Any = self._record
        kwargs, view = self._kwargs, record.view
        if type(view) is not self._make or self._args:
            return self._made(record)
        if (kwargs or record.given) and not _same(kwargs, record.given):
            return self._made(record)
        return cast("V_co", view)

    def _made(self, record: Record) -> V_co:
        """A new view. When making it raises there is no lease, and no session that was not there."""
        record.opening = record.opening or "existing"
        try:
            view = self._make(self.key, self._manager, *self._args, **self._kwargs)
        except BaseException:
            self._abandon(record)
            raise
        record.opening = None
        if not getattr(self._make, "_has_own_state", True):
            record.view, record.given = view, self._kwargs or None
        return view

    def _abandon(self, record: Record) -> None:
        lifecycle = self._manager._lifecycle
        is_new, record.opening = record.opening == "new", None
        if is_new:
            lifecycle.table.remove(self.key, "failed", [], only=record)
        lifecycle.give_back(record, self._kwargs, is_use=False)
        self._record = None

    def _waited(self, refusal: Refusal) -> V_co:
        """Try again whenever somebody lets go, until the time is up."""
        if not self._wait:
            raise self._busy(refusal)
        end, ticket = monotonic() + self._wait, ThreadTicket()
        try:
            while (again := self._try(ticket)) is not None:
                if not ticket.wait(end - monotonic()):
                    raise self._busy(again)
        finally:
            self._manager._lifecycle.leave(ticket)
        return self._opened()

    async def _awaited(self, refusal: Refusal) -> V_co:
        if not self._wait:
            raise self._busy(refusal)
        end, ticket = monotonic() + self._wait, TaskTicket()
        try:
            while (again := self._try(ticket)) is not None:
                if not await ticket.wait(end - monotonic()):
                    raise self._busy(again)
        finally:
            self._manager._lifecycle.leave(ticket)
        return self._opened()

    def _busy(self, refusal: Refusal) -> SessionBusy:
        """The error, which says as much as can still be seen."""
        end = f"; waited {self._wait:g} s" if self._wait else "; pass wait=<seconds> to wait for it"
        table = self._manager._lifecycle.table
        if refusal is Refusal.FULL:
            return SessionBusy(
                f"session {self.key!r} has no place: the table is full, and each of its "
                f"{table.max_sessions} sessions is leased or waited for{end}, or raise max_sessions"
            )
        record = table.records.get(self.key)
        if record is None or record.lease is None:
            return SessionBusy(f"session {self.key!r} is waited for by others{end}")
        names = {thread.ident: thread.name for thread in living_threads()}
        holder = names.get(record.thread, "a thread that ended")
        seconds = self._manager._lifecycle.clock() - record.since
        return SessionBusy(f"session {self.key!r} is leased for {seconds:.3g} s by {holder}{end}")


def _same(given: dict[str, Any], before: dict[str, Any] | None) -> bool:
    """Whether the very same objects were given."""
    if before is None or len(given) != len(before):
        return False
    return all(before.get(name, _MISSING) is value for name, value in given.items())
