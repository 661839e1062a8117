"""Races by name, each forced to happen, over and over."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from session_state import SessionBusy, SessionClosed, SessionState, SessionStateManager
from session_state.waiting import Queues, Ticket

from generated.dreamzero import DreamZeroSession

TIMES = 200
PATIENCE = 20.0


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    """Threads take turns a thousand times more often than they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*actions: Callable[[], object]) -> list[Any]:
    """What actions return or raise that begin at the same moment in threads of their own."""
    barrier = threading.Barrier(len(actions))
    results: list[Any] = [None] * len(actions)

    def run(number: int) -> None:
        barrier.wait(PATIENCE)
        try:
            results[number] = actions[number]()
        except Exception as error:
            results[number] = error

    threads = [
        threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(actions))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive(), "deadlock"
    return results


class Paused:
    """A lock that lets a test act at the moment before it is taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.before: Callable[[], object] | None = None

    def __enter__(self) -> None:
        before, self.before = self.before, None
        if before is not None:
            before()
        self._lock.acquire()

    def __exit__(self, *exception: object) -> None:
        self._lock.release()


def test_a_lease_that_is_taken_before_the_victim_is_chosen() -> None:
    """The opener that evicts is on its way when the oldest session is leased: another one leaves."""
    for _ in range(TIMES):
        lock = Paused()
        manager = SessionStateManager(max_sessions=2, lock_factory=lambda lock=lock: lock)
        for key in "ab":
            manager.get_or_create_session(key)
        lease = manager.session(DreamZeroSession, "a")
        record = manager._table.records["a"]
        lock.before = lambda: None

        def evict(manager: SessionStateManager = manager) -> SessionState:
            return manager.get_or_create_session("c")

        lock.before = lease.__enter__
        evict()
        assert ("a" in manager, record.lease is not None) == (True, True)
        lease.__exit__(None, None, None)


def test_a_lease_that_is_taken_while_a_victim_is_removed() -> None:
    """A lease has the session that is in the table, whatever leaves beside it."""
    for _ in range(TIMES):
        manager = SessionStateManager(max_sessions=1)
        manager.get_or_create_session("a").attrs["call_count"] = 3

        def step(manager: SessionStateManager = manager) -> Any:
            with manager.session(DreamZeroSession, "a") as session:
                for _ in range(3):
                    assert manager.peek("a") is session._session
                return session.call_count

        count, _ = together(step, lambda manager=manager: manager.get_or_create_session("b"))
        assert count in (0, 3) or isinstance(count, SessionBusy)
        assert len(manager) == 1


def test_a_close_during_a_step() -> None:
    """The step ends whole, and the hook is told once, after it."""
    for _ in range(TIMES):
        manager, told = SessionStateManager(), list[Any]()
        begun = threading.Barrier(2)

        def step(
            manager: SessionStateManager = manager, begun: Any = begun, told: Any = told
        ) -> Any:
            with manager.session(DreamZeroSession, "a") as session:
                session._session.on_close(lambda *end: told.append((end, session.ys)))
                begun.wait(PATIENCE)
                session.ys = torch.zeros(1)
                return told == [] and session.ys is not None

        def close(manager: SessionStateManager = manager, begun: Any = begun) -> bool:
            begun.wait(PATIENCE)
            return manager.close("a", "failed")

        assert together(step, close) == [True, True]
        assert told == [(("a", "failed"), None)]
        assert "a" not in manager


def test_a_close_that_meets_the_end_of_a_lease() -> None:
    """Whichever of them looks first: the session ends, once."""
    for _ in range(TIMES):
        lock, told = Paused(), list[Any]()
        manager = SessionStateManager(lock_factory=lambda lock=lock: lock)
        lease = manager.session(DreamZeroSession, "a")
        session = lease.__enter__()
        session._session.on_close(lambda *end, told=told: told.append(end))
        lock.before = lambda lease=lease: lease.__exit__(None, None, None)
        assert manager.close("a", "failed")
        assert told == [("a", "failed")]
        assert "a" not in manager


def test_an_opening_between_the_end_of_a_lease_and_the_close_that_waited_for_it() -> None:
    """It finds the session about to end, ends it, and opens a new one."""
    for _ in range(TIMES):
        lock, told, later = Paused(), list[Any](), list[DreamZeroSession]()
        manager = SessionStateManager(lock_factory=lambda lock=lock: lock)
        lease = manager.session(DreamZeroSession, "a")
        first = lease.__enter__()
        first._session.on_close(lambda *end, told=told: told.append(end))
        manager.close("a")
        second = manager.session(DreamZeroSession, "a")
        lock.before = lambda second=second, later=later: later.append(second.__enter__())
        lease.__exit__(None, None, None)
        assert told == [("a", "client")]
        assert manager.peek("a") is later[0]._session is not first._session
        later[0].call_count = 1
        second.__exit__(None, None, None)


class Interposing(Queues):
    """Queues that let a test act at the moment before somebody joins one."""

    def __init__(self) -> None:
        self.before: Callable[[], object] = lambda: None

    def join(self, key: str | None, ticket: Ticket | None) -> None:
        if ticket is not None:
            self.before()
        super().join(key, ticket)


@pytest.mark.parametrize("key", ["a", "b"])
def test_a_lease_that_ends_before_the_one_who_waits_is_queued(key: str) -> None:
    """For its session or for a place: nobody was there to be woken, so it looks again."""
    for _ in range(TIMES):
        manager = SessionStateManager(max_sessions=1)
        queues = manager._table.queues = Interposing()
        lease = manager.session(DreamZeroSession, "a")
        lease.__enter__()
        queues.before = lambda lease=lease: lease.__exit__(None, None, None)
        with manager.session(DreamZeroSession, key, wait=1.0):
            assert not queues


def test_two_openings_of_one_id() -> None:
    """One gets it, and the other is refused or comes later; as a new session it is made once."""
    for _ in range(TIMES):
        manager = SessionStateManager()
        both = threading.Barrier(2)

        def open_new(manager: SessionStateManager = manager, both: Any = both) -> str:
            try:
                with manager.session(DreamZeroSession, "a", expect="new"):
                    both.wait(PATIENCE)
                    return "opened"
            except KeyError:
                both.wait(PATIENCE)
                return "exists"

        assert sorted(together(open_new, open_new)) == ["exists", "opened"]
        assert manager.misses == 1


def test_a_hook_that_calls_back_into_the_manager() -> None:
    """Every call of it works from there, and the session that ended is out of the table."""
    for _ in range(TIMES):
        manager, seen = SessionStateManager(max_sessions=2), list[Any]()

        def again(session_id: str, reason: str, manager: Any = manager, seen: Any = seen) -> None:
            seen.append(
                (session_id in manager, manager.stats()["sessions"], manager.close(session_id))
            )
            with manager.session(DreamZeroSession, session_id, expect="new"):
                manager.get_or_create_session("other")

        manager.get_or_create_session("a").on_close(again)
        together(lambda manager=manager: manager.close("a"), manager.stats)
        assert seen == [(False, 0, False)]
        assert len(manager) == 2


class Calling:
    """A payload whose destructor calls the manager."""

    def __init__(self, manager: SessionStateManager, called: list[int]) -> None:
        self.manager = manager
        self.called = called

    def __del__(self) -> None:
        self.manager.stats()
        self.called.append(len(self.manager))
        self.manager.close(f"died {len(self.called)}")


@pytest.mark.parametrize("how", ["evict", "close", "sweep", "lease ends", "replace"])
def test_the_last_reference_is_never_let_go_of_under_the_lock(how: str) -> None:
    """A plain lock would block for ever."""
    for _ in range(TIMES):
        manager, called = SessionStateManager(max_sessions=1), list[int]()
        session = manager.get_or_create_session("a")
        session.attrs["x"] = Calling(manager, called)
        del session

        def end(manager: SessionStateManager = manager) -> None:
            if how == "evict":
                manager.get_or_create_session("b")
            elif how == "close":
                manager.close("a")
            elif how == "sweep":
                manager.sweep(0)
            elif how == "replace":
                manager.reset("a")
            else:
                with manager.session(DreamZeroSession, "a"):
                    manager.close("a")

        assert together(end) == [None]
        assert len(called) == 1


needs_timers = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="there are no timers here"
)


@needs_timers
def test_a_signal_handler_that_calls_stats() -> None:
    """At any moment of any call: it waits for no lock that the interrupted call may hold."""
    manager, calls = SessionStateManager(max_sessions=3), list[int]()
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(manager.stats()["sessions"]))
    end = time.monotonic() + PATIENCE
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        number = 0
        while len(calls) < TIMES and time.monotonic() < end:
            number += 1
            key = f"s{number % 5}"
            with manager.session(DreamZeroSession, key) as session:
                session.ys = torch.zeros(1)
            if number % 3 == 0:
                manager.close(key)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(calls) >= TIMES
    assert all(0 <= count <= 3 for count in calls)


@needs_timers
# One that falls into a destructor is reported there by the interpreter, and stops nothing.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_moment_of_a_lease_loses_no_session() -> None:
    """Whatever was interrupted, the session is free again and the lock is not held."""

    class Interrupt(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupt

    manager, interrupts = SessionStateManager(), 0
    manager.get_or_create_session("a")
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(TIMES):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (number % 40 + 1))
                for _ in range(20):
                    with manager.session(DreamZeroSession, "a"):
                        pass
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt:
                interrupts += 1
            assert not manager.close("nobody")
            assert manager._table.records["a"].lease is None
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupts > TIMES / 2


def test_writing_beside_a_close_lands_or_is_refused() -> None:
    """A view made by hand has no lease, and learns that its session ended."""
    for _ in range(TIMES):
        manager = SessionStateManager()
        view = DreamZeroSession("a", manager)

        def write(view: DreamZeroSession = view) -> None:
            view.ys = torch.zeros(1)

        wrote, closed = together(write, lambda manager=manager: manager.close("a"))
        assert closed is True
        assert wrote is None or isinstance(wrote, SessionClosed)
        assert view.ys is None
