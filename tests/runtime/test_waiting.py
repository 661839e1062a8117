"""Threads that wait for a session, or for a place in the table."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from session_state import SessionBusy, SessionNotFound, SessionStateManager
from session_state.waiting import ThreadTicket

from generated.dreamzero import DreamZeroSession

PATIENCE = 20.0
"""Seconds after which a thread that waits for nothing fails its test."""


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def waiting(manager: SessionStateManager, key: str | None) -> int:
    return len(manager._table.queues.get(key, ()))


class Opener(threading.Thread):
    """Opens a session, notes that it did, and gives it back when told."""

    def __init__(
        self, manager: SessionStateManager, key: str, order: list[Any], **how: Any
    ) -> None:
        super().__init__(name=f"opener of {key}")
        self.manager = manager
        self.key = key
        self.order = order
        self.how = {"wait": PATIENCE} | how
        self.go_on = threading.Event()
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            with self.manager.session(DreamZeroSession, self.key, **self.how):
                self.order.append(self)
                assert self.go_on.wait(PATIENCE)
        except BaseException as error:
            self.error = error

    def end(self) -> None:
        self.go_on.set()
        self.join(PATIENCE)
        assert not self.is_alive()


def test_waiting_threads_are_served_in_their_order() -> None:
    """Each as soon as the one before lets go, and nobody holds the lock meanwhile."""
    manager, order = SessionStateManager(), list[Opener]()
    openers = [Opener(manager, "a", order) for _ in range(4)]
    with manager.session(DreamZeroSession, "a"):
        for number, opener in enumerate(openers):
            opener.start()
            until(lambda number=number: waiting(manager, "a") == number + 1)
        manager.get_or_create_session("b")
    for number, opener in enumerate(openers):
        until(lambda number=number: len(order) == number + 1)
        assert opener is order[number]
        opener.end()
    assert not manager._table.queues


def test_one_who_does_not_wait_does_not_push_in() -> None:
    """While others queue the session is theirs, also in the moment when nobody leases it."""
    manager, first = SessionStateManager(), ThreadTicket()
    manager.get_or_create_session("a")
    manager._table.queues.join("a", first)
    with (
        pytest.raises(SessionBusy, match="'a' is waited for"),
        manager.session(DreamZeroSession, "a"),
    ):
        pass
    manager._table.leave(first)
    with manager.session(DreamZeroSession, "a"):
        pass


def test_waiting_ends_when_the_time_is_up() -> None:
    """The message says how long that was; the one behind is served all the same."""
    manager, order = SessionStateManager(), list[Opener]()
    patient, hasty = Opener(manager, "a", order), Opener(manager, "a", order, wait=0.05)
    with manager.session(DreamZeroSession, "a"):
        hasty.start()
        until(lambda: waiting(manager, "a") == 1 or hasty.error is not None)
        patient.start()
        hasty.join(PATIENCE)
        until(lambda: waiting(manager, "a") == 1)
    assert isinstance(hasty.error, SessionBusy)
    assert "by MainThread; waited 0.05 s" in str(hasty.error)
    until(lambda: order == [patient])
    patient.end()


def test_waiting_for_a_session_that_is_closed() -> None:
    """The next one opens a new one, or is told that there is none."""
    manager, order = SessionStateManager(), list[Opener]()
    new, existing = Opener(manager, "a", order), Opener(manager, "a", order, expect="existing")
    with manager.session(DreamZeroSession, "a") as session:
        existing.start()
        until(lambda: waiting(manager, "a") == 1)
        new.start()
        until(lambda: waiting(manager, "a") == 2)
        manager.close("a")
    existing.join(PATIENCE)
    assert isinstance(existing.error, SessionNotFound)
    until(lambda: order == [new])
    assert manager.peek("a") is not session._session
    new.end()


@pytest.mark.parametrize("how", ["lease ends", "close", "drop"])
def test_waiting_for_a_place(how: str) -> None:
    """A full table of leased sessions has one as soon as a lease ends or a session goes."""
    manager, order = SessionStateManager(max_sessions=1), list[Opener]()
    opener = Opener(manager, "b", order)
    lease = manager.session(DreamZeroSession, "a")
    lease.__enter__()
    opener.start()
    until(lambda: waiting(manager, None) == 1)
    if how == "close":
        manager.close("a")
    elif how == "drop":
        manager.drop_session("a")
    lease.__exit__(None, None, None)
    until(lambda: order == [opener])
    assert (len(manager), "a" in manager) == (1, False)
    opener.end()


def test_a_lease_that_is_let_go_of_wakes_who_waits() -> None:
    """Without any other call of the manager."""
    manager, order = SessionStateManager(), list[Opener]()
    opener = Opener(manager, "a", order)
    lease = manager.session(DreamZeroSession, "a")
    lease.__enter__()
    opener.start()
    until(lambda: waiting(manager, "a") == 1)
    del lease
    until(lambda: order == [opener])
    opener.end()


def test_a_thread_that_waits_for_ever_gets_its_turn() -> None:
    """An infinite wait is a wait."""
    manager, order = SessionStateManager(), list[Opener]()
    opener = Opener(manager, "a", order, wait=float("inf"))
    with manager.session(DreamZeroSession, "a"):
        opener.start()
        until(lambda: waiting(manager, "a") == 1)
    opener.end()
    assert order == [opener]
