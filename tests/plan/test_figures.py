"""The figures that are quoted of DreamZero, from the planner and from the real encoder."""

import pytest
import torch
from session_state import SessionStateManager
from torch import Tensor

from examples.dreamzero.state import DreamZeroState
from examples.dreamzero.stream import EncoderStream, small_vae

from ..dreamzero.test_declared_bytes import default_encoder, feature_map_bytes
from .shipped import field_of, planned, schema_of

MiB, GiB = 2**20, 2**30


def test_the_encoder_map_of_64_sessions_takes_38_gibibytes() -> None:
    """603.28 MiB each at 352x640 as the encoder itself holds them, and 37.7 GiB together."""
    planned_bytes = field_of(planned(schema_of("DreamZero")), "vae_enc_feat_map").declared
    held = feature_map_bytes(352, 640, chunks=2)
    assert held == planned_bytes
    assert (603.28, 37.7) == (round(held / MiB, 2), round(64 * planned_bytes / GiB, 1))


@pytest.mark.parametrize(("height", "width"), [(480, 832), (720, 1280), (352, 1280)])
def test_the_encoder_map_is_planned_at_other_resolutions(height: int, width: int) -> None:
    """What --set gives is what the encoder holds there."""
    one = planned(schema_of("DreamZero"), f"H={height}", f"W={width}")
    held = feature_map_bytes(height, width, chunks=2)
    assert held == field_of(one, "vae_enc_feat_map").declared


def test_the_encoder_ring_bounds_what_grows_by_a_latent_frame() -> None:
    """0.43 MiB for two frames; each that the encoder puts out is 0.215 MiB."""
    ring = field_of(planned(schema_of("DreamZero")), "vae_encoder_out")
    vae = default_encoder()
    slots: list[Tensor | None] = [None] * vae._cached_conv_counts["encoder"]
    clip = torch.empty(1, 3, 1, 352, 640, dtype=torch.bfloat16, device="meta")
    with torch.no_grad():
        out = vae.encoder(clip, feat_cache=slots, feat_idx=[0])
    frame = out.numel() * out.element_size()
    assert (1, frame) == (out.shape[2], ring.item)
    assert (0.43, 0.215) == (round(ring.declared / MiB, 2), round(ring.item / MiB, 3))


def test_pending_frames_take_more_than_two_frames() -> None:
    """2.6 MiB are two frames. Three wait at most, 3.87 MiB; the first keeps its clip alive, 5.16."""
    encoder = EncoderStream(small_vae())
    state = DreamZeroState("robot", SessionStateManager())
    # As the pipeline does: the first frame seeds, and of each later clip the last one is taken.
    encoder.seed(state, torch.zeros(1, 3, 1, 16, 24))
    shown, kept = [], []
    for _ in range(8):
        encoder.append_frame(state, torch.zeros(1, 3, 4, 16, 24)[:, :, -1:])
        pending = state.vae_pending_body_frames
        if pending is not None:
            shown.append(pending.shape[2])
            kept.append(pending.untyped_storage().nbytes() // (3 * 16 * 24 * 4))
    assert ([1, 2, 3] * 2, [4, 2, 3] * 2) == (shown, kept)

    frame = 3 * 352 * 640 * 2
    assert [2.58, 3.87, 5.16] == [round(count * frame / MiB, 2) for count in (2, 3, 4)]
    found = field_of(planned(schema_of("DreamZero")), "vae_pending_body_frames")
    assert max(kept) * frame == found.declared
