"""How sessions end: for which reason, when, and who is told."""

import gc
import logging
from typing import Any

import pytest
from session_state import SessionClosed, SessionState, SessionStateManager
from session_state.objects import LatentBuffer

from generated.dreamzero import DreamZeroSession

from .managers import Clock, closed
from .values import T


class Ends(list[tuple[str, str]]):
    """What hooks were told, in order."""

    def of(self, session: SessionState | None) -> SessionState:
        assert session is not None
        session.on_close(lambda *end: self.append(end))
        return session


def test_a_close_releases_and_says_why() -> None:
    """The default reason is the client's; a session that is not there is no error."""
    manager, ends = SessionStateManager(), Ends()
    for key, reason in (("a", "client"), ("b", "failed"), ("c", "shutdown"), ("d", "idle")):
        view = DreamZeroSession(key, manager)
        view.ys = T(5)
        ends.of(manager.peek(key))
        assert manager.close(key) if reason == "client" else manager.close(key, reason)  # type: ignore[arg-type]
        assert view.ys is None
        with pytest.raises(SessionClosed, match=f"'{key}'"):
            view.ys = T(1)
    assert not manager.close("a")
    assert ends == [("a", "client"), ("b", "failed"), ("c", "shutdown"), ("d", "idle")]
    assert closed(manager) == {"client": 1, "failed": 1, "shutdown": 1, "idle": 1}


def test_a_reason_is_one_of_four() -> None:
    """Eviction is nothing that one asks for."""
    with pytest.raises(ValueError, match="'lru'"):
        SessionStateManager().close("a", "lru")  # type: ignore[arg-type]


def test_a_drop_is_a_close_that_is_counted() -> None:
    """Only when there was a session."""
    manager, ends = SessionStateManager(), Ends()
    ends.of(manager.get_or_create_session("a"))
    assert manager.drop_session("a")
    assert not manager.drop_session("a")
    assert ends == [("a", "client")]
    assert manager.stats()["drops"] == 1


def test_a_close_during_a_lease_waits_for_its_end() -> None:
    """The first reason counts, and until then the holder writes and others see the session."""
    manager, ends = SessionStateManager(), Ends()
    with manager.session(DreamZeroSession, "a") as session:
        ends.of(manager.peek("a"))
        assert manager.close("a", "failed")
        assert manager.drop_session("a")
        assert "a" in manager
        session.ys = T(5)
        assert session.ys is not None
        assert ends == []
    assert "a" not in manager
    assert ends == [("a", "failed")]
    assert session.ys is None


def test_an_exception_in_a_lease_still_ends_what_is_to_end() -> None:
    """The exception comes out as it is."""
    manager, ends = SessionStateManager(), Ends()
    with pytest.raises(ZeroDivisionError), manager.session(DreamZeroSession, "a"):
        ends.of(manager.peek("a"))
        manager.close("a")
        raise ZeroDivisionError
    assert ends == [("a", "client")]
    assert len(manager) == 0


def test_an_evicted_session_ends_when_its_last_view_lets_go() -> None:
    """Its hooks are told at the next call of the manager, once, with the reason lru."""
    manager, ends = SessionStateManager(max_sessions=1), Ends()
    view = DreamZeroSession("a", manager)
    ends.of(manager.peek("a"))
    manager.get_or_create_session("b")
    manager.get_or_create_session("b")
    assert (ends, closed(manager)) == ([], {})
    view.ys = T(3)
    assert view.ys is not None
    del view
    gc.collect()
    assert ends == []
    manager.get_or_create_session("b")
    assert ends == [("a", "lru")]
    assert closed(manager) == {"lru": 1}


def test_an_evicted_session_that_nobody_holds_ends_in_the_call_that_evicts() -> None:
    """There is nothing to wait for."""
    manager, ends = SessionStateManager(max_sessions=1), Ends()
    ends.of(manager.get_or_create_session("a"))
    manager.get_or_create_session("b")
    assert ends == [("a", "lru")]


