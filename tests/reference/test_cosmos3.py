"""The reference's Cosmos3 adapter on its own runtime and on ours, and the generated class.

A call is what the pipeline does for a branch at one step: the branch is lent to the transformer,
the transformer makes what it finds to be None, and a call that ends cleanly is captured. The
reference's two branches, positive and negative, are `cond` and `uncond`.

The adapter and the generated class are compared where both are defined, which leaves out:

- branches of different depth: the adapter keeps one layer count for both, the last one captured,
  and then lends too few layers of the deeper branch or raises for the other;
- a capture that fails between two layers: the adapter takes the branch for captured and raises
  at every load until the reset, the generated class keeps nothing of it;
- an empty list of layers: the adapter keeps its tables and lends them without K and V, the
  generated class raises NothingCaptured;
- a view that outlives `drop_session`: the adapter goes on writing, the generated class refuses.
"""

from collections.abc import Callable
from typing import Any, Protocol

import attrs
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from session_state.errors import NothingCaptured
from session_state.manager import SessionStateManager

from generated.cosmos3 import Cosmos3Session
from tests.dreamzero.sequences import HELD_VIEWS, SESSIONS, Handwritten, held_views, session_ids

from .wheel import reference

LAYERS = 3
BRANCHES = {False: "cond", True: "uncond"}


@attrs.define
class Transformer:
    """A module whose forward makes what it finds to be None, from what it is given."""

    kv: Any
    freqs: Any
    raises: bool = False
    cached_kv: Any = None
    cached_freqs_gen: Any = None
    borrowed: Any = None

    def forward(self) -> None:
        self.borrowed = [self.cached_kv, self.cached_freqs_gen]
        self.cached_kv = self.kv if self.cached_kv is None else self.cached_kv
        self.cached_freqs_gen = self.cached_freqs_gen or self.freqs
        if self.raises:
            raise ZeroDivisionError


class State(Protocol):
    """What the three have in common."""

    def call(self, transformer: Transformer, is_negative: bool) -> None: ...
    def branch(self, is_negative: bool) -> Any: ...
    def reset(self) -> None: ...


@attrs.frozen
class Adapted:
    """The reference's adapter, driven as its pipeline does."""

    adapter: Any

    def call(self, transformer: Transformer, is_negative: bool) -> None:
        self.adapter.load_into_transformer(transformer, is_negative)
        transformer.forward()
        self.adapter.capture_from_transformer(transformer, is_negative)

    def branch(self, is_negative: bool) -> Any:
        if not self.adapter.is_branch_initialized(is_negative):
            return None
        kv = self.adapter.get_branch_kv(is_negative)
        return [kv, self.adapter.get_branch_freqs_gen(is_negative)]

    def reset(self) -> None:
        self.adapter.reset()


@attrs.frozen
class Generated:
    """The generated class, lent to the same transformer."""

    session: Cosmos3Session

    def call(self, transformer: Transformer, is_negative: bool) -> None:
        with self.session.lend_transformer(transformer, branch=BRANCHES[is_negative]):
            transformer.forward()

    def branch(self, is_negative: bool) -> Any:
        name = BRANCHES[is_negative]
        if name not in self.session.und_kv:
            return None
        layers = [layer for layer in range(LAYERS) if (name, layer) in self.session.und_kv]
        return [
            [self.session.und_kv[name, layer] for layer in layers],
            self.session.freqs_gen[name],
        ]

    def reset(self) -> None:
        self.session.reset_generation()


def adapted(system: Any) -> tuple[Any, Callable[[str, Any], State]]:
    return system.SessionStateManager(max_sessions=SESSIONS), lambda session_id, manager: Adapted(
        system.Cosmos3StateAdapter(session_id, manager)
    )


def generated() -> tuple[Any, Callable[[str, Any], State]]:
    return SessionStateManager(max_sessions=SESSIONS), lambda session_id, manager: Generated(
        Cosmos3Session(session_id, manager, num_layers=LAYERS)
    )


