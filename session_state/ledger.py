"""Running totals of what sessions hold."""

from .session import SessionState


class Ledger:
    """Told by the manager where sessions come from and go to, outside the table's lock."""

    def admit(self, session: SessionState) -> None:
        """A new session came into the table."""

    def detach(self, session: SessionState) -> None:
        """It left the table by eviction; a view may still hold it."""

    def publish(self, session: SessionState) -> None:
        """A lease on it ended, or it is about to be released."""

    def end(self, session: SessionState) -> None:
        """It was closed and released."""
