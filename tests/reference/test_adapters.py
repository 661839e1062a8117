"""The reference's adapters on our runtime, beside the same adapters on their own."""

from typing import Any

import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from examples.dreamzero.compare import VALUES, same
from tests.dreamzero.sequences import SESSIONS, Managed, SameWrites, Store

from .wheel import reference


class DreamZeroAdapter(SameWrites):
    """Its DreamZero adapter gives the same answers and the same statistics on both."""

    left: Managed
    right: Managed

    def stores(self, window: int) -> tuple[Store, Store]:
        own, ours = (self._store(reference(runtime), window) for runtime in ("its own", "ours"))
        return own, ours

    def _store(self, system: Any, window: int) -> Managed:
        return Managed(
            system.SessionStateManager(max_sessions=SESSIONS),
            lambda name, owner: system.DreamZeroStateAdapter(
                name, owner, vae_encoder_window=window
            ),
        )

    def differing(self, left: Any, right: Any) -> list[str]:
        own, ours = _values(left), _values(right)
        return [name for name in own if not same(own[name], ours[name])]

    @invariant()
    def the_statistics_agree(self) -> None:
        if self.views:
            own, ours = self.left.manager.stats(), self.right.manager.stats()
            assert own == {key: ours.get(key) for key in own}


class Cosmos3Adapter(RuleBasedStateMachine):
    """Its Cosmos3 adapter gives the same answers and the same statistics on both."""

    @initialize()
    def begin(self) -> None:
        systems = [reference("its own"), reference("ours")]
        self.managers = [system.SessionStateManager(max_sessions=2) for system in systems]
        self.adapters = [system.Cosmos3StateAdapter for system in systems]
        self.open("a")

    @rule(session_id=st.sampled_from("abc"))
    def open(self, session_id: str) -> None:
        self.views = [
            adapter(session_id, manager)
            for adapter, manager in zip(self.adapters, self.managers, strict=True)
        ]

    @rule(
        is_negative=st.booleans(),
        layers=st.none() | st.integers(1, 3),
        has_frequencies=st.booleans(),
    )
    def capture(self, is_negative: bool, layers: int | None, has_frequencies: bool) -> None:
        transformer = Transformer(layers, has_frequencies)
        raised = [
            _raises(view.capture_from_transformer, transformer, is_negative) for view in self.views
        ]
        assert raised[0] == raised[1]

    @rule(is_negative=st.booleans())
    def load(self, is_negative: bool) -> None:
        loaded = [Transformer(None, False) for _ in self.views]
        raised = [
            _raises(view.load_into_transformer, transformer, is_negative)
            for view, transformer in zip(self.views, loaded, strict=True)
        ]
        assert raised[0] == raised[1]
        assert _listed(loaded[0].cached_kv) == _listed(loaded[1].cached_kv)
        assert _listed(loaded[0].cached_freqs_gen) == _listed(loaded[1].cached_freqs_gen)

    @rule()
    def reset(self) -> None:
        for view in self.views:
            view.reset()

    @rule(session_id=st.sampled_from("abc"))
    def drop(self, session_id: str) -> None:
        dropped = [manager.drop_session(session_id) for manager in self.managers]
        assert dropped[0] == dropped[1]

    @invariant()
    def the_statistics_agree(self) -> None:
        if hasattr(self, "managers"):
            own, ours = (manager.stats() for manager in self.managers)
            assert own == {key: ours.get(key) for key in own}

    @invariant()
    def both_branches_agree(self) -> None:
        for is_negative in (False, True):
            states = [
                view.is_branch_initialized(is_negative) for view in self.__dict__.get("views", ())
            ]
            assert len(set(states)) <= 1


class Transformer:
    """A module that was just run: what a branch leaves in its two attributes."""

    def __init__(self, layers: int | None, has_frequencies: bool) -> None:
        self.cached_kv = layers and [
            (torch.rand(1, 3, 2), torch.rand(1, 3, 2)) for _ in range(layers)
        ]
        self.cached_freqs_gen = (torch.rand(4), torch.rand(4)) if has_frequencies else None


def _values(adapter: Any) -> dict[str, Any]:
    values = {name: getattr(adapter, name) for name in VALUES}
    return values | {
        "vae_encoder_out": adapter.vae_encoder_out,
        "stitched_buffer": adapter.stitched_buffer.view(),
        "video_latents": adapter.video_latents_across_time.view(),
    }


def _listed(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return value if value is None else [_listed(item) for item in value]


def _raises(call: Any, *arguments: object) -> str | None:
    try:
        call(*arguments)
    except RuntimeError as error:
        return str(error)
    return None


TestDreamZeroAdapter = DreamZeroAdapter.TestCase
TestDreamZeroAdapter.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestCosmos3Adapter = Cosmos3Adapter.TestCase
TestCosmos3Adapter.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
