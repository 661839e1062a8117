"""The real encoder, whose own feature map is lent to it by the session of each call."""

import gc
import itertools
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from session_state import SessionFailed
from session_state.manager import SessionStateManager
from torch import Tensor

from examples.dreamzero.stream import small_vae
from generated.dreamzero import DreamZeroSession

HEIGHT, WIDTH = 16, 24
CHUNKS = (1, 4, 4)
"""Pixel frames of each call: the encoder begins with one, and goes on with four."""


@pytest.fixture(scope="module")
def vae() -> Iterator[Any]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    vae = small_vae()
    vae.clear_cache()
    yield vae
    torch.set_num_threads(threads)


def clips(seed: int) -> list[Tensor]:
    """Pixels (1, 3, frames, HEIGHT, WIDTH) in [-1, 1], a clip for each call."""
    noise = torch.Generator().manual_seed(seed)
    return [torch.rand(1, 3, frames, HEIGHT, WIDTH, generator=noise) * 2 - 1 for frames in CHUNKS]


@torch.no_grad()
def encode(vae: Any, pixels: Tensor) -> Tensor:
    """As the encoder's own code does: its history is in `_enc_feat_map`, written slot by slot."""
    if vae._enc_feat_map is None:
        vae._enc_feat_map = [None] * vae._enc_conv_num
    vae._enc_conv_idx = [0]
    encoded: Tensor = vae.encoder(pixels, feat_cache=vae._enc_feat_map, feat_idx=vae._enc_conv_idx)
    return encoded


def alone(vae: Any, seed: int) -> list[Tensor]:
    """The latents of each call of a stream that has the encoder to itself."""
    vae.clear_cache()
    encoded = [encode(vae, pixels) for pixels in clips(seed)]
    vae.clear_cache()
    return encoded


def lent(vae: Any, session: DreamZeroSession, seed: int) -> Iterator[Tensor]:
    for pixels in clips(seed):
        with session.lend(vae, _enc_feat_map="vae_enc_feat_map"):
            encoded = encode(vae, pixels)
        yield encoded


ORDERS = sorted(set(itertools.permutations("aaabbb")))


@settings(max_examples=6, deadline=None)
@given(order=st.sampled_from(ORDERS))
def test_interleaved_sessions_equal_two_that_are_alone(vae: Any, order: Sequence[str]) -> None:
    """Over one module and in any order of calls, the latents are the same bit for bit."""
    manager = SessionStateManager()
    seeds = {"a": 1, "b": 2}
    expected = {name: alone(vae, seed) for name, seed in seeds.items()}
    own = vae._enc_feat_map
    running = {
        name: lent(vae, DreamZeroSession(name, manager), seed) for name, seed in seeds.items()
    }
    encoded: dict[str, list[Tensor]] = {"a": [], "b": []}
    for name in order:
        encoded[name].append(next(running[name]))
        assert own is vae._enc_feat_map
    for name, latents in expected.items():
        assert all(map(torch.equal, latents, encoded[name]))


def test_the_encoder_holds_nothing_of_a_session_after_a_call(vae: Any) -> None:
    """Its own attribute is what it was, and a dropped session's slots are gone."""
    vae.clear_cache()
    manager = SessionStateManager()
    session = DreamZeroSession("robot-7", manager)
    for _ in lent(vae, session, 1):
        assert [None] * vae._enc_conv_num == vae._enc_feat_map
    slots = [weakref.ref(slot) for slot in session.vae_enc_feat_map or () if slot is not None]
    manager.drop_session("robot-7")
    gc.collect()
    assert 24 == len(slots)
    assert [None] * 24 == [slot() for slot in slots]


def test_a_call_that_fails_half_way_fails_its_session_alone(vae: Any) -> None:
    """Slots before the failure are new and those behind it old: only a stream begun anew is right."""
    vae.clear_cache()
    manager = SessionStateManager()
    session, other = (DreamZeroSession(name, manager) for name in ("robot-7", "robot-8"))
    first, second, _ = clips(1)
    for each in (session, other):
        with each.lend(vae, _enc_feat_map="vae_enc_feat_map"):
            encode(vae, first)
    before = list(session.vae_enc_feat_map or ())

    def stop(*call: object) -> None:
        raise MemoryError

    feature_map = session.vae_enc_feat_map
    hook = vae.encoder.mid_block.register_forward_hook(stop)
    with pytest.raises(MemoryError), session.lend(vae, _enc_feat_map="vae_enc_feat_map"):
        encode(vae, second)
    hook.remove()
    assert {True, False} == {
        old is new for old, new in zip(before, feature_map or (), strict=True) if old is not None
    }
    with pytest.raises(SessionFailed, match="session 'robot-7': field 'vae_enc_feat_map'"):
        session.call_count += 1
    assert other.vae_enc_feat_map is not None
    session.reset_vae_encoder_stream()
    assert all(map(torch.equal, alone(vae, 1), lent(vae, session, 1)))