class SameCalls(RuleBasedStateMachine):
    """All three see the same calls, and give the same tensors, errors and statistics."""

    @initialize(session_id=session_ids, layers=st.integers(1, LAYERS))
    def begin(self, session_id: str, layers: int) -> None:
        self.layers = layers
        self.systems = [adapted(reference("its own")), adapted(reference("ours")), generated()]
        self.table = Handwritten(object)
        self.views: list[tuple[object, list[State]]] = []
        self.open(session_id)

    @rule(session_id=session_ids)
    def open(self, session_id: str) -> None:
        states = [make(session_id, manager) for manager, make in self.systems]
        self.views.append((self.table.open(session_id), states))
        del self.views[:-HELD_VIEWS]

    @rule(session_id=session_ids)
    def drop(self, session_id: str) -> None:
        ended = self.table.drop(session_id)
        dropped = [manager.drop_session(session_id) for manager, _ in self.systems]
        assert [ended is not None] * len(self.systems) == dropped
        self.views = [view for view in self.views if view[0] is not ended]

    @precondition(lambda self: self.views)
    @rule(
        view=held_views,
        is_negative=st.booleans(),
        makes_kv=st.sampled_from([True, True, True, False]),
        makes_freqs=st.sampled_from([True, True, True, False]),
        raises=st.sampled_from([False, False, False, True]),
    )
    def call(
        self, view: int, is_negative: bool, makes_kv: bool, makes_freqs: bool, raises: bool
    ) -> None:
        kv = text_kv(self.layers) if makes_kv else None
        freqs = tables() if makes_freqs else None
        answers = []
        for state in self.states(view):
            transformer = Transformer(kv, freqs, raises)
            error = _raised(state, transformer, is_negative)
            answers.append((_identities(transformer.borrowed), error))
        assert_all_equal(answers)

    @precondition(lambda self: self.views)
    @rule(view=held_views)
    def reset(self, view: int) -> None:
        for state in self.states(view):
            state.reset()

    @invariant()
    def the_branches_agree(self) -> None:
        for _, states in self.__dict__.get("views", ()):
            for is_negative in BRANCHES:
                assert_all_equal([_identities(state.branch(is_negative)) for state in states])

    @invariant()
    def the_statistics_agree(self) -> None:
        own, *others = [manager.stats() for manager, _ in self.__dict__.get("systems", ())] or [{}]
        for other in others:
            assert own == {key: other.get(key) for key in own}

    def states(self, view: int) -> list[State]:
        return self.views[view % len(self.views)][1]


def test_branches_may_differ_in_depth() -> None:
    """The adapter has one layer count for both, ours one for each branch."""
    theirs, ours = pair()
    for state in (theirs, ours):
        state.call(Transformer(text_kv(2), tables()), False)
        state.call(Transformer(text_kv(1), tables()), True)
    assert [1, 2] == [len(state.branch(False)[0]) for state in (theirs, ours)]
    for state in (theirs, ours):
        state.reset()
        state.call(Transformer(text_kv(1), tables()), False)
        state.call(Transformer(text_kv(2), tables()), True)
    with pytest.raises(RuntimeError, match="partially"):
        theirs.branch(False)
    assert 1 == len(ours.branch(False)[0])


def test_a_capture_that_fails_between_layers_leaves_nothing() -> None:
    """The adapter takes the branch for captured and raises from then on, ours captures anew."""
    theirs, ours = pair()
    for state in (theirs, ours):
        with pytest.raises((TypeError, NothingCaptured)):
            state.call(Transformer([*text_kv(1), None], tables()), False)
    with pytest.raises(RuntimeError, match="partially"):
        theirs.call(Transformer(text_kv(2), tables()), False)
    ours.call(Transformer(text_kv(2), tables()), False)
    assert 2 == len(ours.branch(False)[0])


def test_no_layers_are_no_branch() -> None:
    """The adapter keeps the tables alone and lends them, ours captures nothing and says so."""
    theirs, ours = pair()
    freqs = tables()
    theirs.call(Transformer([], freqs), False)
    with pytest.raises(NothingCaptured):
        ours.call(Transformer([], freqs), False)
    borrowers = [Transformer(text_kv(1), freqs) for _ in range(2)]
    for state, borrower in zip((theirs, ours), borrowers, strict=True):
        state.call(borrower, False)
    assert [[None, freqs], [None, None]] == [borrower.borrowed for borrower in borrowers]


def pair() -> list[State]:
    """An adapter on its own runtime, and a generated session."""
    return [
        make("request-1", manager) for manager, make in (adapted(reference("its own")), generated())
    ]


def text_kv(layers: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [(torch.rand(1, 5, 2)[:, :3], torch.rand(1, 5, 2)[:, :3]) for _ in range(layers)]


def tables() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.rand(4), torch.rand(4)


def assert_all_equal(answers: list[Any]) -> None:
    assert answers[:1] * len(answers) == answers


def _identities(value: Any) -> Any:
    """A value with the identity of each tensor in its place."""
    if isinstance(value, torch.Tensor):
        return id(value)
    return None if value is None else [_identities(item) for item in value]


def _raised(state: State, transformer: Transformer, is_negative: bool) -> type[Exception] | None:
    try:
        state.call(transformer, is_negative)
    except (RuntimeError, ZeroDivisionError) as error:
        return RuntimeError if isinstance(error, RuntimeError) else ZeroDivisionError
    return None


TestSameCalls = SameCalls.TestCase
TestSameCalls.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
