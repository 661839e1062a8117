"""The state that a DreamZero team would write by hand: the yardstick for the generated class."""

from collections import deque
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class BespokeState:
    """What one DreamZero session keeps, in plain attributes; the encoder output in full.

    Shapes are those of `schemas/dreamzero.yaml`. `vae_encoder_out` is (B, 2*z, T, h, w) with T
    growing for as long as the session lives.
    """

    vae_encoder_window: int | None = None

    def __init__(self, frames_per_chunk: int = 4) -> None:
        self.frames_per_chunk = frames_per_chunk
        self.video_latents_across_time: list[Tensor] = []
        self.language: Tensor | None = None
        self.prompt_embeds: Tensor | None = None
        self.reset_inference_state()
        self.reset_vae_encoder_stream()

    def reset(self, *, clear_video_latents: bool = True) -> None:
        """Start over; with `clear_video_latents=False` only what the local window holds."""
        self.reset_inference_state()
        if clear_video_latents:
            self.clear_video_latents()
            self.language = None
            self.prompt_embeds = None
            self.reset_vae_encoder_stream()

    def reset_inference_state(self) -> None:
        """Forget the local window; prompt, latents and encoder stream go on."""
        self.stitched_buffer: deque[NDArray[np.uint8]] = deque(maxlen=self.frames_per_chunk)
        self.call_count = 0
        self.current_start_frame = 0
        self.clip_feas: Tensor | None = None
        self.ys: Tensor | None = None

    def reset_vae_encoder_stream(self) -> None:
        """Forget the encoder's history."""
        self.vae_stream_initialized = False
        self.vae_enc_feat_map: list[Tensor | None] | None = None
        self.vae_encoder_out: Tensor | None = None
        self.vae_pending_body_frames: Tensor | None = None

    def accumulate_frames(self, stitched: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Take one frame (H, W, 3) or a clip (T, H, W, 3); return the clip that this call reads.

        The first call reads one frame, every later one `frames_per_chunk`, the oldest repeated
        in front while there are too few. ValueError for another number of dimensions.
        """
        if stitched.ndim not in (3, 4):
            raise ValueError(f"stitched frames have 3 or 4 dimensions, got {stitched.ndim}")
        self.stitched_buffer.extend(stitched[None] if stitched.ndim == 3 else stitched)
        wanted = self.frames_per_chunk if self.call_count else 1
        newest = list(self.stitched_buffer)[-wanted:]
        self.call_count += 1
        return np.stack([newest[0]] * (wanted - len(newest)) + newest)

    def append_video_latents(self, video_out: Tensor) -> None:
        """Keep one denoised chunk (B, T, C, H, W) on the host, as (B, C, T, H, W)."""
        if video_out.dim() != 5:
            raise ValueError(f"video latents have 5 dimensions, got {tuple(video_out.shape)}")
        self.video_latents_across_time.append(video_out.detach().transpose(1, 2).cpu())

    def get_concatenated_video_latents(self) -> Tensor | None:
        """All chunks so far as one (B, C, T, H, W), or None."""
        chunks = self.video_latents_across_time
        return torch.cat(chunks, dim=2) if chunks else None

    def clear_video_latents(self) -> None:
        """Drop the chunks after they were decoded."""
        self.video_latents_across_time = []

    def append_vae_encoder_chunk(self, encoder_chunk: Tensor) -> None:
        """Append (B, 2*z, t, h, w) to the encoder output; RuntimeError before it is seeded."""
        if self.vae_encoder_out is None:
            raise RuntimeError("the encoder stream has no first frame yet; seed it")
        self.vae_encoder_out = torch.cat([self.vae_encoder_out, encoder_chunk], dim=2)

    def reset_reason(
        self, text_tokens: Tensor | None, num_video_frames: int, local_attn_size: int
    ) -> Literal["session", "inference"] | None:
        """Which reset the next forward() has to begin with, or None."""
        if self.language is None:
            return "session"
        if text_tokens is not None and not torch.equal(self.language, text_tokens):
            return "session"
        if num_video_frames == 1 and self.call_count > 1:
            return "session"
        if local_attn_size != -1 and self.current_start_frame >= local_attn_size:
            return "inference"
        return None

    def should_reset(
        self, text_tokens: Tensor | None, num_video_frames: int, local_attn_size: int
    ) -> bool:
        """Whether the next forward() has to begin with a reset."""
        return self.reset_reason(text_tokens, num_video_frames, local_attn_size) is not None
