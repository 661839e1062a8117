"""What a session, its objects and its views all know about it, without knowing each other."""

import weakref
from typing import Any, Final

from .errors import SessionClosed, SessionFailed

EVERYTHING: Final = ""
"""Marks a session of which any field may have changed: it was read or written by hand."""


class Status:
    """The state of one session: its id, whether it is closed or failed, which fields were touched.

    It refers to nothing that holds the session, so that an evicted one dies by reference count
    alone. A read marks its field before it hands the value out, a write after it stored it: no
    publication falls between the two. While a field is marked, using it again costs one look into
    `touched`; a closed or failed session keeps no marks there, so that each use asks here.

    `failed` names the field that may be half written, or None.
    """

    __slots__ = (
        *("session_id", "closed", "failed", "touched"),
        *("_withheld", "_queue", "_session"),
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.closed = False
        self.failed: str | None = None
        self.touched: set[str] = set()
        # Made when the session fails: most never do, and there are many.
        self._withheld: set[str] | None = None
        self._queue: dict[weakref.ref[Any], None] | None = None
        self._session: weakref.ref[Any] | None = None

    def report_to(self, queue: "dict[weakref.ref[Any], None]", session: "weakref.ref[Any]") -> None:
        """Put `session` into `queue` whenever it is touched and not in there."""
        self._queue, self._session = queue, session
        if self.touched:
            queue[session] = None

    def touch(self, field: str) -> None:
        """Mark `field` as used; a closed session is not marked."""
        if self.closed:
            return
        try:
            self.touched.add(field)
            if self.closed:
                self.touched.discard(field)
            elif self.failed is not None:
                self._withhold()
        finally:
            # Whatever interrupts, what is marked is queued: nobody marks it a second time.
            if self._queue is not None and self._session is not None:
                self._queue[self._session] = None

    def reads(self, field: str) -> None:
        """Mark `field` as read. Raises SessionFailed."""
        self.require_whole()
        self.touch(field)

    def writes(self, field: str) -> None:
        """Mark `field` as about to be written, since an interrupt may come right behind the write.

        Raises as `require_open` does.
        """
        self.require_open(field)
        if field not in self.touched:
            self.touch(field)

    def wrote(self, field: str) -> None:
        """Mark `field` as written. Raises SessionClosed when the session ended meanwhile."""
        self.touch(field)
        self.require_open(field)
        self.renew(field)

    def take_touched(self, into: set[str]) -> None:
        """Move the marks into a set. What is touched from now on is marked again."""
        _pour(self.touched, into)
        if self._withheld is not None:
            _pour(self._withheld, into)

    def require_open(self, *fields: str) -> None:
        """Raise unless `fields` can be written: SessionClosed, naming the first of them.

        Raises SessionFailed too, unless the half-written field is one of them and so made anew.
        """
        if self.closed:
            raise SessionClosed(
                f"session {self.session_id!r} is closed, so field {fields[0]!r} cannot be written; "
                "open the id again with a new view"
            )
        failed = self.failed
        # Writing one value of a branch is on the way to writing all of it.
        is_part = failed is not None and any(field.startswith(f"{failed}/") for field in fields)
        if not is_part and not self._covers_failed(fields):
            self.require_whole()

    def require_whole(self) -> None:
        """Raise SessionFailed, naming the field, where one may be half written."""
        if self.failed is not None:
            raise SessionFailed(
                f"session {self.session_id!r}: field {self.failed!r} may be half written, since an "
                f"exception ended a loan of it; call manager.reset({self.session_id!r}), or assign "
                "the field anew"
            )

    def fail(self, field: str) -> None:
        """Note that `field` may be half written; the first to fail is the one that is named."""
        if self.failed is None:
            self.failed = field
            self._withhold()

    def renew(self, *fields: str) -> None:
        """Note that `fields` were made anew."""
        if self._covers_failed(fields):
            self.failed = None

    def _covers_failed(self, fields: tuple[str, ...]) -> bool:
        """Whether the half-written value is one of `fields`, or a key of a family among them."""
        failed = self.failed
        return failed is not None and (failed in fields or failed.partition("/")[0] in fields)

    def _withhold(self) -> None:
        """Keep the marks for the next publication, and out of the way of those who look for them."""
        if self._withheld is None:
            self._withheld = set()
        _pour(self.touched, self._withheld)


def _pour(marks: set[str], into: set[str]) -> None:
    """Move marks; an interrupt leaves each in one of the two at least."""
    moved = marks.copy()
    into.update(moved)
    marks.difference_update(moved)
