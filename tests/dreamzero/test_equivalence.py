"""The generated session beside a hand-written state, under any sequence of writes."""

from hypothesis import settings

from examples.dreamzero.bespoke import BespokeState
from examples.dreamzero.state import DreamZeroState

from .resets import reset_reasons
from .sequences import Handwritten, Managed, SameWrites, Store, manager


class Equivalence(SameWrites):
    """A view of the generated class answers as the hand-written state does."""

    def stores(self, window: int) -> tuple[Store, Store]:
        return Handwritten(BespokeState), Managed(
            manager(), lambda name, owner: DreamZeroState(name, owner, vae_encoder_window=window)
        )


def test_every_reset_rule_decides_as_by_hand() -> None:
    """In each case that the rules tell apart the answer is the hand-written state's."""
    state = DreamZeroState("robot", manager())
    assert list(reset_reasons(BespokeState())) == list(reset_reasons(state))


TestEquivalence = Equivalence.TestCase
TestEquivalence.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
