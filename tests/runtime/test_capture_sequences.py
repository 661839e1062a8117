"""Any sequence of captures, deletes, resets and new views, against two plain dicts."""

import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from session_state import FieldFrozen, SessionStateManager
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

Pair = tuple[Tensor, Tensor]


def pair(nbytes: int = 8) -> Pair:
    return torch.zeros(nbytes, dtype=torch.uint8), torch.ones(nbytes, dtype=torch.uint8)


class Captures(RuleBasedStateMachine):
    """Writes, deletes, resets and new views against two plain dicts."""

    BRANCHES = ("a", "b")

    def __init__(self) -> None:
        super().__init__()
        self.manager = SessionStateManager()
        self.layers: dict[str, list[Pair]] = {}
        self.tables: dict[str, Pair] = {}
        self.look_again()

    @rule()
    def look_again(self) -> None:
        self.session = Cosmos3Session("r", self.manager, num_layers=1, branches=self.BRANCHES)

    @rule(branch=st.sampled_from(BRANCHES), count=st.integers(0, 3))
    def capture(self, branch: str, count: int) -> None:
        layers = [pair() for _ in range(count)]
        try:
            self.session.und_kv[branch] = layers
        except FieldFrozen:
            assert branch in self.layers
        except ValueError:
            assert count == 0
        else:
            assert branch not in self.layers
            self.layers[branch] = layers

    @rule(branch=st.sampled_from(BRANCHES))
    def table(self, branch: str) -> None:
        tables = pair()
        try:
            self.session.freqs_gen[branch] = tables
        except FieldFrozen:
            assert branch in self.tables
        else:
            assert branch not in self.tables
            self.tables[branch] = tables

    @rule(branch=st.sampled_from(BRANCHES))
    def write_the_same(self, branch: str) -> None:
        if branch in self.layers:
            self.session.und_kv[branch] = [(k, v) for k, v in self.layers[branch]]

    @rule(branch=st.sampled_from(BRANCHES), layers=st.booleans())
    def delete(self, branch: str, layers: bool) -> None:
        del (self.session.und_kv if layers else self.session.freqs_gen)[branch]
        (self.layers if layers else self.tables).pop(branch, None)

    @rule()
    def reset(self) -> None:
        self.session.reset_generation()
        self.layers.clear()
        self.tables.clear()

    @invariant()
    def agrees(self) -> None:
        complete = [name for name in self.BRANCHES if name in self.layers and name in self.tables]
        assert complete == list(self.session.und_kv) == list(self.session.freqs_gen)
        for name in complete:
            held = [self.session.und_kv[name, at] for at in range(len(self.layers[name]))]
            assert all(map(lambda a, b: a is b, self.layers[name], held))
        pairs = [*self.tables.values(), *(one for many in self.layers.values() for one in many)]
        expected = {"cpu": 16 * len(pairs)} if pairs else {}
        assert expected == self.session.nbytes_by_device()


TestCaptures = Captures.TestCase
TestCaptures.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
