"""Leases: one holder at a time, and a session that stays while it is held."""

import contextlib
import copy
import gc
import pickle
import tracemalloc
from typing import Any

import pytest
import torch
from session_state import (
    SessionBusy,
    SessionClassMismatch,
    SessionExists,
    SessionFailed,
    SessionNotFound,
    SessionParamsDiffer,
    SessionStateManager,
)

from generated.cosmos3 import Cosmos3Session
from generated.dreamzero import DreamZeroSession

from .managers import Clock
from .values import T


def test_a_lease_gives_a_view_and_the_data_stays() -> None:
    """The next lease, and a view made by hand, see what was written."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "robot-7", vae_encoder_window=3) as session:
        assert session.session_id == "robot-7"
        assert session.vae_encoder_window == 3
        session.call_count = 5
    with manager.session(DreamZeroSession, "robot-7", vae_encoder_window=3) as again:
        assert again.call_count == 5
    assert DreamZeroSession("robot-7", manager, vae_encoder_window=3).call_count == 5


def test_one_holder_at_a_time_and_the_same_thread_is_no_exception() -> None:
    """The second opener learns who has the session and for how long; nothing changes for the first."""
    clock = Clock()
    manager = SessionStateManager(clock=clock)
    with manager.session(DreamZeroSession, "a") as first:
        clock.now += 2.5
        with (
            pytest.raises(SessionBusy, match=r"'a' is leased for 2\.5 s by MainThread; pass wait="),
            manager.session(DreamZeroSession, "a"),
        ):
            pass
        first.call_count = 1
    with manager.session(DreamZeroSession, "a") as second:
        assert second.call_count == 1


def test_what_is_expected_of_an_id() -> None:
    """A new one must not be there, an existing one must; refused, nothing is created or counted."""
    manager = SessionStateManager()
    with (
        pytest.raises(SessionNotFound, match="'a' is not in the table"),
        manager.session(DreamZeroSession, "a", expect="existing"),
    ):
        pass
    assert len(manager) == 0
    with manager.session(DreamZeroSession, "a", expect="new"):
        pass
    with (
        pytest.raises(SessionExists, match="'a' is in the table"),
        manager.session(DreamZeroSession, "a", "new"),
    ):
        pass
    with manager.session(DreamZeroSession, "a", expect="existing"):
        pass
    assert (1, 1) == (manager.misses, manager.hits)


@pytest.mark.parametrize("bad", [{"expect": "old"}, {"wait": -1}, {"wait": float("nan")}])
def test_what_cannot_be_meant_is_refused_at_the_call(bad: Any) -> None:
    """And not only when the lease is entered."""
    with pytest.raises(ValueError, match=next(iter(bad))):
        SessionStateManager().session(DreamZeroSession, "a", **bad)


def test_another_class_or_param_leaves_no_lease_behind() -> None:
    """The session is as it was, and the next opener gets it."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a") as session:
        session.call_count = 3
    with pytest.raises(SessionClassMismatch), manager.session(Cosmos3Session, "a", num_layers=2):
        pass
    with (
        pytest.raises(SessionParamsDiffer),
        manager.session(DreamZeroSession, "a", vae_encoder_window=9),
    ):
        pass
    with manager.session(DreamZeroSession, "a") as session:
        assert session.call_count == 3


class Failing(DreamZeroSession):
    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        super().__init__(session_id, manager)
        self.ys = T(10)
        raise ZeroDivisionError


def test_a_constructor_that_raises_leaves_no_session_that_was_not_there() -> None:
    """One that was there stays, with what the constructor wrote."""
    manager = SessionStateManager()
    with pytest.raises(ZeroDivisionError), manager.session(Failing, "a"):
        pass
    assert ("a" in manager, manager.stats()["closed:failed"]) == (False, 1)
    DreamZeroSession("b", manager).call_count = 1
    with pytest.raises(ZeroDivisionError), manager.session(Failing, "b"):
        pass
    with manager.session(DreamZeroSession, "b") as session:
        assert session.call_count == 1


def test_a_leased_session_is_never_the_victim() -> None:
    """However old it is; the next oldest leaves instead."""
    manager = SessionStateManager(max_sessions=2)
    with manager.session(DreamZeroSession, "a") as session:
        session.ys = T(3)
        for other in "bcd":
            manager.get_or_create_session(other)
        assert [key in manager for key in "abcd"] == [True, False, False, True]
        assert DreamZeroSession("a", manager).ys is session.ys


def test_a_full_table_of_leased_sessions_refuses_and_the_older_calls_exceed_it() -> None:
    """It shrinks back as the leases end, the least recently used first."""
    manager = SessionStateManager(max_sessions=2)
    with contextlib.ExitStack() as leases:
        for key in "ab":
            leases.enter_context(manager.session(DreamZeroSession, key))
        full = "'c' has no place: the table is full, and each of its 2 sessions is leased"
        with pytest.raises(SessionBusy, match=full), manager.session(DreamZeroSession, "c"):
            pass
        with (
            pytest.raises(SessionBusy, match="'c' has no place"),
            manager.generation(DreamZeroSession, "c"),
        ):
            pass
        assert len(manager) == 2
        manager.get_or_create_session("c")
        DreamZeroSession("d", manager)
        assert [key in manager for key in "abcd"] == [True, True, False, True]
    assert [key in manager for key in "abd"] == [True, True, False]


