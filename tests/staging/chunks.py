"""The golden schema's session with one staged field of each kind, and what a chunk writes to it."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import attrs
import numpy as np
import torch
from session_state import SessionStateManager
from torch import Tensor

from tests.cases.generated.staged.expected import CameraTail, Intrinsics, StagedSession

STAGED = (
    "next_chunk_index",
    "camera_pitch",
    "seen_ids",
    "generator_state",
    "encoder_cache",
    "camera_tail",
    "frames",
    "thumbnails",
    "pose_scale",
)


def opened(session_id: str = "robot-7") -> StagedSession:
    """A view of a new session."""
    return StagedSession(session_id, SessionStateManager(), window=3)


def tail(seed: int) -> CameraTail:
    return CameraTail(
        poses=torch.full((1, 4, 4), float(seed)),
        intrinsics=Intrinsics(focal=torch.full((2,), float(seed)), center=torch.ones(2).double()),
        label=f"chunk {seed}",
    )


def chunk(seed: int, frames: int = 1) -> Tensor:
    return torch.full((1, frames, 4, 6), float(seed))


def thumbnail(seed: int) -> Any:
    return np.full((4, 6, 3), seed, np.uint8)


def _set(name: str, make: Callable[[int], Any]) -> Callable[[StagedSession, int], None]:
    return lambda session, seed: setattr(session, name, make(seed))


WRITES: tuple[Callable[[StagedSession, int], None], ...] = (
    _set("next_chunk_index", lambda seed: seed),
    _set("camera_pitch", lambda seed: seed / 2),
    _set("seen_ids", lambda seed: [seed, seed + 1]),
    _set("generator_state", lambda seed: torch.full((16,), seed % 200, dtype=torch.uint8)),
    _set("encoder_cache", lambda seed: [chunk(seed), None, torch.full((1, 4), float(seed))]),
    _set("camera_tail", tail),
    lambda session, seed: session.append_frames(chunk(seed, 2)),
    lambda session, seed: session.append_thumbnails(thumbnail(seed)),
    _set("frames", lambda seed: chunk(seed, 4)),
    _set("frames", lambda seed: None),
    lambda session, seed: session.thumbnails.extend([thumbnail(seed), thumbnail(seed + 1)]),
    _set("pose_scale", lambda seed: float(seed)),
    _set("camera_tail", lambda seed: None),
)
"""Every way to write to a staged field; the second argument tells values apart."""


def write_all(session: StagedSession, seed: int) -> None:
    """Write a whole chunk."""
    for write in WRITES[:9]:
        write(session, seed)


def contents(session: StagedSession) -> dict[str, Any]:
    """A deep copy of what every staged field holds: what is committed, and what reading gives."""
    objects = {name: session.object(name) for name in STAGED}
    return deepcopy(
        {name: (held.view(include_staged=False), held.view()) for name, held in objects.items()}
    )


def plain(value: Any) -> Any:
    """The value as what `==` compares: tensors and arrays as their dtype, shape and items."""
    if isinstance(value, Tensor):
        return (str(value.dtype), tuple(value.shape), value.tolist())
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tolist())
    if attrs.has(type(value)):
        return {one.name: plain(getattr(value, one.name)) for one in attrs.fields(type(value))}
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value
