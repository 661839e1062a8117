"""How sessions end: released, and their hooks told, each once and outside every lock."""

import logging
import weakref
from collections.abc import Callable
from contextlib import suppress
from operator import call
from typing import TypeVar

from .errors import raise_all
from .ledger import Ledger
from .session import Hook, SessionState

log = logging.getLogger(__name__)


T = TypeVar("T")


class Endings:
    """Ends sessions that have left the table: at once, or when their last view lets go."""

    def __init__(self, ledger: Ledger, note: Callable[[weakref.ref[SessionState]], None]) -> None:
        """`note` is told of evicted sessions that died, in any thread and under any lock."""
        self._ledger = ledger
        self._note = note
        self._detached: dict[weakref.ref[SessionState], tuple[str, list[Hook]]] = {}

    def close(self, session: SessionState, reason: str) -> list[BaseException]:
        """Release a session and tell its hooks, unless that was done. Returns what that raised."""
        errors: list[BaseException] = []
        self._ledger.publish(session)
        # Twice where it raises: it may have been interrupted before all was let go of.
        while len(errors) < 2:
            try:
                session.close()
                break
            except BaseException as error:
                errors.append(error)
        # Behind that, and `detach` looks at it behind its note: one of two at once sees the other.
        self._detached.pop(weakref.ref(session), None)
        self._ledger.end(session)
        errors.extend(_tell(session.status.session_id, session._hooks, reason))
        return errors

    def detach(self, session: SessionState) -> None:
        """Note what is to be done when an evicted session dies."""
        died = weakref.ref(session, self._note)
        self._detached[died] = session.status.session_id, session._hooks
        self._ledger.detach(session)
        if session.status.closed:
            self._detached.pop(died, None)

    def bury(self, died: weakref.ref[SessionState]) -> bool:
        """Tell the hooks of an evicted session that died, unless that was done. Returns whether it was due.

        Raises interrupts only.
        """
        if died not in self._detached:
            return False
        errors = _tell(*self._detached[died], "lru")
        was_due = self._detached.pop(died, None) is not None
        raise_all("several on_close hooks were interrupted", errors)
        return was_due


def take(pop: Callable[[], T], into: list[T]) -> None:
    """Move what `pop` returns, in one step that nothing interrupts; nothing where it finds none."""
    with suppress(IndexError):
        into.extend(map(call, (pop,)))


def _tell(session_id: str, hooks: list[Hook], reason: str) -> list[BaseException]:
    """Run the hooks, the newest first. Returns interrupts, which must not be kept from the caller."""
    errors: list[BaseException] = []
    while hooks:
        taken: list[Hook] = []
        try:
            # Out of the list first, so that each runs once, whoever else ends the session.
            take(hooks.pop, taken)
            for hook in taken:
                _run(hook, session_id, reason, taken, errors)
        except BaseException:
            hooks.extend(taken)
            raise
    return errors


def _run(
    hook: Hook, session_id: str, reason: str, taken: list[Hook], errors: list[BaseException]
) -> None:
    try:
        del taken[:]
        hook(session_id, reason)
    except Exception:
        log.exception(
            "session %r: an on_close hook raised; the session ended, the other hooks run",
            session_id,
        )
    except BaseException as error:
        errors.append(error)
