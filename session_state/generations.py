"""Generations: sessions for the time of one request."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from .errors import SessionBusy, SessionExists
from .lifecycle import Lifecycle
from .table import Reason, Record, Refusal

if TYPE_CHECKING:
    from .session import SessionState
    from .view import SessionView

V = TypeVar("V", bound="SessionView")


class Generation:
    """One generation: its session once its view asked for it, whoever has the id by then."""

    def __init__(self, lifecycle: Lifecycle, key: str) -> None:
        self.key = key
        self.record: Record | None = None
        self._lifecycle = lifecycle

    def session_of_its_own(self) -> "SessionState":
        """The generation's own session, made when it is first asked for."""
        if self.record is not None:
            return self.record.session
        # Noted first, so that an interrupt loses no session.
        record = self.record = Record(self.key, self._lifecycle.clock())
        refusal = self._lifecycle.add(record)
        if refusal is None:
            return record.session
        self.record = None
        if refusal is Refusal.MOVED_ON:
            raise SessionExists(
                f"session {self.key!r} is in the table; drop it first, or use another id"
            )
        raise SessionBusy(
            f"generation {self.key!r} has no place: every session of the table, "
            f"{self._lifecycle.table.max_sessions} at most, is leased or waited for; end a lease, or "
            "raise max_sessions"
        )


@contextmanager
def generation(lifecycle: Lifecycle, key: str, make: Callable[[], V]) -> Iterator[V]:
    """The view that `make` makes of a new session, which is closed at the end."""
    lifecycle.catch_up()
    begun, beginning = Generation(lifecycle, key), lifecycle.beginning
    reason: Reason = "failed"
    try:
        outer, beginning.generation = beginning.generation, begun
        try:
            view = make()
        finally:
            beginning.generation = outer
        yield view
        reason = "client"
    finally:
        if begun.record is not None:
            lifecycle.end(key, reason, only=begun.record)
