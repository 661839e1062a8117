"""A manager in a child process: no lock that nobody will release, no lease that nobody holds."""

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from session_state import SessionBusy, SessionStateManager

from generated.dreamzero import DreamZeroSession

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]


def in_child(action: Callable[[], Any]) -> bool:
    """Whether `action` ends in a child without raising; one that hangs is killed by its alarm."""
    pid = os.fork()
    if pid == 0:
        import signal

        status = 1
        try:
            signal.alarm(20)
            action()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1] == 0


class InThread:
    """Does something in another thread, and stays in the middle of it until the end of the block."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._inside, self._go_on = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with self._context:
            self._inside.set()
            assert self._go_on.wait(60)

    def __enter__(self) -> None:
        self._thread.start()
        assert self._inside.wait(20)

    def __exit__(self, *exception: object) -> None:
        self._go_on.set()
        self._thread.join()


def test_a_fork_while_another_thread_holds_the_lock() -> None:
    """The child has a lock of its own, and the sessions; the parent goes on."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a") as session:
        session.call_count = 3

    def child() -> None:
        with manager.session(DreamZeroSession, "a") as session:
            assert session.call_count == 3
        manager.get_or_create_session("b")
        assert manager.close("a") and manager.stats()["sessions"] == 1

    with InThread(manager._table.lock):
        assert in_child(child)
    assert ("a" in manager, "b" in manager) == (True, False)


def test_a_child_has_no_leases_of_other_threads() -> None:
    """What they were to close is closed there, and in the parent they still have them."""
    manager = SessionStateManager()

    def child() -> None:
        with manager.session(DreamZeroSession, "a"):
            pass
        assert "b" not in manager

    with (
        InThread(manager.session(DreamZeroSession, "a")),
        InThread(manager.session(DreamZeroSession, "b")),
    ):
        manager.close("b")
        assert in_child(child)
        assert "b" in manager
        with pytest.raises(SessionBusy), manager.session(DreamZeroSession, "a"):
            pass
    assert "b" not in manager


def test_a_child_keeps_the_lease_of_the_thread_that_forked() -> None:
    """It goes on in both, each with its own copy."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a") as session:

        def child() -> None:
            with pytest.raises(SessionBusy), manager.session(DreamZeroSession, "a"):
                pass
            session.call_count = 1

        assert in_child(child)
        assert session.call_count == 0


def test_a_fork_while_another_thread_brings_the_books_up_to_date() -> None:
    """Neither its turn nor what it was about to enter is missing in the child."""
    manager = SessionStateManager()
    session = DreamZeroSession("a", manager)

    inside, go_on = threading.Event(), threading.Event()
    apply = manager.ledger._apply

    def slowly(event: Any) -> None:
        inside.set()
        assert go_on.wait(60)
        apply(event)

    manager.ledger._apply = slowly  # type: ignore[method-assign]
    session.ys = torch.zeros(8)
    thread = threading.Thread(target=manager.stats)
    thread.start()
    assert inside.wait(20)

    def child() -> None:
        manager.ledger._apply = apply  # type: ignore[method-assign]
        assert manager.stats()["nbytes:cpu"] == 32
        assert manager.audit() == []

    try:
        assert in_child(child)
    finally:
        go_on.set()
        thread.join()
    assert manager.stats()["nbytes:cpu"] == 32
