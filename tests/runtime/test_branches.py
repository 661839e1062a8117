"""Captures, writes, deletions, resets and evictions at random, against plain dicts."""

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from session_state.errors import FieldFrozen, FieldUnset, NothingCaptured, UnknownKey
from session_state.manager import SessionStateManager
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

Pair = tuple[Tensor, Tensor]
BRANCHES = ("cond", "uncond")


def pair() -> Pair:
    return torch.zeros(1), torch.zeros(1)


def produce(module: Any, layers: int) -> tuple[list[Pair], Pair]:
    """What a first forward leaves on a transformer."""
    module.cached_kv = [pair() for _ in range(layers)]
    module.cached_freqs_gen = pair()
    return module.cached_kv, module.cached_freqs_gen


OUTCOMES = st.sampled_from(["clean", "raises", "nothing kv", "nothing freqs", "wrong"])


class Branches(RuleBasedStateMachine):
    """Views of sessions beside plain dicts: per branch the layers, and the frequencies."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = SessionStateManager(max_sessions=1)
        self.module = SimpleNamespace(cached_kv="before")

    @initialize()
    def open(self) -> None:
        self.view = Cosmos3Session("r", self.manager, num_layers=2)
        self.kv: dict[str, list[Pair | None]] = {}
        self.freqs: dict[str, Pair] = {}

    def is_there(self, branch: str) -> bool:
        return branch in self.freqs and bool(self.kv.get(branch)) and None not in self.kv[branch]

    @rule()
    def another_view(self) -> None:
        self.view = (
            Cosmos3Session("r", self.manager, num_layers=2) if "r" in self.manager else self.view
        )

    @rule()
    def evict(self) -> None:
        Cosmos3Session("other", self.manager, num_layers=2)

    @rule()
    def open_again_after_eviction(self) -> None:
        if "r" not in self.manager:
            self.open()

    @rule()
    def reset(self) -> None:
        self.view.reset_generation()
        self.kv, self.freqs = {}, {}

    @rule(branch=st.sampled_from(BRANCHES), layers=st.integers(1, 3), last_is_wrong=st.booleans())
    def write_kv(self, branch: str, layers: int, last_is_wrong: bool) -> None:
        given = [pair() for _ in range(layers)]
        held = self.kv.get(branch, [])
        if last_is_wrong:
            wrong: list[Any] = [*given, None]
            with pytest.raises(TypeError):
                self.view.und_kv[branch] = wrong
        elif any(layer is not None for layer in held) or len(held) not in (0, layers):
            with pytest.raises(FieldFrozen):
                self.view.und_kv[branch] = given
        else:
            self.view.und_kv[branch] = given
            self.kv[branch] = list(given)

    @rule(branch=st.sampled_from(BRANCHES))
    def write_freqs(self, branch: str) -> None:
        given = pair()
        if branch in self.freqs:
            with pytest.raises(FieldFrozen):
                self.view.freqs_gen[branch] = given
        else:
            self.view.freqs_gen[branch] = self.freqs[branch] = given

    @rule(branch=st.sampled_from(BRANCHES))
    def write_again(self, branch: str) -> None:
        if self.is_there(branch):
            self.view.und_kv[branch] = [(k, v) for k, v in filter(None, self.kv[branch])]
            self.view.freqs_gen[branch] = self.freqs[branch]

    @rule(branch=st.sampled_from(BRANCHES), layer=st.integers(0, 2))
    def release(self, branch: str, layer: int) -> None:
        if layer < len(self.kv.get(branch, [])):
            self.view.object(f"und_kv/{branch}/{layer}").evict()
            self.kv[branch][layer] = None

    @rule(branch=st.sampled_from(BRANCHES), field=st.sampled_from(["und_kv", "freqs_gen"]))
    def delete(self, branch: str, field: str) -> None:
        del getattr(self.view, field)[branch]
        (self.kv if field == "und_kv" else self.freqs).pop(branch, None)

    @rule(branch=st.sampled_from(BRANCHES), layers=st.integers(1, 3), outcome=OUTCOMES)
    def lend(self, branch: str, layers: int, outcome: str) -> None:
        there = self.is_there(branch)
        error = {"clean": None, "raises": KeyError, "wrong": TypeError}.get(
            outcome, NothingCaptured
        )
        if there and outcome != "raises":
            error = None
        with (
            pytest.raises(error) if error else contextlib.nullcontext(),
            self.view.lend_transformer(self.module, branch=branch),
        ):
            assert (self.kv[branch] if there else None) == self.module.cached_kv
            assert (self.freqs[branch] if there else None) is self.module.cached_freqs_gen
            kv, freqs = produce(self.module, layers)
            if outcome == "raises":
                raise KeyError
            if outcome == "nothing kv":
                self.module.cached_kv = []
            if outcome == "nothing freqs":
                self.module.cached_freqs_gen = None
            if outcome == "wrong":
                self.module.cached_kv = [*kv, torch.zeros(1)]
        if not there and outcome == "clean":
            self.kv[branch], self.freqs[branch] = list(kv), freqs

    @invariant()
    def the_module_is_as_before(self) -> None:
        assert {"cached_kv": "before"} == vars(self.module)

    @invariant()
    def keys_are_there_when_both_fields_are(self) -> None:
        whole = [branch for branch in BRANCHES if self.is_there(branch)]
        assert whole == list(self.view.und_kv) == list(self.view.freqs_gen)
        assert len(whole) == len(self.view.und_kv)
        for branch in BRANCHES:
            assert (branch in whole) == (branch in self.view.und_kv)
            self.layers_read_as_written(branch, branch in whole)

    def layers_read_as_written(self, branch: str, whole: bool) -> None:
        held = self.kv.get(branch, [])
        for layer, value in enumerate(held):
            if whole:
                assert value is self.view.und_kv[branch, layer]
            else:
                with pytest.raises(FieldUnset):
                    self.view.und_kv[branch, layer]
        with pytest.raises(UnknownKey if held else FieldUnset):
            self.view.und_kv[branch, len(held)]

    @invariant()
    def bytes_are_those_of_what_was_written(self) -> None:
        pairs = sum(layer is not None for layers in self.kv.values() for layer in layers)
        held = (pairs + len(self.freqs)) * 2 * torch.zeros(1).nbytes
        assert ({"cpu": held} if held else {}) == self.view.nbytes_by_device()


TestBranches = Branches.TestCase
