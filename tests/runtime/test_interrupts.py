"""An exception at every point of a call of the manager at which the interpreter looks for signals."""

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import session_state
import torch
from session_state import SessionState, SessionStateManager

from generated.dreamzero import DreamZeroSession

RUNTIME = str(Path(session_state.__file__).parent)


class Interrupt(BaseException):
    """What a signal handler raises."""


def interrupted(action: Callable[[], object], at: int) -> bool:
    """Do `action` with an interrupt behind the call number `at` that the runtime makes.

    Functions in Python are interrupted as they begin and as they return, others behind their
    return, as by a signal handler. Returns whether there were so many calls.
    """
    left = at

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal left
        # A generator that yields does not return to its caller yet.
        is_yield = event == "return" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event != "c_call" and not is_yield and frame.f_code.co_filename.startswith(RUNTIME):
            left -= 1
            if not left:
                sys.setprofile(None)
                raise Interrupt

    sys.setprofile(count)
    try:
        action()
    except Interrupt:
        pass
    finally:
        sys.setprofile(None)
    return left <= 0


class Scene:
    """A full table of two sessions and whoever was told of their ends; a view holds one of them."""

    def __init__(self) -> None:
        self.manager = SessionStateManager(max_sessions=2)
        self.told: list[tuple[str, str]] = []
        for key in "ab":
            view = DreamZeroSession(key, self.manager)
            view.ys, view.clip_feas = torch.zeros(10), torch.zeros(20)
            view._session.on_close(lambda *end: self.told.append(end))
        self.held: DreamZeroSession | None = view
        self.manager.stats()

    def step(self) -> None:
        DreamZeroSession("a", self.manager).ys = torch.zeros(11)
        self.manager.stats()

    def lease(self) -> None:
        with self.manager.session(DreamZeroSession, "a") as session:
            session.ys, session.language = torch.zeros(12), torch.zeros(5)
            session.append_video_latents(torch.zeros(7))

    def lease_and_close(self) -> None:
        with self.manager.session(DreamZeroSession, "a") as session:
            session.ys = torch.zeros(12)
            self.manager.close("a")

    def lease_anew(self) -> None:
        with self.manager.session(DreamZeroSession, "c") as session:
            session.ys = torch.zeros(12)

    def evict(self) -> None:
        for key in "cd":
            self.manager.get_or_create_session(key).attrs["x"] = torch.zeros(3)

    def close(self) -> None:
        self.manager.close("b")

    def sweep(self) -> None:
        self.manager.sweep(0)

    def reset(self) -> None:
        self.manager.reset("a")

    def generate(self) -> None:
        with self.manager.generation(DreamZeroSession, "c") as session:
            session.ys = torch.zeros(9)


def scenes(act: Callable[[Scene], None]) -> Iterator[Scene]:
    """A scene for each point of `act`, which was interrupted there."""
    for at in range(1, 10_000):
        scene = Scene()
        if not interrupted(partial(act, scene), at):
            return
        yield scene
    raise AssertionError("it never ends")


ACTS = (
    *(Scene.step, Scene.lease, Scene.lease_and_close, Scene.lease_anew, Scene.evict),
    *(Scene.close, Scene.sweep, Scene.reset, Scene.generate),
)


@pytest.mark.parametrize("act", ACTS)
# One that falls into a destructor is reported there by the interpreter, and stops nothing.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_loses_nothing(act: Callable[[Scene], None]) -> None:
    """At the next call the books are as an audit finds them, nothing is leased, and what was on its
    way out has ended or can end: each hook is told once.
    """
    for scene in scenes(act):
        manager = scene.manager
        assert not manager.close("nobody")
        manager.stats()
        assert manager.audit() == []
        rows = {row.session_id: row.status for row in manager.sessions()}
        assert "leased" not in rows.values()
        assert scene.held is not None
        assert (rows["b"] == "closed") == scene.held._session.status.closed
        scene.held = None
        manager.close_all()
        assert not manager.close("nobody")
        stats = manager.stats()
        assert (stats["total_nbytes"], stats["sessions"]) == (0, 0)
        assert sorted(key for key, _ in scene.told) == ["a", "b"]


def test_sessions_that_ended_leave_nothing_in_the_books() -> None:
    """Also where nobody ever asks for `stats()`, and whether they were closed or evicted."""
    manager = SessionStateManager(max_sessions=4)
    for number in range(1000):
        with manager.session(DreamZeroSession, f"closed {number}") as session:
            session.ys = torch.zeros(2)
        manager.close(f"closed {number}")
        evicted: SessionState = manager.get_or_create_session(f"evicted {number}")
        evicted.attrs["x"] = torch.zeros(2)
    del session, evicted
    ledger = manager.ledger
    assert len(ledger._touched) <= 4
    assert len(ledger.accounts) <= 5
    assert len(ledger.extents._regions) <= 5
