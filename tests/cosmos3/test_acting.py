"""A branch that the manager let go of and rebuilt, beside one that was never away."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from session_state import ManagerMayNot, NoRebuild, SessionNotFound, SessionStateManager
from torch import Tensor

from examples.cosmos3.caches import alone
from examples.cosmos3.generate import BRANCHES, LATENT_DIM, MODES, Request, denoise
from examples.cosmos3.transformer import Transformer
from generated.cosmos3 import Cosmos3Session

from .branches import LAYER_NBYTES, TABLES_NBYTES, capture, tables, text_kv

MODE = MODES[1]
REQUEST = Request("request-1", steps=4, seed=1)


@pytest.fixture(scope="module")
def transformer() -> Transformer:
    torch.manual_seed(0)
    return Transformer(layers=2, latent_dim=LATENT_DIM)


def rebuild_by(transformer: Transformer) -> Callable[[Cosmos3Session, str], Any]:
    @torch.no_grad()
    def rebuild(session: Cosmos3Session, branch: str) -> list[tuple[Tensor, Tensor]]:
        text, length = REQUEST.text(is_negative=BRANCHES[branch].is_negative)
        return [(k[:, :length], v[:, :length]) for k, v in transformer._encode(text)]

    return rebuild


def test_a_rebuilt_branch_equals_the_one_that_was_released(transformer: Transformer) -> None:
    """Between any two steps its K and V go and come back, and the latents stay bit for bit."""
    manager = SessionStateManager()
    manager.register_rebuild(Cosmos3Session, "und_kv", rebuild_by(transformer))
    with manager.generation(Cosmos3Session, "request-1", num_layers=2) as session:

        @contextmanager
        def lend(branch: str) -> Iterator[Transformer]:
            with session.lend_transformer(transformer, branch=branch):
                yield transformer

        expected = alone(transformer, MODE, REQUEST)
        for latents in denoise(REQUEST, MODE, lend):
            assert torch.equal(next(expected), latents)
            before = clones(session, "cond")
            held = session.nbytes_by_device()["cpu"]
            freed = manager.release("request-1", "und_kv/cond")["cpu"]
            assert sum(tensor.nbytes for tensor in before) <= freed
            assert held - freed == session.nbytes_by_device()["cpu"]
            assert ["uncond"] == [*session.und_kv]
            manager.rebuild("request-1", "und_kv/cond")
            assert ["cond", "uncond"] == [*session.und_kv]
            assert all(map(torch.equal, before, clones(session, "cond")))


def clones(session: Cosmos3Session, branch: str) -> list[Tensor]:
    """K and V of every layer, in storage of their own."""
    return [tensor.clone() for layer in range(2) for tensor in session.und_kv[branch, layer]]


def test_release_frees_the_storage_of_its_branch_once() -> None:
    """The padded K and V of two layers; what the tables hold stays, and a second call finds none."""
    manager = SessionStateManager()
    session = Cosmos3Session("request-1", manager, num_layers=2)
    for branch in session.branches:
        capture(session, branch, text_kv(2), tables())
    assert {"cpu": 2 * LAYER_NBYTES} == manager.release("request-1", "und_kv/cond")
    assert {} == manager.release("request-1", "und_kv/cond")
    assert {"cpu": 2 * LAYER_NBYTES} == manager.release("request-1", "und_kv")
    assert {"cpu": 2 * TABLES_NBYTES} == manager.nbytes_by_device()


def test_what_an_alias_holds_is_not_freed() -> None:
    """One of four tensors is held outside: its storage stays, and the answer is short by it."""
    manager = SessionStateManager()
    session = Cosmos3Session("request-1", manager, num_layers=2)
    layers = text_kv(2)
    capture(session, "cond", layers, tables())
    alias = layers[0][0]
    layers.clear()
    assert {"cpu": 2 * LAYER_NBYTES - LAYER_NBYTES // 2} == manager.release("request-1", "und_kv")
    capture(session, "cond", held := text_kv(1), tables())
    assert {"cpu": 0} == manager.release("request-1", "und_kv")
    assert (4, 1) == (alias.shape[1], len(held))


def test_a_released_branch_is_captured_anew_by_the_next_loan() -> None:
    """A model that finds its branch absent encodes it, whether or not the manager could."""
    manager = SessionStateManager()
    session = Cosmos3Session("request-1", manager, num_layers=2)
    capture(session, "cond", text_kv(2), tables())
    manager.release("request-1", "und_kv/cond")
    layers = text_kv(2)
    capture(session, "cond", layers, tables())
    assert layers[1] is session.und_kv["cond", 1]


def test_refusals_name_the_session_the_field_and_what_to_do() -> None:
    """Permission, callable, field, key and session, each by its own error."""
    manager = SessionStateManager()
    Cosmos3Session("request-1", manager, num_layers=2)
    refusals: list[tuple[Callable[[], object], type[Exception], str]] = [
        (
            lambda: manager.release("request-1", "freqs_gen"),
            ManagerMayNot,
            "session 'request-1', field 'freqs_gen': the manager may not release it; it only "
            "carries the value",
        ),
        (
            lambda: manager.rebuild("request-1", "und_kv/uncond"),
            NoRebuild,
            "session 'request-1', field 'und_kv/uncond': nothing is registered that rebuilds it; "
            "call manager.register_rebuild(Cosmos3Session, 'und_kv', function), where "
            "function(view, branch) returns its value",
        ),
        (
            lambda: manager.register_rebuild(Cosmos3Session, "freqs_gen", print),
            ManagerMayNot,
            "Cosmos3Session, field 'freqs_gen': the manager may not rebuild it; it only carries "
            "the value",
        ),
        (
            lambda: manager.register_rebuild(Cosmos3Session, "kv", print),
            AttributeError,
            "'kv' is no field of Cosmos3Session",
        ),
        (
            lambda: manager.release("request-1", "kv"),
            AttributeError,
            "session 'request-1': 'kv' is no field of Cosmos3Session",
        ),
        (
            lambda: manager.release("request-2", "und_kv"),
            SessionNotFound,
            "session 'request-2' is not in the table",
        ),
    ]
    for use, error, message in refusals:
        with pytest.raises(error) as refused:
            use()
        assert message == str(refused.value)


def test_what_is_left_of_a_branch_does_not_stand_in_the_way() -> None:
    """A layer that somebody reset makes its branch absent, and a rebuild brings all of it."""
    manager = SessionStateManager()
    manager.register_rebuild(Cosmos3Session, "und_kv", lambda session, branch: text_kv(3))
    session = Cosmos3Session("request-1", manager, num_layers=3)
    capture(session, "cond", text_kv(2), tables())
    session.object("und_kv/cond/1").reset()
    assert "cond" not in session.und_kv
    manager.rebuild("request-1", "und_kv/cond")
    assert "cond" in session.und_kv
    assert {"cpu": 3 * LAYER_NBYTES + TABLES_NBYTES} == session.nbytes_by_device()


def test_generated_fields_say_what_the_manager_may_do() -> None:
    """The cost is that of the shipped configuration: 36 layers of 512 tokens."""
    field = Cosmos3Session.und_kv
    assert (("release", "rebuild"), ("text_tokens",)) == (field.manager_may, field.recompute_from)
    assert 36 * 512 == field.recompute_cost
    assert () == Cosmos3Session.freqs_gen.manager_may
