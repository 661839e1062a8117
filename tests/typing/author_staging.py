"""A model author's use of staged fields and records. It runs nowhere: it only has to type-check.

Each `type: ignore` marks a mistake that the checker must find; one that it no longer finds is an
unused ignore, which is an error too.
"""

from contextlib import AbstractContextManager
from typing import assert_type

import numpy as np
from numpy.typing import NDArray
from session_state import LatentBuffer, Value
from torch import Tensor

from tests.cases.generated.staged.expected import CameraTail, Intrinsics, StagedSession


def reads(session: StagedSession) -> None:
    assert_type(session.next_chunk_index, int)
    assert_type(session.seen_ids, list[int])
    assert_type(session.encoder_cache, list[Tensor | None] | None)
    assert_type(session.camera_tail, CameraTail | None)
    assert_type(session.frames, Tensor | None)
    assert_type(session.thumbnails, LatentBuffer[NDArray[np.uint8]])
    assert_type(session.poses_seen, dict[str, CameraTail] | None)
    _ = session.camera_tail.poses  # type: ignore[union-attr]
    if session.camera_tail is not None:
        assert_type(session.camera_tail.poses, Tensor)
        assert_type(session.camera_tail.intrinsics.focal, Tensor)
        assert_type(session.camera_tail.label, str | None)


def writes(session: StagedSession, poses: Tensor, intrinsics: Intrinsics) -> None:
    with session.transaction():
        session.next_chunk_index += 1
        session.camera_tail = CameraTail(poses=poses, intrinsics=intrinsics, label=None)
        session.append_frames(poses)
        session.camera_tail.poses = poses  # type: ignore[misc]
        session.next_chunk_index = None  # type: ignore[assignment]
        session.camera_tail = poses  # type: ignore[assignment]
    CameraTail(poses, intrinsics, None)  # type: ignore[call-arg]
    assert_type(session.transaction(), AbstractContextManager[None])
    session.commit()
    session.discard()


def by_hand(value: Value[int]) -> None:
    value.allocate(factory=lambda: 0)
    value.stage(1)
    assert_type(value.view(), int)
    value.stage("one")  # type: ignore[arg-type]
