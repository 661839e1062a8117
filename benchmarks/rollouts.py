"""Sessions like DreamZero's on both runtimes, which hold as many tensors of the same sizes.

24 feature maps, 100 latent chunks, 4 frames, 4 conditioning tensors and 5 scalars. The tensors are
small, since their number is what costs a walk.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

import attrs
import numpy as np
import torch
from session_state.coercions import as_int
from session_state.fields import Attr
from session_state.manager import SessionStateManager

from generated.dreamzero import DreamZeroSession
from tests.reference.wheel import reference

FEATURE_MAPS = 24
LATENT_CHUNKS = 100
FRAMES = 4
CONDITIONING = ("clip_feas", "ys", "language", "prompt_embeds")


class Rollout(DreamZeroSession):
    """DreamZero with as many scalars as are measured."""

    anchor = Attr[int](default=0, coerce=as_int)
    rolls = Attr[int](default=0, coerce=as_int)


class Side(Protocol):
    """One runtime: a manager, and views of its sessions."""

    manager: Any

    def view(self, session_id: str) -> Any:
        """A view of the session, made anew."""

    def append_latents(self, view: Any, chunk: torch.Tensor) -> None:
        """Append one chunk of latents."""


@attrs.frozen
class Ours:
    """Generated classes on this runtime."""

    manager: SessionStateManager = attrs.field(
        factory=lambda: SessionStateManager(max_sessions=1 << 20)
    )

    def view(self, session_id: str) -> Rollout:
        return Rollout(session_id, self.manager)

    def append_latents(self, view: Rollout, chunk: torch.Tensor) -> None:
        view.append_video_latents(chunk)


@cache
def _reference_class() -> Any:
    adapter = reference("its own").DreamZeroStateAdapter
    attr = type(vars(adapter)["call_count"])

    class ReferenceRollout(adapter):  # type: ignore[misc]
        anchor = attr(default=0, coerce=int)
        rolls = attr(default=0, coerce=int)

    return ReferenceRollout


def _reference_manager() -> Any:
    return reference("its own").SessionStateManager(max_sessions=1 << 20)


@attrs.frozen
class Reference:
    """The reference's adapters on its own runtime."""

    manager: Any = attrs.field(factory=_reference_manager)

    def view(self, session_id: str) -> Any:
        return _reference_class()(session_id, self.manager)

    def append_latents(self, view: Any, chunk: torch.Tensor) -> None:
        # Past the method that logs the sum over all chunks, which is no matter of the runtime.
        view.video_latents_across_time.append(chunk)


def small() -> torch.Tensor:
    return torch.zeros(1, 1, 1, 1, 1)


def frame() -> np.ndarray[Any, Any]:
    return np.zeros((1, 1, 3), np.uint8)


def fill(side: Side, session_id: str) -> None:
    """Make a session hold all that one holds in the middle of a rollout."""
    view = side.view(session_id)
    view.vae_enc_feat_map = [small() for _ in range(FEATURE_MAPS)]
    for _ in range(LATENT_CHUNKS):
        side.append_latents(view, small())
    for _ in range(FRAMES):
        view.stitched_buffer.append(frame())
    for name in CONDITIONING:
        setattr(view, name, small())
    write_scalars(view)


def write_scalars(view: Any) -> None:
    """Change the five scalars."""
    view.call_count += 1
    view.current_start_frame += 1
    view.anchor += 1
    view.rolls += 1
    view.vae_stream_initialized = not view.vae_stream_initialized


@attrs.frozen
class News:
    """What a step brings, made before it is measured."""

    maps: list[torch.Tensor] = attrs.field(factory=lambda: [small() for _ in range(FEATURE_MAPS)])
    latents: torch.Tensor = attrs.field(factory=small)
    frames: list[Any] = attrs.field(factory=lambda: [frame() for _ in range(FRAMES)])


def step(side: Side, view: Any, news: News) -> None:
    """What one forward() does to a session: the encoder replaces its feature maps in their list."""
    view.vae_enc_feat_map[:] = news.maps
    side.append_latents(view, news.latents)
    for one in news.frames:
        view.stitched_buffer.append(one)
    for name in CONDITIONING:
        getattr(view, name)
    write_scalars(view)


def filled(side: Side, sessions: int) -> Iterator[str]:
    """The ids of so many sessions, each filled."""
    for index in range(sessions):
        session_id = f"robot-{index}"
        fill(side, session_id)
        yield session_id
