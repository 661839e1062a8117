"""What outlives its session: it is reported as lingering, with the field that it came from."""

import gc
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from session_state import SessionStateManager, leaks

from generated.dreamzero import DreamZeroSession

from .values import T


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Transformer:
    """Something that holds what it was given."""

    def __init__(self, held: object) -> None:
        self.cached = held


def test_what_something_else_holds_lingers_until_it_is_gone() -> None:
    """After a drop: the field, the bytes and the age; nothing once the last alias lets go."""
    clock = Clock()
    manager = SessionStateManager(clock=clock)
    view = DreamZeroSession("robot-7", manager)
    view.vae_enc_feat_map = [T(100), T(20)]
    view.ys = T(7)
    borrower = Transformer([(view.vae_enc_feat_map or [])[0]])
    manager.drop_session("robot-7")
    clock.now += 30
    stats = manager.stats()
    assert (100, 0) == (stats["lingering:cpu"], stats["total_nbytes"])
    (leak,) = leaks(manager)
    assert ("robot-7", "vae_enc_feat_map", "cpu", 100, 30.0, ()) == (
        *(leak.session_id, leak.field, leak.device, leak.nbytes, leak.age, leak.holders),
    )
    del borrower
    assert [] == leaks(manager)
    assert "lingering:cpu" not in manager.stats()


def test_the_holder_is_named_on_request() -> None:
    """Through containers, up to what has a name: an attribute of an object, of a module, a slot."""
    manager = SessionStateManager()
    view = DreamZeroSession("robot-7", manager)
    view.ys = T(64)
    view.clip_feas = T(32)
    transformer, namespace = Transformer({"kv": [(view.ys, None)]}), SimpleNamespace()
    namespace.kept = view.clip_feas
    manager.drop_session("robot-7")
    found = {leak.field: leak.holders for leak in leaks(manager, holders=True)}
    assert {"ys", "clip_feas"} == found.keys()
    assert (f"{__name__}.Transformer.cached",) == found["ys"]
    assert ("types.SimpleNamespace.kept",) == found["clip_feas"]
    assert transformer.cached and namespace.kept is not None


def test_an_evicted_session_is_detached_while_a_view_holds_it() -> None:
    """Its bytes leave `nbytes` for `detached`; when the view lets go, what is left lingers."""
    manager = SessionStateManager(max_sessions=1)
    view = DreamZeroSession("old", manager)
    view.ys = kept = T(48)
    view.clip_feas = T(10)
    DreamZeroSession("new", manager).ys = T(5)
    stats = manager.stats()
    assert (5, 58) == (stats["nbytes:cpu"], stats["detached:cpu"])
    view.language = T(2)
    assert 60 == manager.stats()["detached:cpu"]
    del view
    stats = manager.stats()
    assert "detached:cpu" not in stats
    assert (5, 48) == (stats["nbytes:cpu"], stats["lingering:cpu"])
    assert ["ys"] == [leak.field for leak in leaks(manager)]
    assert kept is not None


def test_an_eviction_without_a_view_lingers_at_once() -> None:
    """What was never published before is surveyed on the way out."""
    manager = SessionStateManager(max_sessions=1)
    kept = T(48)
    DreamZeroSession("old", manager).ys = kept
    DreamZeroSession("new", manager)
    assert ["ys"] == [leak.field for leak in leaks(manager)]
    assert 48 == manager.stats()["lingering:cpu"]


def test_what_a_session_takes_up_again_lingers_no_more() -> None:
    """It counts where it is held, and lingers again, under its new field, when that ends too."""
    manager = SessionStateManager()
    shared = T(16)
    DreamZeroSession("a", manager).ys = shared
    manager.drop_session("a")
    DreamZeroSession("b", manager).clip_feas = shared
    stats = manager.stats()
    assert 16 == stats["nbytes:cpu"]
    assert "lingering:cpu" not in stats
    manager.drop_session("b")
    assert [("b", "clip_feas")] == [(leak.session_id, leak.field) for leak in leaks(manager)]


def test_a_value_that_every_session_is_given_leaves_one_entry() -> None:
    """A constant of the pipeline does not make the books grow with each session that ends."""
    manager, constant = SessionStateManager(), T(8)
    for at in range(50):
        DreamZeroSession(f"s{at}", manager).prompt_embeds = constant
        manager.drop_session(f"s{at}")
    assert [("s49", 8)] == [(leak.session_id, leak.nbytes) for leak in leaks(manager)]


@pytest.mark.parametrize("array", [np.zeros(12, np.uint8), np.zeros((4, 6), np.uint8)[:, :3]])
def test_arrays_linger_too(array: Any) -> None:
    """By the allocation behind them."""
    manager = SessionStateManager()
    view = DreamZeroSession("a", manager)
    view.append_stitched_buffer(array)
    manager.drop_session("a")
    expected = 12 if array.base is None else 24
    assert expected == manager.stats()["lingering:cpu"]


def test_the_books_hold_nothing_alive() -> None:
    """Neither a pending event nor a lingering entry keeps a tensor or a session."""
    manager = SessionStateManager()
    gc.disable()
    try:
        view = DreamZeroSession("a", manager)
        view.vae_enc_feat_map = [T(10), T(20)]
        manager.stats()
        manager.drop_session("a")
        del view
        assert [] == leaks(manager)
        assert not manager.ledger.accounts
        stats = manager.stats()
    finally:
        gc.enable()
    assert not [key for key in stats if re.match("nbytes:|detached:|lingering:", key)]


def test_peaks_stay() -> None:
    """The most bytes that the table held at a publication."""
    manager = SessionStateManager()
    view = DreamZeroSession("a", manager)
    view.ys = T(500)
    manager.stats()
    view.ys = T(20)
    stats = manager.stats()
    assert (20, 500) == (stats["nbytes:cpu"], stats["peak:cpu"])


def test_a_tensor_is_no_leak_of_a_session_that_is_reset() -> None:
    """A reset is no end: what the model keeps of it is the model's."""
    manager = SessionStateManager()
    view = DreamZeroSession("a", manager)
    view.ys = kept = torch.zeros(4)
    view.reset_session()
    assert [] == leaks(manager)
    assert kept is not None