def test_a_hook_can_be_added_to_an_evicted_session() -> None:
    """For as long as somebody holds it."""
    manager, ends = SessionStateManager(max_sessions=1), Ends()
    session = manager.get_or_create_session("a")
    manager.get_or_create_session("b")
    ends.of(session)
    del session
    manager.close("c")
    assert ends == [("a", "lru")]


@pytest.mark.parametrize("fails", [False, True])
def test_a_generation_ends_once_evicted_or_not(fails: bool) -> None:
    """For the client, or as failed after an exception; an eviction before that is no end."""
    manager, ends = SessionStateManager(max_sessions=1), Ends()
    try:
        with manager.generation(DreamZeroSession, "a"):
            ends.of(manager.peek("a"))
            manager.get_or_create_session("b")
            if fails:
                raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    gc.collect()
    manager.close("c")
    reason = "failed" if fails else "client"
    assert ends == [("a", reason)]
    assert closed(manager) == {reason: 1}


def test_a_generation_that_was_dropped_ends_once() -> None:
    """The drop ended it."""
    manager, ends = SessionStateManager(), Ends()
    with manager.generation(DreamZeroSession, "a"):
        ends.of(manager.peek("a"))
        manager.drop_session("a")
    assert ends == [("a", "client")]
    assert closed(manager) == {"client": 1}


def test_a_generation_that_somebody_leases_ends_with_the_lease() -> None:
    """The step that goes on keeps its session."""
    manager, ends = SessionStateManager(), Ends()
    with manager.session(DreamZeroSession, "b"):
        generation = manager.generation(DreamZeroSession, "a")
        generation.__enter__()
        with manager.session(DreamZeroSession, "a") as step:
            ends.of(manager.peek("a"))
            generation.__exit__(None, None, None)
            step.call_count = 4
            assert ends == []
    assert ends == [("a", "client")]


def test_hooks_run_from_the_newest_to_the_oldest() -> None:
    """So that what was added last may use what was there before."""
    manager, told = SessionStateManager(), list[int]()
    session = manager.get_or_create_session("a")
    for number in range(3):
        session.on_close(lambda *_, number=number: told.append(number))
    manager.close("a")
    assert told == [2, 1, 0]


def test_a_hook_that_raises_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged with the session's id, and the close itself succeeds."""
    manager, ends = SessionStateManager(), Ends()

    def broken(session_id: str, reason: str) -> None:
        raise ZeroDivisionError

    ends.of(manager.get_or_create_session("robot-7")).on_close(broken)
    with caplog.at_level(logging.ERROR, "session_state"):
        assert manager.close("robot-7")
    assert ends == [("robot-7", "client")]
    assert "'robot-7'" in caplog.text and "ZeroDivisionError" in caplog.text


def test_an_interrupt_in_a_hook_comes_out_when_all_have_run() -> None:
    """A KeyboardInterrupt is nobody's to swallow."""
    manager, ends = SessionStateManager(), Ends()

    def interrupted(session_id: str, reason: str) -> None:
        raise KeyboardInterrupt

    ends.of(manager.get_or_create_session("a")).on_close(interrupted)
    with pytest.raises(KeyboardInterrupt):
        manager.close("a")
    assert ends == [("a", "client")]


def test_a_closed_session_takes_no_hook() -> None:
    """It would never run."""
    manager = SessionStateManager()
    session = manager.get_or_create_session("a")
    manager.close("a")
    with pytest.raises(SessionClosed):
        session.on_close(print)


class Broken(LatentBuffer[Any]):
    def reset(self) -> None:
        raise RuntimeError("cannot reset")


