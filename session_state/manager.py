"""Which sessions there are, and which of them leave."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from operator import index
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from .acting import Acting
from .config import DEFAULT_MAX_SESSIONS, resolve_session_state_config
from .errors import SessionExists, SessionNotFound
from .ledger import Ledger
from .reading import KeepsBooks
from .reclaim import Reclaimed, reclaim
from .session import SessionState

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


class _Generation:
    """One generation: its session once its view asked for it, whoever has the id by then."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.session: SessionState | None = None


class _Beginning(threading.local):
    """The generation whose view this thread is making."""

    generation: _Generation | None = None


class SessionStateManager(KeepsBooks):
    """Sessions by id, capped by count; the least recently used leaves the table first.

    Leaving the table frees nothing: a view that holds the session keeps its state.
    `drop_session` releases. `byte_budget` is recorded and reported, not enforced. Under the lock
    the table is read and written, and nothing else happens.

    An id is a non-empty str; None means "default". Other ids raise ValueError or TypeError.
    """

    def __init__(
        self,
        max_sessions: int = DEFAULT_MAX_SESSIONS,
        byte_budget: int | None = None,
        lock_factory: Callable[[], AbstractContextManager[Any]] = threading.Lock,
    ) -> None:
        """Make an empty manager. Raises ValueError unless `max_sessions` is at least 1."""
        self.max_sessions = index(max_sessions)
        if self.max_sessions < 1:
            raise ValueError(f"max_sessions must be at least 1, got {max_sessions}")
        self.byte_budget = byte_budget
        self.hits = 0
        self.misses = 0
        self.evictions = 0
        self._sessions: OrderedDict[str, SessionState] = OrderedDict()
        self._lock = lock_factory()
        self.ledger = Ledger()
        self._beginning = _Beginning()
        self._acting = Acting(self._hold)

    def get_or_create_session(self, session_id: str | None) -> SessionState:
        """The session under the id, now the most recent; made when absent, which may evict."""
        key = _key(session_id)
        generation = self._beginning.generation
        if generation is not None and generation.key == key:
            return self._session_of(generation)
        # Declared before the lock is taken: what leaves may run destructors, and they come after it.
        evicted: list[SessionState] = []
        with self._lock:
            session = self._sessions.get(key)
            if session is not None:
                self.hits += 1
                self._sessions.move_to_end(key)
                return session
            session = self._create(key, evicted)
        for one in evicted:
            self.ledger.detach(one)
        return session

    def drop_session(self, session_id: str | None) -> bool:
        """Take the session out of the table and close it: everything it holds is released.

        Returns whether there was one. Raises what its objects' resets raised, once all are done.
        """
        key = _key(session_id)
        with self._lock:
            session = self._sessions.pop(key, None)
        if session is None:
            return False
        self.ledger.publish(session)
        session.close()
        self.ledger.end(session)
        return True

    @contextmanager
    def generation(
        self,
        cls: Callable[Concatenate[str | None, "SessionStateManager", P], V],
        session_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Iterator[V]:
        """A view of a new session that is closed at the end, on errors too.

        It closes its own session, evicted or not, and whoever has the id by then. Raises
        SessionExists when the id is in the table; nothing was created then.
        """
        generation = _Generation(_key(session_id))
        try:
            view = self._begin(generation, cls, session_id, *args, **kwargs)
            yield view
        finally:
            if generation.session is not None:
                self._end(generation.key, generation.session)

    def release(self, session_id: str | None, field: str) -> dict[str, int]:
        """Let go of a field, or of one branch of a family, named `field/key`.

        Returns the bytes that this freed per device, with 0 where something else holds all of them;
        nothing where there was nothing. What ends with the field stays, since its value is away and
        is not another. Raises SessionNotFound, SessionBusy while somebody leases it, ManagerMayNot,
        AttributeError for no field of the session and UnknownKey for no key of it.
        """
        return self._acting.release(_key(session_id), field)

    def rebuild(self, session_id: str | None, field: str) -> None:
        """Make a field that is absent anew, or all absent branches of a family, sources first.

        Raises as `release` does, NoRebuild where a callable is missing, FieldUnset where a source
        is; nothing was rebuilt then.
        """
        self._acting.rebuild(_key(session_id), field)

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
        return reclaim(self._acting, self._idle(), device, nbytes)

    def nbytes_by_device(self) -> dict[str, int]:
        """Bytes of all sessions in the table per device, each storage once."""
        self.ledger.publish_touched()
        return dict(self.ledger.table())

    def stats(self) -> dict[str, int]:
        """Counters and bytes, as last published; walks only what was touched since.

        sessions, max_sessions, hits, misses, evictions; `nbytes:<device>` for each device that holds
        something and total_nbytes for their sum; unaccounted, the number of fields that hold
        something which could not be seen; byte_budget when there is one.
        """
        self.ledger.publish_touched()
        counters = {
            "sessions": len(self._sessions),
            "max_sessions": self.max_sessions,
            "hits": self.hits,
            "misses": self.misses,
            "evictions": self.evictions,
        }
        if self.byte_budget is not None:
            counters["byte_budget"] = self.byte_budget
        return counters | self.ledger.totals()

    def __len__(self) -> int:
        with self._lock:
            return len(self._sessions)

    def __contains__(self, session_id: str | None) -> bool:
        key = _key(session_id)
        with self._lock:
            return key in self._sessions

    def __bool__(self) -> Literal[True]:
        return True

    def _idle(self) -> list[SessionState]:
        """The sessions that nobody leases, the least recently used first."""
        with self._lock:
            return list(self._sessions.values())

    @contextmanager
    def _hold(self, key: str) -> Iterator[SessionState]:
        """The session of an id, for work of the manager's own. Raises SessionNotFound."""
        with self._lock:
            session = self._sessions.get(key)
        if session is None:
            raise SessionNotFound(f"session {key!r} is not in the table")
        yield session

    def _create(self, key: str, evicted: list[SessionState]) -> SessionState:
        """Add a session; the caller holds the lock, and lets go of `evicted` after it."""
        self.misses += 1
        session = SessionState(key)
        self.ledger.admit(session)
        self._sessions[key] = session
        while len(self._sessions) > self.max_sessions:
            evicted.append(self._sessions.popitem(last=False)[1])
            self.evictions += 1
        return session

    def _begin(
        self,
        generation: _Generation,
        cls: Callable[Concatenate[str | None, "SessionStateManager", P], V],
        session_id: str,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> V:
        """Make the view of a generation; when that raises before it asks for one, there is no session."""
        beginning = self._beginning
        outer, beginning.generation = beginning.generation, generation
        try:
            return cls(session_id, self, *args, **kwargs)
        finally:
            beginning.generation = outer

    def _session_of(self, generation: _Generation) -> SessionState:
        """The generation's own session, made when it is first asked for."""
        if generation.session is None:
            evicted: list[SessionState] = []
            with self._lock:
                if generation.key in self._sessions:
                    raise SessionExists(
                        f"session {generation.key!r} is in the table; drop it first, or use "
                        "another id"
                    )
                generation.session = self._create(generation.key, evicted)
            for one in evicted:
                self.ledger.detach(one)
        return generation.session

    def _end(self, key: str, session: SessionState) -> None:
        with self._lock:
            if self._sessions.get(key) is session:
                del self._sessions[key]
        self.ledger.publish(session)
        session.close()
        self.ledger.end(session)


def _key(session_id: str | None) -> str:
    if session_id is None:
        return "default"
    if not isinstance(session_id, str):
        raise TypeError(
            f"a session id is a str or None, got {session_id!r} ({type(session_id).__name__})"
        )
    if not session_id:
        raise ValueError("a session id must not be empty; None means 'default'")
    return session_id
