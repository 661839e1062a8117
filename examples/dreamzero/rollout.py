"""One step of a rollout, in the pipeline's order, with everything real but the transformer."""

import torch
from torch import Tensor

from .stream import EncoderStream, State

BLOCK = 2
"""Latent frames that a step reads back and denoises (the model's num_frame_per_block)."""

LOCAL_WINDOW = 21
"""Latent frames that the transformer attends to before its window restarts."""


def step(stream: EncoderStream, state: State, image: Tensor, instruction: int) -> str | None:
    """Take one camera image (H, W, 3) in uint8; return the reset that the step began with.

    Text and image encoders and the transformer are not loaded: what they would give is drawn
    from a fixed seed in the shapes that they have, and the denoised chunk is the observed one.
    """
    tokens = torch.full((1, 512), instruction)
    reason = state.reset_reason(tokens, 0, LOCAL_WINDOW)
    if reason is not None:
        state.reset(clear_video_latents=reason == "session")
    state.language = tokens
    if state.prompt_embeds is None:
        state.prompt_embeds = _stand_in(instruction, 1, 512, 4096)
    latents = _observe(stream, state, _clip(state, image)[:, :, -1:])
    if state.current_start_frame == 0:
        batch, channels, _, height, width = latents.shape
        state.clip_feas = _stand_in(instruction, batch, 257, 1280)
        state.ys = _stand_in(instruction, batch, 4 + channels, 9, height, width)
        state.current_start_frame = 1
    state.append_video_latents(latents.transpose(1, 2))
    state.current_start_frame += BLOCK
    return reason


def _clip(state: State, image: Tensor) -> Tensor:
    """The clip (1, 3, T, H, W) in [-1, 1] that this step reads, `image` the last of it."""
    clip = torch.from_numpy(state.accumulate_frames(image.numpy()))
    return clip.permute(3, 0, 1, 2).unsqueeze(0) / 127.5 - 1


def _observe(stream: EncoderStream, state: State, frame: Tensor) -> Tensor:
    if state.vae_stream_initialized:
        stream.append_frame(state, frame)
    else:
        stream.seed(state, frame)
    return stream.observation_latents(state, BLOCK)


def _stand_in(seed: int, *shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))
