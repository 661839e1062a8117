"""The generated session beside the reference's own hand-written state."""

from hypothesis import settings

from examples.dreamzero.state import DreamZeroState
from tests.dreamzero.resets import reset_reasons
from tests.dreamzero.sequences import Handwritten, Managed, SameWrites, Store, manager

from .wheel import reference


class ReferenceEquivalence(SameWrites):
    """A view of the generated class answers as the reference's state class does."""

    def stores(self, window: int) -> tuple[Store, Store]:
        return Handwritten(reference("its own").DreamZeroState), Managed(
            manager(), lambda name, owner: DreamZeroState(name, owner, vae_encoder_window=window)
        )


def test_the_whole_surface_is_there() -> None:
    """Every public name of the reference's state class is a name of ours."""
    bespoke = reference("its own").DreamZeroState()
    names = {name for name in dir(bespoke) if not name.startswith("_")}
    assert set() == names - set(dir(DreamZeroState))


def test_every_reset_rule_decides_as_there() -> None:
    """In each case that the rules tell apart the answer is the reference's."""
    bespoke = reference("its own").DreamZeroState()
    state = DreamZeroState("robot", manager())
    assert list(reset_reasons(bespoke)) == list(reset_reasons(state))


TestReferenceEquivalence = ReferenceEquivalence.TestCase
TestReferenceEquivalence.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None
)
