"""What a session, its objects and its views all know about it, without knowing each other."""

from .errors import SessionClosed


class Status:
    """The state of one session: its id, whether it is closed, and which field is half written.

    It refers to nothing else, so that an evicted session dies by reference count alone.
    """

    __slots__ = ("session_id", "closed", "failed")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.closed = False
        self.failed: str | None = None

    def require_open(self, field: str) -> None:
        """Raise SessionClosed, naming `field`, unless the session is open."""
        if self.closed:
            raise SessionClosed(
                f"session {self.session_id!r} is closed, so field {field!r} cannot be written; "
                "open the id again with a new view"
            )
