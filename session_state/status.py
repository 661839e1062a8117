"""What a session, its objects and its views all know about it, without knowing each other."""

import weakref
from collections import deque
from typing import Any, Final

from .errors import SessionClosed

EVERYTHING: Final = ""
"""Marks a session of which any field may have changed: it was read or written by hand."""


class Status:
    """The state of one session: its id, whether it is closed, and which fields were touched.

    It refers to nothing that holds the session, so that an evicted one dies by reference count
    alone. A read marks its field before it hands the value out, a write after it stored it: no
    publication falls between the two. While a field is marked, using it again costs one look into
    `touched`; a closed session keeps no marks, so that each use asks here.
    """

    __slots__ = ("session_id", "closed", "failed", "touched", "queued", "_queue", "_session")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.closed = False
        self.failed: str | None = None
        self.touched: set[str] = set()
        self.queued = False
        self._queue: deque[weakref.ref[Any]] | None = None
        self._session: weakref.ref[Any] | None = None

    def report_to(self, queue: "deque[weakref.ref[Any]]", session: "weakref.ref[Any]") -> None:
        """Put `session` into `queue` whenever it is touched for the first time since published."""
        self._queue, self._session = queue, session
        if self.touched:
            self._enqueue()

    def touch(self, field: str) -> None:
        """Mark `field` as read; a closed session is not marked."""
        if self.closed:
            return
        self.touched.add(field)
        if self.closed:
            self.touched.discard(field)
        elif not self.queued:
            self._enqueue()

    def wrote(self, field: str) -> None:
        """Mark `field` as written. Raises SessionClosed when the session ended meanwhile."""
        self.touch(field)
        self.require_open(field)

    def take_touched(self) -> set[str]:
        """The marks, which are gone then. What is touched from now on is marked again."""
        self.queued = False
        taken = set()
        while self.touched:
            try:
                taken.add(self.touched.pop())
            except KeyError:
                break
        return taken

    def require_open(self, field: str) -> None:
        """Raise SessionClosed, naming `field`, unless the session is open."""
        if self.closed:
            raise SessionClosed(
                f"session {self.session_id!r} is closed, so field {field!r} cannot be written; "
                "open the id again with a new view"
            )

    def _enqueue(self) -> None:
        if self._queue is not None and self._session is not None:
            self.queued = True
            self._queue.append(self._session)
