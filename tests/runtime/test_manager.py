"""The manager against a small model, and what its lock must not be held for."""

import contextlib
import gc
import threading
import weakref
from collections import OrderedDict
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule
from session_state.errors import SessionClosed, SessionExists
from session_state.manager import (
    SessionState,
    SessionStateManager,
)
from session_state.objects import LatentBuffer

from generated.dreamzero import DreamZeroSession

IDS = st.sampled_from("abcde")
KEYS = ["sessions", "max_sessions", "total_nbytes", "hits", "misses", "evictions"]


def T(nbytes: int) -> torch.Tensor:
    return torch.zeros(nbytes, dtype=torch.uint8)


class Sessions(RuleBasedStateMachine):
    """A manager with a cap of 3 beside an OrderedDict; each session holds its own number."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.manager = SessionStateManager(max_sessions=3)
        self.table: OrderedDict[str, int] = OrderedDict()
        self.closed: set[int] = set()
        self.made = self.hits = self.misses = self.evictions = 0

    def opened(self, key: str) -> int:
        if key in self.table:
            self.hits += 1
            self.table.move_to_end(key)
            return self.table[key]
        self.misses += 1
        self.made += 1
        self.table[key] = self.made
        while len(self.table) > 3:
            self.table.popitem(last=False)
            self.evictions += 1
        return self.made

    @rule(target=held, key=IDS)
    def open(self, key: str) -> tuple[DreamZeroSession, int]:
        known = key in self.table
        view, number = DreamZeroSession(key, self.manager), self.opened(key)
        assert (number if known else 0) == view.call_count
        view.call_count = number
        return view, number

    @rule(key=IDS)
    def drop(self, key: str) -> None:
        assert (key in self.table) == self.manager.drop_session(key)
        if key in self.table:
            self.closed.add(self.table.pop(key))

    @rule(key=IDS, others=st.lists(IDS, max_size=4), take_over=st.booleans(), fail=st.booleans())
    def generation(self, key: str, others: list[str], take_over: bool, fail: bool) -> None:
        if key in self.table:
            before = self.manager.stats()
            with pytest.raises(SessionExists, match="drop it first"):
                self.manager.generation(DreamZeroSession, key).__enter__()
            assert before == self.manager.stats()
            return
        generation = self.manager.generation(DreamZeroSession, key)
        with contextlib.suppress(ZeroDivisionError), generation as view:
            number = self.opened(key)
            view.call_count = number
            for other in others:
                self.open(other)
            if take_over:
                self.drop(key)
                self.open(key)
            if fail:
                raise ZeroDivisionError
        assert "closed" in repr(view)
        self.closed.add(number)
        if self.table.get(key) == number:
            del self.table[key]

    @rule(view=held)
    def use(self, view: tuple[DreamZeroSession, int]) -> None:
        session, number = view
        if number in self.closed:
            assert session.call_count == 0
            with pytest.raises(SessionClosed):
                session.call_count = 1
        else:
            assert number == session.call_count

    @invariant()
    def agrees_with_the_model(self) -> None:
        stats = self.manager.stats()
        counters = [len(self.table), 3, 0, self.hits, self.misses, self.evictions]
        assert counters == [stats[key] for key in KEYS]
        assert len(self.table) == len(self.manager)
        assert [key in self.table for key in "abcde"] == [key in self.manager for key in "abcde"]


TestSessions = Sessions.TestCase


@pytest.mark.parametrize(("bad", "error"), [("", ValueError), (0, TypeError), (False, TypeError)])
def test_an_id_is_a_str_that_is_not_empty(bad: Any, error: type[Exception]) -> None:
    """On every call, and nothing is created."""
    manager = SessionStateManager()
    calls = [
        manager.get_or_create_session,
        manager.drop_session,
        manager.__contains__,
        lambda key: DreamZeroSession(key, manager),
        lambda key: manager.generation(DreamZeroSession, key).__enter__(),
    ]
    for call in calls:
        with pytest.raises(error, match="session id"):
            call(bad)
    assert len(manager) == 0


def test_none_means_default() -> None:
    """As in the reference system."""
    manager = SessionStateManager()
    session = manager.get_or_create_session(None)
    assert session is manager.get_or_create_session("default")
    assert DreamZeroSession(None, manager).session_id == "default"


def test_an_empty_manager_is_true() -> None:
    """`if manager:` asks whether there is one."""
    assert SessionStateManager()
    assert len(SessionStateManager()) == 0


@pytest.mark.parametrize("cap", [0, -1])
def test_a_manager_holds_at_least_one_session(cap: int) -> None:
    """A cap without room is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least 1"):
        SessionStateManager(max_sessions=cap)