def test_an_object_that_fails_to_reset_is_told_of_after_the_end() -> None:
    """The session is out, its hooks ran, and the error is the caller's; for idle ones as well."""
    manager, ends, clock = SessionStateManager(), Ends(), Clock()
    manager = SessionStateManager(clock=clock)
    for key in "ab":
        ends.of(manager.get_or_create_session(key)).put("x", Broken())
    with pytest.raises(RuntimeError, match="cannot reset"):
        manager.close("a")
    clock.now = 100 + 10
    with pytest.raises(RuntimeError, match="cannot reset"):
        manager.sweep(5)
    assert ends == [("a", "client"), ("b", "idle")]
    assert len(manager) == 0


def test_a_sweep_closes_what_was_idle_for_so_long() -> None:
    """Counted from the last opening or the end of the last lease; never what is leased."""
    manager, ends, clock = SessionStateManager(), Ends(), Clock()
    manager = SessionStateManager(clock=clock)
    for key in "abc":
        ends.of(manager.get_or_create_session(key))
    with manager.session(DreamZeroSession, "a"):
        clock.now = 100 + 6
        with manager.session(DreamZeroSession, "b"):
            clock.now = 100 + 10
        assert manager.sweep(5) == 1
        assert ends == [("c", "idle")]
    clock.now = 100 + 14
    assert manager.sweep(5) == 0
    clock.now = 100 + 15
    assert manager.sweep(5) == 2
    assert closed(manager) == {"idle": 3}


def test_whatever_opens_a_session_sweeps_first() -> None:
    """With `idle_seconds`, an id that was idle for too long is opened anew."""
    ends, clock = Ends(), Clock()
    manager = SessionStateManager(clock=clock, idle_seconds=60)
    opens = [
        lambda: manager.get_or_create_session("a"),
        lambda: manager.session(DreamZeroSession, "a", expect="new").__enter__(),
        lambda: DreamZeroSession("a", manager),
        lambda: manager.generation(DreamZeroSession, "b").__enter__(),
    ]
    for count, open_one in enumerate(opens):
        ends.of(manager.get_or_create_session("a"))
        clock.now += 59
        manager.get_or_create_session("a")
        clock.now += 60
        open_one()
        assert ends == [("a", "idle")] * (count + 1)


def test_an_opener_is_not_told_what_idle_sessions_raise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged; the idle session is gone and the other one open."""
    clock = Clock()
    manager = SessionStateManager(clock=clock, idle_seconds=60)
    manager.get_or_create_session("a").put("x", Broken())
    clock.now = 100 + 60
    with caplog.at_level(logging.ERROR, "session_state"):
        manager.get_or_create_session("b")
    assert ["b"] == [key for key in "ab" if key in manager]
    assert "cannot reset" in caplog.text


def test_closing_all_leaves_nothing() -> None:
    """Leased sessions go with their leases; an object that fails to reset stops no session."""
    manager, ends = SessionStateManager(), Ends()
    for key in "abc":
        ends.of(manager.get_or_create_session(key))
    manager.get_or_create_session("a").put("x", Broken())
    with manager.session(DreamZeroSession, "b"):
        with pytest.raises(RuntimeError, match="cannot reset"):
            manager.close_all()
        assert ends == [("c", "shutdown"), ("a", "shutdown")]
    assert ends == [("c", "shutdown"), ("a", "shutdown"), ("b", "shutdown")]
    assert manager.close_all() == 0


def test_a_generation_that_ends_while_it_is_evicted_ends_once() -> None:
    """Whoever evicts it comes to note that when it is closed already: it is no eviction's end."""
    manager, ends = SessionStateManager(max_sessions=1), Ends()
    begun: list[Any] = [manager.generation(DreamZeroSession, "a")]
    ends.of(begun[0].__enter__()._session)
    endings = manager._lifecycle._endings
    detach = endings.detach

    def late(session: SessionState) -> None:
        endings.detach = detach  # type: ignore[method-assign]
        begun.pop().__exit__(None, None, None)
        detach(session)

    endings.detach = late  # type: ignore[method-assign]
    manager.get_or_create_session("b")
    gc.collect()
    manager.close("nobody")
    assert ends == [("a", "client")]
    assert closed(manager) == {"client": 1}
