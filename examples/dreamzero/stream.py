"""A real Wan VAE encoder, streamed frame by frame with its history in the session."""

from typing import TypeAlias

import torch
from diffusers import AutoencoderKLWan
from torch import Tensor

from .bespoke import BespokeState
from .state import DreamZeroState

State: TypeAlias = BespokeState | DreamZeroState

BODY_FRAMES = 4
"""Pixel frames that the encoder turns into one latent frame, after the first."""


def small_vae(base_dim: int = 8, z_dim: int = 4) -> AutoencoderKLWan:
    """The real architecture with few channels, in fp32 on the CPU, its weights always the same."""
    statistics = torch.linspace(0.5, 1.5, z_dim).tolist()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        vae = AutoencoderKLWan(
            base_dim=base_dim, z_dim=z_dim, latents_mean=statistics, latents_std=statistics
        )
    return vae.eval().requires_grad_(False)


class EncoderStream:
    """Feeds an encoder one frame at a time; all history lies in the state that is passed in.

    Many sessions share one `vae`. The feature map travels through the call's arguments, so the
    module holds nothing of a session afterwards.
    """

    def __init__(self, vae: AutoencoderKLWan) -> None:
        self.vae = vae
        statistics = {"dtype": vae.dtype, "device": vae.device}
        self._mean = torch.tensor(vae.config.latents_mean, **statistics).view(1, -1, 1, 1, 1)
        self._std = torch.tensor(vae.config.latents_std, **statistics).view(1, -1, 1, 1, 1)

    def seed(self, state: State, first_frame: Tensor) -> None:
        """Begin the history with one frame (B, 3, 1, H, W)."""
        state.reset_vae_encoder_stream()
        feature_map: list[Tensor | None] = [None] * self.vae._cached_conv_counts["encoder"]
        state.vae_encoder_out = self._encode(first_frame, feature_map)
        state.vae_enc_feat_map = _clone(feature_map)
        state.vae_stream_initialized = True

    def append_frame(self, state: State, frame: Tensor) -> None:
        """Add one frame (B, 3, 1, H, W); every fourth one completes a chunk and is encoded."""
        feature_map = state.vae_enc_feat_map
        if feature_map is None:
            raise RuntimeError("the encoder stream has no first frame yet; seed it")
        pending = state.vae_pending_body_frames
        frames = frame if pending is None else torch.cat([pending, frame], dim=2)
        if frames.shape[2] < BODY_FRAMES:
            state.vae_pending_body_frames = frames
            return
        state.append_vae_encoder_chunk(self._encode(frames, feature_map))
        state.vae_enc_feat_map = _clone(feature_map)
        state.vae_pending_body_frames = None

    def observation_latents(self, state: State, latent_frames: int) -> Tensor:
        """The newest normalised latents (B, z, latent_frames, h, w).

        The oldest is repeated in front while the stream is young. ValueError for more frames
        than the state keeps, RuntimeError before the stream is seeded.
        """
        encoder_out, window = state.vae_encoder_out, state.vae_encoder_window
        if encoder_out is None:
            raise RuntimeError("the encoder stream has no first frame yet; seed it")
        if window is not None and latent_frames > window:
            raise ValueError(f"{latent_frames} latent frames asked for, {window} are kept")
        with torch.no_grad():
            mean, _ = self.vae.quant_conv(encoder_out).chunk(2, dim=1)
        latents = ((mean - self._mean) / self._std)[:, :, -latent_frames:]
        missing = latent_frames - latents.shape[2]
        return torch.cat([latents[:, :, :1]] * missing + [latents], dim=2)

    def _encode(self, frames: Tensor, feature_map: list[Tensor | None]) -> Tensor:
        with torch.no_grad():
            encoded: Tensor = self.vae.encoder(frames, feat_cache=feature_map, feat_idx=[0])
        return encoded


def _clone(feature_map: list[Tensor | None]) -> list[Tensor | None]:
    return [None if entry is None else entry.clone() for entry in feature_map]
