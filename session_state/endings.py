"""How sessions end: released, and their hooks told, each once and outside every lock."""

import logging
import weakref
from collections.abc import Callable

from .errors import raise_all
from .ledger import Ledger
from .session import Hook, SessionState

log = logging.getLogger(__name__)


class _Detached(weakref.ref[SessionState]):
    """An evicted session that a view may still hold, and what is to be done when it dies."""

    __slots__ = ("hooks", "key", "session_id")

    key: int
    session_id: str
    hooks: list[Hook]


class Endings:
    """Ends sessions that have left the table: at once, or when their last view lets go."""

    def __init__(self, ledger: Ledger, note: Callable[[weakref.ref[SessionState]], None]) -> None:
        """`note` is told of evicted sessions that died, in any thread and under any lock."""
        self._ledger = ledger
        self._note = note
        self._detached: dict[int, _Detached] = {}

    def close(self, session: SessionState, reason: str) -> list[BaseException]:
        """Release a session and tell its hooks. Returns what that raised."""
        self._detached.pop(id(session), None)
        errors: list[BaseException] = []
        self._ledger.publish(session)
        try:
            session.close()
        except BaseException as error:
            errors.append(error)
        self._ledger.end(session)
        errors.extend(_tell(session.status.session_id, session._hooks, reason))
        return errors

    def detach(self, session: SessionState) -> None:
        """Note what is to be done when an evicted session dies."""
        detached = _Detached(session, self._note)
        detached.key = id(session)
        detached.session_id = session.status.session_id
        detached.hooks = session._hooks
        self._detached[detached.key] = detached
        self._ledger.detach(session)

    def bury(self, died: weakref.ref[SessionState]) -> None:
        """Tell the hooks of an evicted session that died. Raises interrupts only."""
        assert isinstance(died, _Detached)
        if self._detached.get(died.key) is died:
            del self._detached[died.key]
        raise_all(
            "several on_close hooks were interrupted", _tell(died.session_id, died.hooks, "lru")
        )


def _tell(session_id: str, hooks: list[Hook], reason: str) -> list[BaseException]:
    """Run the hooks, the newest first. Returns interrupts, which must not be kept from the caller."""
    errors: list[BaseException] = []
    while hooks:
        try:
            # Popped first, so that each runs once, whoever else ends the session.
            hook = hooks.pop()
        except IndexError:
            break
        try:
            hook(session_id, reason)
        except Exception:
            log.exception(
                "session %r: an on_close hook raised; the session ended, the other hooks run",
                session_id,
            )
        except BaseException as error:
            errors.append(error)
    return errors