def test_stats_count_storages_once_across_sessions() -> None:
    """What the process holds is not the sum of what each session holds."""
    manager, shared = SessionStateManager(byte_budget=10**9), T(100)
    for key in "ab":
        manager.get_or_create_session(key).attrs["x"] = [shared, T(10)]
    manager.get_or_create_session("a").attrs["rng"] = torch.Generator()
    expected = {"nbytes:cpu": 120, "total_nbytes": 120, "unaccounted": 1, "byte_budget": 10**9}
    stats = manager.stats()
    assert expected == {key: stats[key] for key in expected}
    assert manager.nbytes_by_device() == {"cpu": 120}
    assert "byte_budget" not in SessionStateManager().stats()


def test_leaving_the_table_frees_nothing_and_dropping_releases() -> None:
    """A cap of 3 and 5 sessions: the newest 3 stay, and a held one keeps its state."""
    manager = SessionStateManager(max_sessions=3)
    views = [DreamZeroSession(f"s{number}", manager) for number in range(5)]
    for view in views:
        view.ys = T(10)
        view.append_video_latents(torch.ones(1, 1, 1))
    assert [f"s{number}" in manager for number in range(5)] == [False, False, True, True, True]
    assert views[0].ys is not None and views[0].video_latents is not None
    again = DreamZeroSession("s0", manager)
    assert again.ys is None
    assert manager.drop_session("s4")
    assert (views[4].ys, views[4].video_latents, views[4].nbytes_by_device()) == (None, None, {})


def test_an_evicted_session_dies_by_reference_count_alone() -> None:
    """With the collector off, letting go of the last view frees the storage."""
    manager = SessionStateManager(max_sessions=1)
    view = DreamZeroSession("a", manager)
    storages = []
    for name in ("ys", "video_latents", "vae_encoder_out"):
        tensor = torch.zeros(1, 1, 1)
        storages.append(weakref.ref(tensor.untyped_storage()))
        setattr(view, name, tensor)
        del tensor
    session = weakref.ref(view._session)
    manager.stats()
    gc.collect()
    gc.disable()
    try:
        DreamZeroSession("b", manager)
        assert session() is not None and all(storage() is not None for storage in storages)
        del view
        assert session() is None
        assert [storage() for storage in storages] == [None] * 3
        with manager.generation(DreamZeroSession, "c") as view:
            generation = weakref.ref(view._session)
        del view
        assert generation() is None
    finally:
        gc.enable()


class Asking(LatentBuffer[Any]):
    """Calls the manager while it is reset and while it is freed."""

    def __init__(self, manager: SessionStateManager) -> None:
        super().__init__()
        self.manager = manager

    def reset(self) -> None:
        self.manager.stats()
        super().reset()
        if len(self.manager) > 5:
            raise RuntimeError

    def __del__(self) -> None:
        len(self.manager)


def test_nothing_of_a_session_runs_under_the_lock() -> None:
    """Resets and destructors may call the manager: a plain lock would block for ever."""
    manager = SessionStateManager(max_sessions=1)
    for key in "abc":
        manager.get_or_create_session(key).put("x", Asking(manager))
    assert manager.drop_session("c")


