"""Which sessions there are, who uses them, and how they end."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from threading import Lock, get_ident
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, get_args

from .acting import Acting
from .audit import Drift, audit
from .config import DEFAULT_MAX_SESSIONS, resolve_session_state_config
from .errors import raise_all
from .generations import generation
from .ids import session_key
from .leases import Expect, Lease
from .ledger import Ledger
from .lifecycle import Lifecycle
from .local import StaysInProcess
from .reading import KeepsBooks
from .reclaim import Reclaimed, reclaim
from .rows import SessionRow, session_rows
from .session import SessionState
from .show import by_device, sessions_html
from .table import Record, Table

if TYPE_CHECKING:
    from .view import SessionView

__all__ = [
    "DEFAULT_MAX_SESSIONS",
    "SessionState",
    "SessionStateManager",
    "resolve_session_state_config",
]

P = ParamSpec("P")
V = TypeVar("V", bound="SessionView")

CloseReason = Literal["client", "idle", "failed", "shutdown"]
_CLOSE_REASONS = get_args(CloseReason)
_EXPECTATIONS = get_args(Expect)


class SessionStateManager(KeepsBooks, StaysInProcess):
    """Sessions by id, capped by count; the least recently used leaves the table first.

    Leaving the table frees nothing: a view that holds the session keeps its state. `close` and
    `drop_session` release. A leased session stays in the table, which exceeds its cap for the
    older calls while all are leased. `byte_budget` is recorded and reported, not enforced.

    With `idle_seconds`, whatever opens a session first closes those that were idle for so long by
    `clock`, which counts seconds. There is no thread behind this; `sweep` does the same when called.

    An id is a non-empty str; None means "default". Other ids raise ValueError or TypeError.
    """

    def __init__(
        self,
        max_sessions: int = DEFAULT_MAX_SESSIONS,
        byte_budget: int | None = None,
        lock_factory: Callable[[], AbstractContextManager[Any]] = Lock,
        *,
        idle_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make an empty manager. Raises ValueError unless `max_sessions` is at least 1."""
        self.byte_budget = byte_budget
        self.ledger = Ledger(clock)
        self._table = Table(max_sessions, lock_factory)
        self._lifecycle = Lifecycle(self._table, self.ledger, clock, idle_seconds)
        self._acting = Acting(self._lifecycle.held)

    @property
    def max_sessions(self) -> int:
        """How many sessions there may be."""
        return self._table.max_sessions

    @property
    def hits(self) -> int:
        """How often a session was opened that was there."""
        return int(self._table.hits)

    @property
    def misses(self) -> int:
        """How often a session was made."""
        return self._table.misses

    @property
    def evictions(self) -> int:
        """How many sessions left the table for others."""
        return self._table.evictions

    def get_or_create_session(self, session_id: str | None) -> SessionState:
        """The session under the id, now the most recent; made when absent, which may evict."""
        key = session_id if type(session_id) is str and session_id else session_key(session_id)
        lifecycle, records = self._lifecycle, self._table.records
        if lifecycle.due or lifecycle.idle_seconds is not None:
            lifecycle.catch_up()
        while True:
            record = records.get(key)
            if record is None:
                record = Record(key, lifecycle.clock())
                if lifecycle.add(record, at_any_size=True) is None:
                    return record.session
                continue
            try:
                records.move_to_end(key)
            except KeyError:
                # Another thread took it out meanwhile.
                continue
            record.used = lifecycle.clock()
            self._table.hits.add()
            return record.session

    def session(
        self,
        cls: Callable[Concatenate[str | None, "SessionStateManager", P], V],
        session_id: str | None,
        expect: Expect = "any",
        wait: float | None = None,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Lease[V]:
        """Lease a session, for `with` and for `async with`, which give a view of class `cls`.

        `expect` says whether it is to be "new", "existing", or "any" of both. While somebody else
        has the session it is waited for, at most `wait` seconds; first come, first served.

        Entering raises SessionExists, SessionNotFound, SessionBusy or SessionFailed, or what making
        the view raises; then there is no lease, and no session that was not there.
        """
        if expect != "any" and expect not in _EXPECTATIONS:
            raise ValueError(f'expect is "any", "new" or "existing", got {expect!r}')
        if wait is not None and not wait >= 0:
            raise ValueError(f"wait is a number of seconds, at least 0, got {wait!r}")
        key = session_id if type(session_id) is str and session_id else session_key(session_id)
        return Lease(self, key, cls, args, kwargs, expect, wait)

    def generation(
        self,
        cls: Callable[Concatenate[str | None, "SessionStateManager", P], V],
        session_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> AbstractContextManager[V]:
        """A view of a new session that is closed at the end, on errors too.

        It closes its own session, evicted or not, and whoever has the id by then; with the reason
        "client", or "failed" after an exception. It is not leased. Raises SessionExists when the
        id is in the table, and SessionBusy when every session of a full table is leased; nothing
        was created then.
        """
        make = partial(cls, session_id, self, *args, **kwargs)
        return generation(self._lifecycle, session_key(session_id), make)

    def peek(self, session_id: str | None) -> SessionState | None:
        """The session under the id, or None; it is not made, and not more recent than before."""
        record = self._table.records.get(session_key(session_id))
        return None if record is None else record.session

    def close(self, session_id: str | None, reason: CloseReason = "client") -> bool:
        """Take the session out of the table, release all that it holds, and tell its hooks.

        A leased session ends with its lease, for the reason that was given first. Returns whether
        there was one. Raises what its objects' resets raised, once all are done.
        """
        if reason not in _CLOSE_REASONS:
            raise ValueError(f"reason is one of {_CLOSE_REASONS}, got {reason!r}")
        key = session_key(session_id)
        self._lifecycle.catch_up()
        return self._lifecycle.end(key, reason)

    def drop_session(self, session_id: str | None) -> bool:
        """Close the session, as `close(session_id, "client")` does, and count it under `drops`."""
        was_there = self.close(session_id)
        if was_there:
            with self._table.lock:
                self._table.drops += 1
        return was_there

    def close_all(self, reason: CloseReason = "shutdown") -> int:
        """Close every session, the leased ones with their leases. Returns how many that were.

        Raises as `close` does, once all are closed.
        """
        errors: list[BaseException] = []
        closed = 0
        for record in self._table.snapshot():
            try:
                closed += self.close(record.key, reason)
            except Exception as error:
                closed += 1
                errors.append(error)
        raise_all("several sessions failed to close", errors)
        return closed

    def sweep(self, idle_seconds: float) -> int:
        """Close what is not leased and was last opened, or given back, so long ago or longer.

        Returns how many sessions that were. Raises as `close` does, once all are closed.
        """
        self._lifecycle.catch_up()
        return self._lifecycle.sweep(idle_seconds)

    def reset(self, session_id: str | None) -> None:
        """Clear the session, also one that failed; its views, objects and params stay, and go on.

        Raises SessionNotFound, and SessionBusy while another thread leases it. Raises what its
        objects' resets raised, once all are done.
        """
        key = session_key(session_id)
        self._lifecycle.catch_up()
        with self._lifecycle.held(key) as session:
            try:
                session.reset()
            finally:
                opening = session.opening
                if opening is not None:
                    opening.cls._over(session, opening.params)._make_objects()

    def release(self, session_id: str | None, field: str) -> dict[str, int]:
        """Let go of a field, or of one branch of a family, named `field/key`.

        Returns the bytes that this freed per device, with 0 where something else holds all of them;
        nothing where there was nothing. What ends with the field stays, since its value is away and
        is not another. Raises SessionNotFound, SessionBusy while another thread leases it,
        ManagerMayNot, AttributeError for no field of the session and UnknownKey for no key of it.
        """
        self._lifecycle.catch_up()
        return self._acting.release(session_key(session_id), field)

    def rebuild(self, session_id: str | None, field: str) -> None:
        """Make a field that is absent anew, or all absent branches of a family, sources first.

        Raises as `release` does, NoRebuild where a callable is missing, FieldUnset where a source
        is; nothing was rebuilt then.
        """
        self._lifecycle.catch_up()
        self._acting.rebuild(session_key(session_id), field)

    def register_rebuild(
        self, cls: "type[SessionView]", field: str, function: Callable[..., Any]
    ) -> None:
        """Rebuild a field of the sessions of `cls` by `function`, in place of one before it.

        `function(view, *keys)` returns the value of the field, in a family that of the branch under
        `keys`. Raises AttributeError for no field of the class, and ManagerMayNot.
        """
        self._acting.register(cls, field, function)

    def reclaim(self, device: str, nbytes: int) -> list[Reclaimed]:
        """Release fields of sessions that nobody leases until `nbytes` more are free on `device`.

        What is cheapest to rebuild per byte goes first, of equal ones that of the session longest
        unused; nothing goes before what is rebuilt from it, and nothing that could not be rebuilt.
        Returns what was released, in order; that may have freed less. Raises ValueError below 0.
        """
        self._lifecycle.catch_up()
        idle = [one.session for one in self._table.snapshot() if one.lease is None]
        return reclaim(self._acting, idle, device, nbytes)

    def nbytes_by_device(self) -> dict[str, int]:
        """Bytes of all sessions in the table per device, each storage once."""
        self.ledger.publish_touched()
        return dict(self.ledger.table())

    def stats(self) -> dict[str, int]:
        """Counters and bytes, as last published; walks only what was touched, and waits for nobody.

        sessions, max_sessions, hits, misses, evictions, drops; `closed:<reason>` for each reason for
        which sessions ended; byte_budget when there is one. Bytes for each device that holds some:
        `nbytes:<device>` of the table, total_nbytes for their sum, of those `staged:<device>` and
        `pinned:cpu`; beside them `detached:<device>` and `lingering:<device>`; `peak:<device>`.
        unaccounted is the number of fields that hold something which could not be seen.
        """
        self.ledger.publish_touched()
        table = self._table
        counters = {
            "sessions": len(table.records),
            "max_sessions": table.max_sessions,
            "hits": int(table.hits),
            "misses": table.misses,
            "evictions": table.evictions,
            "drops": table.drops,
        }
        if self.byte_budget is not None:
            counters["byte_budget"] = self.byte_budget
        counters |= {f"closed:{reason}": count for reason, count in list(table.closed.items())}
        return counters | self.ledger.totals()

    def sessions(self) -> list[SessionRow]:
        """One row per session, and per session that left the table and is still held.

        Bytes are as `stats()` has them; nothing else is walked.
        """
        self.ledger.publish_touched()
        return session_rows(self._table, self.ledger, self._lifecycle.clock())

    def audit(self) -> list[Drift]:
        """Walk everything, and return where that differs from the books; [] when it does not.

        For aliases that changed since the last touch of their session, and for the mistakes that
        the books may have. Takes as long as it takes.
        """
        return audit(self.ledger, [record.session for record in self._table.snapshot()])

    def __repr__(self) -> str:
        records = self._table.records
        return (
            f"<{type(self).__name__} {len(records)} of {self.max_sessions} sessions, "
            f"{by_device(self.ledger.table())}>"
        )

    def _repr_html_(self) -> str:
        rows = session_rows(self._table, self.ledger, self._lifecycle.clock())
        return sessions_html(repr(self).strip("<>"), rows)

    def __len__(self) -> int:
        return len(self._table.records)

    def __contains__(self, session_id: str | None) -> bool:
        return session_key(session_id) in self._table.records

    def __bool__(self) -> Literal[True]:
        return True

    def _session_for_view(self, session_id: str | None) -> SessionState:
        """The session that a view is being made of."""
        # A leased session stays in the table, so that this thread may look it up without the lock.
        record = self._table.records.get(session_id)  # type: ignore[arg-type]
        if record is not None and record.opening and record.thread == get_ident():
            return record.session
        beginning = self._lifecycle.beginning.generation
        if beginning is not None and beginning.key == session_key(session_id):
            return beginning.session_of_its_own()
        return self.get_or_create_session(session_id)
