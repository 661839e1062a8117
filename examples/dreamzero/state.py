"""DreamZero's own part over its generated class: stacking frames, moving chunks to the host."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from session_state.objects import LatentBuffer
from torch import Tensor

from generated.dreamzero import DreamZeroSession


class DreamZeroState(DreamZeroSession):
    """The whole surface of the hand-written state, with nothing of its own to hold.

    It can stand wherever the pipeline holds its state object: the same names, the same values,
    and an encoder output that is bounded by `vae_encoder_window` latent frames.
    """

    @property
    def video_latents_across_time(self) -> LatentBuffer[Tensor]:
        """The chunks kept so far, each (B, C, T, H, W) on the host; appending keeps one more."""
        chunks: LatentBuffer[Tensor] = self.object("video_latents")
        return chunks

    @video_latents_across_time.setter
    def video_latents_across_time(self, chunks: Iterable[Tensor]) -> None:
        kept = list(chunks)
        self.clear_video_latents()
        self.object("video_latents").extend(kept)

    def accumulate_frames(self, stitched: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Take one frame (H, W, 3) or a clip (T, H, W, 3); return the clip that this call reads.

        The first call reads one frame, every later one `frames_per_chunk`, the oldest repeated
        in front while there are too few. ValueError for another number of dimensions.
        """
        if stitched.ndim not in (3, 4):
            raise ValueError(
                f"session {self.session_id!r}: stitched_buffer takes a frame of 3 dimensions or a "
                f"clip of 4, got {stitched.ndim}"
            )
        self.stitched_buffer.extend(_owned(stitched[None] if stitched.ndim == 3 else stitched))
        wanted = self.frames_per_chunk if self.call_count else 1
        newest = self.stitched_buffer.view()[-wanted:]
        self.call_count += 1
        return np.stack([newest[0]] * (wanted - len(newest)) + newest)

    def append_video_latents(self, item: Tensor) -> None:
        """Keep one denoised chunk (B, T, C, H, W) on the host, as (B, C, T, H, W)."""
        if item.dim() != 5:
            raise ValueError(
                f"session {self.session_id!r}: video_latents takes (B, T, C, H, W), "
                f"got {tuple(item.shape)}"
            )
        super().append_video_latents(item.detach().transpose(1, 2).to("cpu", copy=True))

    def get_concatenated_video_latents(self) -> Tensor | None:
        """All chunks so far as one (B, C, T, H, W), or None."""
        return self.video_latents

    def clear_video_latents(self) -> None:
        """Drop the chunks after they were decoded."""
        self.video_latents = None

    def append_vae_encoder_chunk(self, encoder_chunk: Tensor) -> None:
        """Append (B, 2*z, t, h, w) to the encoder output; RuntimeError before it is seeded."""
        if self.vae_encoder_out is None:
            raise RuntimeError(
                f"session {self.session_id!r}: vae_encoder_out has no first frame yet; "
                "assign the encoded first frame before appending chunks"
            )
        self.append_vae_encoder_out(encoder_chunk)

    def reset(self, *, clear_video_latents: bool = True) -> None:
        """Start over; with `clear_video_latents=False` only what the local window holds."""
        if clear_video_latents:
            self.reset_session()
        else:
            self.reset_inference()

    def reset_inference_state(self) -> None:
        """Forget the local window; prompt, latents and encoder stream go on."""
        self.reset_inference()

    def should_reset(
        self, text_tokens: Tensor | None, num_video_frames: int, local_attn_size: int
    ) -> bool:
        """Whether the next forward() has to begin with a reset."""
        return self.reset_reason(text_tokens, num_video_frames, local_attn_size) is not None


def _owned(clip: NDArray[np.uint8]) -> Iterable[NDArray[np.uint8]]:
    # A frame that is a view would keep its whole clip alive for as long as the ring holds it.
    return (frame.copy() for frame in clip)
