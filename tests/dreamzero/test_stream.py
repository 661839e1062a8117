"""The real encoder, streamed with its history in a session."""

import weakref
from collections.abc import Iterator

import pytest
import torch
from session_state.manager import SessionStateManager
from torch import Tensor

from examples.dreamzero.bespoke import BespokeState
from examples.dreamzero.compare import differences
from examples.dreamzero.state import DreamZeroState
from examples.dreamzero.stream import EncoderStream, small_vae

HEIGHT, WIDTH = 16, 24


@pytest.fixture(scope="module")
def encoder() -> EncoderStream:
    return EncoderStream(small_vae())


@pytest.fixture
def state() -> DreamZeroState:
    return DreamZeroState("robot", SessionStateManager(), vae_encoder_window=4)


def clip(frames: int) -> Tensor:
    """Pixels (1, 3, T, H, W) in [-1, 1]."""
    noise = torch.Generator().manual_seed(frames)
    return torch.rand(1, 3, frames, HEIGHT, WIDTH, generator=noise) * 2 - 1


def frames_of(pixels: Tensor) -> Iterator[Tensor]:
    return (pixels[:, :, index : index + 1] for index in range(pixels.shape[2]))


def feed(encoder: EncoderStream, state: BespokeState | DreamZeroState, pixels: Tensor) -> None:
    for frame in frames_of(pixels):
        if state.vae_stream_initialized:
            encoder.append_frame(state, frame)
        else:
            encoder.seed(state, frame)


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_a_ring_reads_as_full_history_does(encoder: EncoderStream, window: int) -> None:
    """The real quant_conv gives the same latents from the ring as from all frames so far."""
    bespoke = BespokeState()
    state = DreamZeroState("robot", SessionStateManager(), vae_encoder_window=window)
    for frame in frames_of(clip(22)):
        feed(encoder, bespoke, frame)
        feed(encoder, state, frame)
        assert [] == differences(bespoke, state)
        expected = encoder.observation_latents(bespoke, window)
        assert torch.equal(expected, encoder.observation_latents(state, window))


def test_streaming_gives_what_encoding_the_whole_clip_gives(
    encoder: EncoderStream, state: DreamZeroState
) -> None:
    """Frame by frame, the newest latents are those of the encoder's own encode()."""
    pixels = clip(13)
    whole = encoder.vae.encode(pixels).latent_dist.mean
    mean = torch.tensor(encoder.vae.config.latents_mean).view(1, -1, 1, 1, 1)
    std = torch.tensor(encoder.vae.config.latents_std).view(1, -1, 1, 1, 1)
    feed(encoder, state, pixels)
    assert torch.equal((whole - mean) / std, encoder.observation_latents(state, 4))


def test_a_young_stream_repeats_its_oldest_frame(
    encoder: EncoderStream, state: DreamZeroState
) -> None:
    """Before enough frames came, the oldest latent stands in for those before it."""
    feed(encoder, state, clip(1))
    latents = encoder.observation_latents(state, 3)
    assert all(torch.equal(latents[:, :, 0], latents[:, :, index]) for index in range(3))


def test_slots_are_written_in_place_and_then_replaced(
    encoder: EncoderStream, state: DreamZeroState
) -> None:
    """A chunk writes into the list that the session held, and the session then holds a clone."""
    feed(encoder, state, clip(4))
    before = state.vae_enc_feat_map
    assert before is not None
    slots = list(before)
    feed(encoder, state, clip(1))
    after = state.vae_enc_feat_map
    assert after is not None
    assert after is not before
    assert any(new is not old for new, old in zip(before, slots, strict=True))
    assert all(
        new.untyped_storage() is not old.untyped_storage() and torch.equal(new, old)
        for new, old in zip(after, before, strict=True)
        if new is not None and old is not None
    )


def test_the_shared_module_holds_nothing_of_a_session(encoder: EncoderStream) -> None:
    """Neither the slots that a chunk was encoded into nor their clones outlive the session."""
    manager = SessionStateManager()
    state = DreamZeroState("robot", manager)
    feed(encoder, state, clip(4))
    encoded_into = state.vae_enc_feat_map
    feed(encoder, state, clip(1))
    slots = [
        weakref.ref(slot)
        for feature_map in (encoded_into, state.vae_enc_feat_map)
        for slot in feature_map or ()
        if slot is not None
    ]
    del encoded_into
    manager.drop_session("robot")
    assert 48 == len(slots)
    assert [None] * 48 == [slot() for slot in slots]


def test_more_frames_than_the_window_are_refused(encoder: EncoderStream) -> None:
    """A read beyond the ring is an error and never a shorter answer."""
    state = DreamZeroState("robot", SessionStateManager(), vae_encoder_window=2)
    feed(encoder, state, clip(9))
    with pytest.raises(ValueError, match="3 latent frames asked for, 2 are kept"):
        encoder.observation_latents(state, 3)


def test_a_stream_without_a_first_frame_is_refused(
    encoder: EncoderStream, state: DreamZeroState
) -> None:
    """Neither a frame nor a read is possible before the stream is seeded."""
    with pytest.raises(RuntimeError, match="seed it"):
        encoder.append_frame(state, clip(1))
    with pytest.raises(RuntimeError, match="seed it"):
        encoder.observation_latents(state, 1)
