"""Where two states of one session differ, bit for bit."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

VALUES = (
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


def differences(bespoke: Any, state: Any) -> list[str]:
    """The fields in which `state` differs from the hand-written one that saw the same writes.

    The encoder output is compared over its last `vae_encoder_window` frames: `state` keeps no more.
    """
    window = state.vae_encoder_window
    pairs = {name: (getattr(bespoke, name), getattr(state, name)) for name in VALUES}
    pairs |= {
        "stitched_buffer": (list(bespoke.stitched_buffer), list(state.stitched_buffer)),
        "video_latents": (
            bespoke.get_concatenated_video_latents(),
            state.get_concatenated_video_latents(),
        ),
        "vae_encoder_out": (_newest(bespoke.vae_encoder_out, window), state.vae_encoder_out),
    }
    return [name for name, (left, right) in pairs.items() if not same(left, right)]


def same(left: object, right: object) -> bool:
    """Whether two values agree in type, dtype and every element; lists item by item."""
    match left, right:
        case Tensor(), Tensor():
            return left.dtype == right.dtype and torch.equal(left, right)
        case np.ndarray(), np.ndarray():
            return left.dtype == right.dtype and np.array_equal(left, right)
        case list(), list():
            return len(left) == len(right) and all(map(same, left, right))
        case _:
            return type(left) is type(right) and left == right


def _newest(encoder_out: Tensor | None, frames: int) -> Tensor | None:
    return None if encoder_out is None else encoder_out[:, :, -frames:]
