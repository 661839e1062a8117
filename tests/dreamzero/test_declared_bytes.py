"""What the schema declares for the encoder's feature maps, against the encoder itself."""

from functools import cache

import pytest
import torch
from diffusers import AutoencoderKLWan
from torch import Tensor

from generated.dreamzero import DreamZeroSession

MiB = 2**20


@cache
def default_encoder() -> AutoencoderKLWan:
    """The encoder at its default configuration, without memory for its weights."""
    with torch.device("meta"):
        return AutoencoderKLWan().to(torch.bfloat16)


def feature_map_bytes(height: int, width: int, chunks: int) -> int:
    """Run one seed frame and some chunks of four; count what the slots then hold."""
    vae = default_encoder()
    slots: list[Tensor | None] = [None] * vae._cached_conv_counts["encoder"]
    for frames in (1, *(4,) * chunks):
        clip = torch.empty(1, 3, frames, height, width, dtype=torch.bfloat16, device="meta")
        with torch.no_grad():
            vae.encoder(clip, feat_cache=slots, feat_idx=[0])
    return sum(slot.numel() * slot.element_size() for slot in slots if slot is not None)


@pytest.mark.parametrize(
    ("height", "width", "mebibytes"),
    [(352, 640, 603.28), (480, 832, 1069.45), (720, 1280, 2467.97)],
)
def test_the_declared_feature_map_is_what_the_encoder_holds(
    height: int, width: int, mebibytes: float
) -> None:
    """At each deployed resolution the declared bytes are the encoder's own, to the byte."""
    held = feature_map_bytes(height, width, chunks=2)
    declared = DreamZeroSession.declared_nbytes(H=height, W=width).by_field
    assert held == declared["vae_enc_feat_map"]["cuda:0"]
    assert mebibytes == round(held / MiB, 2)


def test_the_shipped_feature_map_has_its_known_size() -> None:
    """352x640 in bfloat16 takes 632,586,240 bytes."""
    declared = DreamZeroSession.declared_nbytes().by_field
    assert {"cuda:0": 632_586_240} == declared["vae_enc_feat_map"]


def test_the_shipped_encoder_ring_has_its_known_size() -> None:
    """Two latent frames of 32 channels at 44x80 in bfloat16 take 450,560 bytes."""
    declared = DreamZeroSession.declared_nbytes().by_field
    assert {"cuda:0": 450_560} == declared["vae_encoder_out"]


def test_the_feature_map_does_not_grow_after_two_chunks() -> None:
    """A third chunk replaces what the slots hold and adds nothing."""
    assert feature_map_bytes(352, 640, chunks=2) == feature_map_bytes(352, 640, chunks=3)
