"""Leases, resets, ends and evictions in any order, against a small model."""

from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from session_state import SessionBusy, SessionExists, SessionNotFound, SessionStateManager

from generated.dreamzero import DreamZeroSession

from .managers import Clock, closed

IDS = st.sampled_from("abcd")


class Leases(RuleBasedStateMachine):
    """A manager with a cap of 2 beside an OrderedDict of what is in the table."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.manager = SessionStateManager(max_sessions=2, clock=self.clock)
        self.used: OrderedDict[str, float] = OrderedDict()
        self.leases: dict[str, Any] = {}
        self.closing: dict[str, str] = {}
        self.closed: dict[str, int] = {}
        self.told: list[tuple[str, str]] = []
        self.expected: list[tuple[str, str]] = []

    def ended(self, key: str, reason: str) -> None:
        self.closed[reason] = self.closed.get(reason, 0) + 1
        self.expected.append((key, reason))

    def make_room(self, places: int = 0) -> None:
        for key in list(self.used):
            if len(self.used) + places > 2 and key not in self.leases:
                del self.used[key]
                self.ended(key, "lru")

    def use(self, key: str) -> None:
        self.used[key] = self.clock.now
        self.used.move_to_end(key)

    @rule(key=IDS)
    def open_by_hand(self, key: str) -> None:
        is_new = key not in self.used
        if is_new:
            self.make_room(1)
        session = self.manager.get_or_create_session(key)
        if is_new:
            session.on_close(lambda *end: self.told.append(end))
        self.use(key)

    @rule(key=IDS, expect=st.sampled_from(["any", "new", "existing"]))
    def lease(self, key: str, expect: Any) -> None:
        lease = self.manager.session(DreamZeroSession, key, expect)
        error: type[Exception] | None = None
        if key in self.used:
            error = (
                SessionExists if expect == "new" else SessionBusy if key in self.leases else None
            )
        elif expect == "existing":
            error = SessionNotFound
        else:
            self.make_room(1)
            error = SessionBusy if len(self.used) >= 2 else None
        if error is not None:
            with pytest.raises(error):
                lease.__enter__()
            return
        is_new = key not in self.used
        view = lease.__enter__()
        if is_new:
            view._session.on_close(lambda *end: self.told.append(end))
        self.leases[key] = lease
        self.use(key)

    @rule(key=IDS, abandoned=st.booleans())
    def give_back(self, key: str, abandoned: bool) -> None:
        lease = self.leases.pop(key, None)
        if lease is None:
            return
        if abandoned:
            del lease
            self.manager.sweep(1e9)
        else:
            lease.__exit__(None, None, None)
        self.use(key)
        if key in self.closing:
            del self.used[key]
            self.ended(key, self.closing.pop(key))
        self.make_room()

    @rule(key=IDS, reason=st.sampled_from(["client", "failed", "shutdown"]))
    def close(self, key: str, reason: Any) -> None:
        assert (key in self.used) == self.manager.close(key, reason)
        if key in self.leases:
            self.closing.setdefault(key, reason)
        elif key in self.used:
            del self.used[key]
            self.ended(key, reason)

    @rule(key=IDS)
    def reset(self, key: str) -> None:
        if key in self.used:
            self.manager.reset(key)
            if key not in self.leases:
                self.make_room()
        else:
            with pytest.raises(SessionNotFound):
                self.manager.reset(key)

    @rule(seconds=st.sampled_from([0.0, 1.0, 3.0]))
    def sweep(self, seconds: float) -> None:
        idle = [
            key
            for key, used in self.used.items()
            if key not in self.leases and used <= self.clock.now - seconds
        ]
        assert len(idle) == self.manager.sweep(seconds)
        for key in idle:
            del self.used[key]
            self.ended(key, "idle")

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def agrees_with_the_model(self) -> None:
        # Hooks of what was evicted in the last call are due at this one.
        assert not self.manager.close("nobody")
        assert list(self.used) == [record.key for record in self.manager._table.snapshot()]
        assert self.closed == closed(self.manager)
        assert sorted(self.expected) == sorted(self.told)


TestLeases = Leases.TestCase
TestLeases.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