def test_a_lease_that_is_let_go_of_gives_the_session_back() -> None:
    """Its destructor notes it, and the next call of the manager finds the session free."""
    manager = SessionStateManager(max_sessions=1)
    lease = manager.session(DreamZeroSession, "a")
    view = lease.__enter__()
    with pytest.raises(SessionBusy), manager.session(DreamZeroSession, "a"):
        pass
    del lease
    gc.collect()
    with manager.session(DreamZeroSession, "a") as again:
        again.call_count = 2
    assert view.call_count == 2
    manager.get_or_create_session("b")
    assert "a" not in manager


def test_looking_neither_creates_nor_makes_recent() -> None:
    """`peek`, `in`, `len` and `stats` leave the table as it is."""
    manager = SessionStateManager(max_sessions=2)
    old = manager.get_or_create_session("a")
    manager.get_or_create_session("b")
    assert old is manager.peek("a")
    assert manager.peek("c") is None
    assert ("a" in manager, "c" in manager, len(manager)) == (True, False, 2)
    manager.stats()
    manager.get_or_create_session("c")
    assert ["b", "c"] == [key for key in "abc" if key in manager]
    assert (0, 3) == (manager.hits, manager.misses)


def test_a_failed_session_is_refused_until_it_is_reset() -> None:
    """The message names the field; the reset clears it and everything else."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a") as session:
        session.ys = T(4)
        session._status.failed = "vae_enc_feat_map"
    with (
        pytest.raises(SessionFailed, match=r"'vae_enc_feat_map'.*manager\.reset\('a'\)"),
        manager.session(DreamZeroSession, "a"),
    ):
        pass
    manager.reset("a")
    with manager.session(DreamZeroSession, "a") as session:
        assert session.ys is None


def test_a_reset_inside_a_lease_keeps_the_view_and_its_objects() -> None:
    """They read empty and go on; an unknown id, and another thread's lease, are refused."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a", vae_encoder_window=3) as session:
        buffer = session.object("video_latents")
        session.append_video_latents(torch.ones(1, 1, 1))
        buffer.stage(torch.ones(1, 1, 1))
        manager.reset("a")
        assert buffer.view() == []
        buffer.append(torch.ones(1, 1, 2))
        assert session.video_latents is not None and session.video_latents.shape == (1, 1, 2)
        assert session.vae_encoder_window == 3
    with pytest.raises(SessionNotFound, match="'b'"):
        manager.reset("b")
    assert "b" not in manager


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_belongs_to_a_process_is_neither_pickled_nor_copied(copier: Any) -> None:
    """The message says what to hand over instead."""
    manager = SessionStateManager()
    lease = manager.session(DreamZeroSession, "a")
    with lease as session:
        for one in (manager, lease, session, manager.get_or_create_session("a")):
            with pytest.raises(TypeError, match="hand over the session id"):
                copier(one)


def test_an_empty_session_is_small() -> None:
    """At most 2 KiB of Python memory, its record in the table included."""
    manager = SessionStateManager(max_sessions=5000)
    ids = [f"s{number}" for number in range(2000)]
    manager.get_or_create_session("first")
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for key in ids:
            manager.get_or_create_session(key)
        gc.collect()
        each = (tracemalloc.get_traced_memory()[0] - before) / len(ids)
    finally:
        tracemalloc.stop()
    assert each <= 2048


def test_sessions_that_came_and_went_leave_nothing() -> None:
    """Opened and closed many times over, Python holds no more than before."""
    manager = SessionStateManager()

    def come_and_go(number: int) -> None:
        with manager.session(DreamZeroSession, f"s{number}"):
            pass
        manager.close(f"s{number}")

    for number in range(200):
        come_and_go(number)
    manager.stats()
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(2000):
            come_and_go(number)
        manager.stats()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 20_000


class Counting(DreamZeroSession):
    """A view that has something of its own."""

    __slots__ = ("made",)

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        super().__init__(session_id, manager)
        self.made = 1


class Stacking(DreamZeroSession):
    """A view that only adds methods."""

    def twice(self) -> int:
        return 2 * self.call_count


def test_a_lease_gives_the_view_of_the_last_one_where_a_new_one_would_be_its_like() -> None:
    """The very same params, and a class that neither does nor keeps more than a generated one."""
    manager = SessionStateManager()

    def lease(cls: Any, **params: Any) -> DreamZeroSession:
        with manager.session(cls, "a", **params) as view:
            assert isinstance(view, DreamZeroSession)
            return view

    first = lease(DreamZeroSession)
    assert first is lease(DreamZeroSession)
    assert first is not lease(DreamZeroSession, vae_encoder_window=2)
    stacking = lease(Stacking)
    assert isinstance(stacking, Stacking) and stacking is lease(Stacking)
    assert lease(Counting) is not lease(Counting)
    with pytest.raises(SessionParamsDiffer):
        lease(DreamZeroSession, vae_encoder_window=3)
    lease(DreamZeroSession, vae_encoder_window=2)
    with pytest.raises(TypeError, match="vae_encoder_window"):
        lease(DreamZeroSession, vae_encoder_window=2.0)
    manager.close("a")
    again = lease(DreamZeroSession)
    assert again is not first and "open" in repr(again)