class Failing(DreamZeroSession):
    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        super().__init__(session_id, manager)
        self.ys = T(10)
        raise ZeroDivisionError


def test_a_constructor_that_raises_leaves_nothing() -> None:
    """Neither in the table nor in memory."""
    manager = SessionStateManager()
    with pytest.raises(ZeroDivisionError), manager.generation(Failing, "a"):
        pass
    assert "a" not in manager
    assert manager.stats()["total_nbytes"] == 0


class Raced(DreamZeroSession):
    """Loses its id to another opener, before or after it asked for its session."""

    def __init__(
        self, session_id: str | None, manager: SessionStateManager, *, before: bool
    ) -> None:
        def other() -> None:
            manager.get_or_create_session("z")
            manager.get_or_create_session(session_id).attrs["ys"] = T(7)

        if not before:
            super().__init__(session_id, manager)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        super().__init__(session_id, manager)


def test_a_generation_gets_its_own_session_whoever_has_the_id() -> None:
    """Evicted and opened by another thread meanwhile, it still sees only its own."""
    manager = SessionStateManager(max_sessions=1)
    with manager.generation(Raced, "a", before=False) as view:
        assert view.ys is None
        view.ys = T(3)
        theirs = manager.get_or_create_session("a").attrs["ys"]
        assert isinstance(theirs, torch.Tensor) and len(theirs) == 7
    assert "a" in manager
    assert manager.stats()["total_nbytes"] == 7


def test_a_generation_whose_id_is_taken_meanwhile_is_refused() -> None:
    """Until its view asked for a session there is none to lose, and the other keeps the id."""
    manager = SessionStateManager()
    with pytest.raises(SessionExists), manager.generation(Raced, "a", before=True):
        pass
    assert manager.stats()["total_nbytes"] == 7


def test_generations_nest() -> None:
    """Each constructor is handed its own session, and the table serves all others."""
    manager = SessionStateManager()

    class Outer(DreamZeroSession):
        def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
            with manager.generation(DreamZeroSession, "inner") as inner:
                inner.call_count = 2
            super().__init__(session_id, manager)

    with manager.generation(Outer, "outer") as outer:
        assert outer.call_count == 0
        assert manager.get_or_create_session("outer") is outer._session
    assert len(manager) == 0


@pytest.mark.parametrize("lock_factory", [threading.Lock, threading.RLock, contextlib.nullcontext])
def test_any_context_manager_is_a_lock(lock_factory: Any) -> None:
    """The strategy is the caller's; the manager only enters it."""
    manager = SessionStateManager(2, lock_factory=lock_factory)
    with manager.generation(DreamZeroSession, "a"):
        assert len(manager) == 1
    assert isinstance(manager.get_or_create_session("a"), SessionState)


def test_lookups_do_not_wait_for_stats() -> None:
    """While one thread is held up inside a walk, others open sessions."""
    manager, counting, go_on = SessionStateManager(), threading.Event(), threading.Event()

    class Slow(LatentBuffer[Any]):
        def nbytes_by_device(self, seen: Any) -> dict[str, int]:
            counting.set()
            assert go_on.wait(10)
            return {}

    manager.get_or_create_session("a").put("x", Slow())
    thread = threading.Thread(target=manager.stats)
    thread.start()
    assert counting.wait(10)
    manager.get_or_create_session("b")
    assert manager.drop_session("b")
    go_on.set()
    thread.join()


def test_threads_that_open_drop_and_count() -> None:
    """A smoke test: nothing raises, and the table keeps its cap."""
    manager = SessionStateManager(max_sessions=3)
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(150):
                key = f"s{(step * seed) % 7}"
                with contextlib.suppress(SessionClosed):
                    view = DreamZeroSession(key, manager)
                    view.ys = T(10)
                    view.append_video_latents(torch.ones(1, 1, 1))
                manager.stats() if step % 5 else manager.drop_session(key)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(manager) <= 3
