"""What an operator sees of each session, out of the books: nothing is walked for it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import attrs

from .extents import Place

if TYPE_CHECKING:
    from .ledger import Ledger
    from .session import SessionState
    from .table import Record, Table

SessionStatus = Literal["leased", "idle", "failed", "detached", "closed"]


@attrs.frozen
class SessionRow:
    """One session, in the table or still held by somebody.

    `cls` is the name of the generated class that opened it, or None. `idle_seconds` count from the
    last use and are 0 while it is leased, since `leased_seconds` ago. `steps` are leases that
    ended. Bytes are per device, as last published: `held`, of those `exclusive` to this session,
    which letting go of it would free, and `staged`. `unaccounted` has by field the types of what
    could not be seen.
    """

    session_id: str
    cls: str | None
    status: SessionStatus
    idle_seconds: float
    leased_seconds: float
    steps: int
    held: Mapping[str, int]
    exclusive: Mapping[str, int]
    staged: Mapping[str, int]
    unaccounted: Mapping[str, tuple[str, ...]]


def session_rows(table: "Table", ledger: "Ledger", now: float) -> list[SessionRow]:
    """The table from the least to the most recently used, then what left it and is still held."""
    rows = [_row(record.session, record, now) for record in table.snapshot()]
    listed = {row.session_id for row in rows}
    return rows + [
        _row(session, None, now)
        for account, session in ledger.sessions()
        if account.place is not Place.TABLE or account.session_id not in listed
    ]


def _row(session: "SessionState", record: "Record | None", now: float) -> SessionRow:
    account, opening = session.account, session.opening
    leased = record is not None and record.lease is not None
    return SessionRow(
        session_id=session.status.session_id,
        cls=None if opening is None else opening.cls.__name__,
        status=_status(session, record),
        idle_seconds=0.0 if leased or record is None else max(0.0, now - record.used),
        leased_seconds=max(0.0, now - record.since) if leased and record is not None else 0.0,
        steps=0 if record is None else record.steps,
        held={} if account is None else dict(+account.held),
        exclusive={} if account is None else dict(+account.exclusive),
        staged={} if account is None else dict(+account.staged),
        unaccounted={} if account is None else account.unaccounted,
    )


def _status(session: "SessionState", record: "Record | None") -> SessionStatus:
    if session.status.closed:
        return "closed"
    if record is None:
        return "detached"
    if record.lease is not None:
        return "leased"
    return "failed" if session.status.failed is not None else "idle"
