# The contract sample: what the emitter will write, by hand.
"""What one DreamZero session keeps, generated from its schema."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from session_state.declared import DeclaredBytes, check_sizes, itemsize
from session_state.fields import Attr, ObjectField, Param, ViewField, as_bool, as_int
from session_state.manager import SessionStateManager
from session_state.objects import FrameRing, LatentBuffer
from session_state.view import SessionView
from torch import Tensor, equal


class DreamZeroSession(SessionView, schema="DreamZero 0123456789ab"):
    """What a DreamZero session keeps between forward() calls, attention K/V aside."""

    frames_per_chunk = Param(
        as_int,
        minimum=1,
        shapes_objects=True,
        doc="Stitched pixel frames read per call after the first.",
    )
    vae_encoder_window = Param(
        as_int,
        minimum=1,
        shapes_objects=True,
        doc="Latent frames the observation encoder reads back (num_frame_per_block).",
    )

    stitched_buffer = ObjectField(
        LatentBuffer[NDArray[np.uint8]],
        allocate=lambda session: {"maxlen": session.frames_per_chunk},
        reason=(
            "Frames arrive call by call and only the newest chunk is read, so the manager keeps the "
            "bound."
        ),
    )
    video_latents = ViewField(
        LatentBuffer[Tensor],
        concat=2,
        reason="Every chunk is kept on the host until the rollout is decoded.",
    )
    vae_encoder_out = ViewField(
        FrameRing,
        allocate=lambda session: {"size": session.vae_encoder_window, "along": 2},
        reason="...",
    )
    vae_enc_feat_map = Attr[list[Tensor | None] | None](default=None, reason="...")
    vae_pending_body_frames = Attr[Tensor | None](default=None, reason="...")
    vae_stream_initialized = Attr[bool](default=False, coerce=as_bool, reason="...")
    call_count = Attr[int](default=0, coerce=as_int, reason="...")
    current_start_frame = Attr[int](default=0, coerce=as_int, reason="...")
    clip_feas = Attr[Tensor | None](default=None, reason="...")
    ys = Attr[Tensor | None](default=None, reason="...")
    language = Attr[Tensor | None](default=None, reason="...")
    prompt_embeds = Attr[Tensor | None](default=None, reason="...")

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        frames_per_chunk: int = 4,
        vae_encoder_window: int = 2,
    ) -> None:
        """Open `session_id` in `manager`, or join it where it is open."""
        self._open(
            session_id,
            manager,
            frames_per_chunk=frames_per_chunk,
            vae_encoder_window=vae_encoder_window,
        )

    def append_stitched_buffer(self, item: NDArray[np.uint8]) -> None:
        """Append one item to `stitched_buffer`."""
        self.object("stitched_buffer").append(item)

    def append_video_latents(self, item: Tensor) -> None:
        """Append one item to `video_latents`."""
        self.object("video_latents").append(item)

    def append_vae_encoder_out(self, item: Tensor) -> None:
        """Append frames to `vae_encoder_out`."""
        self.object("vae_encoder_out").append(item)

    def reset_session(self) -> None:
        """A new session, or the instruction changed."""
        self._clear(
            "stitched_buffer",
            "video_latents",
            "vae_encoder_out",
            "vae_enc_feat_map",
            "vae_pending_body_frames",
            "vae_stream_initialized",
            "call_count",
            "current_start_frame",
            "clip_feas",
            "ys",
            "language",
            "prompt_embeds",
        )

    def reset_inference(self) -> None:
        """The local attention window rolled; prompt, latents and encoder stream go on."""
        self._clear("stitched_buffer", "call_count", "current_start_frame", "clip_feas", "ys")

    def reset_vae_encoder_stream(self) -> None:
        """Clear the fields of the group `vae_encoder_stream`."""
        self._clear(
            "vae_stream_initialized",
            "vae_enc_feat_map",
            "vae_encoder_out",
            "vae_pending_body_frames",
        )

    def reset_reason(
        self,
        text_tokens: Tensor | None,
        num_video_frames: int,
        local_attn_size: int,
    ) -> Literal["session", "inference"] | None:
        """The reset that the arguments call for, or None; the first rule that holds wins."""
        call_count = self.call_count
        current_start_frame = self.current_start_frame
        language = self.language
        if language is None:
            return "session"
        if text_tokens is not None and not equal(language, text_tokens):
            return "session"
        if num_video_frames == 1 and call_count > 1:
            return "session"
        if local_attn_size != -1 and current_start_frame >= local_attn_size:
            return "inference"
        return None

    @classmethod
    def declared_nbytes(
        cls,
        *,
        steps: int = 400,
        accelerator: str = "cuda:0",
        dtype: str = "bfloat16",
        frames_per_chunk: int = 4,
        vae_encoder_window: int = 2,
        B: int = 1,
        H: int = 352,
        W: int = 640,
        h: int | None = None,
        w: int | None = None,
        z: int = 16,
        c: int = 96,
    ) -> dict[str, int]:
        """The most bytes that one session holds after `steps` steps, per device."""
        h = H // 8 if h is None else h
        w = W // 8 if w is None else w
        check_sizes(steps=steps, B=B, H=H, W=W, h=h, w=w, z=z, c=c)
        item = itemsize(dtype)
        return DeclaredBytes(
            {
                "stitched_buffer": {"cpu": frames_per_chunk * (H * W * 3)},
                "video_latents": {"cpu": steps * (B * z * 2 * h * w) * item},
                "vae_encoder_out": {
                    accelerator: vae_encoder_window * (B * 2 * z * 1 * h * w) * item
                },
            }
        )
