"""What a session, its objects and its views all know about it, without knowing each other."""

from .errors import SessionClosed, SessionFailed


class Status:
    """The state of one session: its id, whether it is closed, and which field may be half written.

    It refers to nothing else, so that an evicted session dies by reference count alone.
    """

    __slots__ = ("session_id", "closed", "failed")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.closed = False
        self.failed: str | None = None

    def require_open(self, *fields: str) -> None:
        """Raise unless `fields` can be written: SessionClosed, naming the first of them.

        Raises SessionFailed too, unless the half-written field is one of them and so made anew.
        """
        if self.closed:
            raise SessionClosed(
                f"session {self.session_id!r} is closed, so field {fields[0]!r} cannot be written; "
                "open the id again with a new view"
            )
        if not self._covers_failed(fields):
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

    def renew(self, *fields: str) -> None:
        """Note that `fields` were made anew."""
        if self._covers_failed(fields):
            self.failed = None

    def _covers_failed(self, fields: tuple[str, ...]) -> bool:
        """Whether the half-written value is one of `fields`, or a key of a family among them."""
        failed = self.failed
        return failed is not None and (failed in fields or failed.partition("/")[0] in fields)
