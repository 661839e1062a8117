"""StagedSession, generated from its schema."""

import numpy as np
from attrs import frozen
from numpy.typing import NDArray
from session_state.coercions import as_float, as_int, optional
from session_state.declared import DeclaredBytes, check_sizes
from session_state.fields import Attr, ObjectField, Param, ValueField, ViewField
from session_state.manager import SessionStateManager
from session_state.objects import FrameRing, LatentBuffer
from session_state.view import SessionView
from torch import Tensor


@frozen(eq=False, kw_only=True)
class Intrinsics:
    """What `StagedSession` holds as one value; replaced as a whole."""

    focal: Tensor
    center: Tensor


@frozen(eq=False, kw_only=True)
class CameraTail:
    """What `StagedSession` holds as one value; replaced as a whole."""

    poses: Tensor
    intrinsics: Intrinsics
    label: str | None


class StagedSession(SessionView, schema="Staged 3c45d3ea515b841f"):
    """What a model keeps whose chunks are staged in one call and committed in a later one."""

    window = Param(
        as_int,
        minimum=1,
        shapes_objects=True,
        doc="Frames that are read back.",
    )

    next_chunk_index = ValueField[int](
        default=0,
        coerce=as_int,
        manager_may=("stage",),
        reason="Progress advances with the chunk that commits.",
    )

    camera_pitch = ValueField[float](
        default=0.0,
        coerce=as_float,
        manager_may=("stage",),
        reason="Belongs to the chunk that camera_tail ends.",
    )

    seen_ids = ValueField[list[int]](
        factory=list,
        manager_may=("stage",),
        reason="Extended by the chunk that commits.",
    )

    generator_state = ValueField[Tensor | None](
        default=None,
        manager_may=("stage",),
        reason="The random state after the last committed chunk.",
    )

    encoder_cache = ValueField[list[Tensor | None] | None](
        default=None,
        manager_may=("stage",),
        reason="A chunk that fails must leave the encoder as it was.",
    )

    camera_tail = ValueField[CameraTail | None](
        default=None,
        manager_may=("stage",),
        reason="The last pose of the last committed chunk.",
    )

    frames = ViewField(
        FrameRing,
        allocate=lambda session: {"size": session.window, "along": 1},
        manager_may=("accumulate", "stage"),
        reason="The window that the next chunk reads; a failed chunk adds none.",
    )

    thumbnails = ObjectField(
        LatentBuffer[NDArray[np.uint8]],
        allocate=lambda session: {"maxlen": 2 * session.window},
        manager_may=("accumulate", "stage"),
        reason="Shown to the client once their chunk is committed.",
    )

    frame_index = Attr[Tensor | None](
        default=None,
        invalidated_by=("frames",),
        reason="An index into the frames that the model makes anew.",
    )

    pose_scale = ValueField[float | None](
        default=None,
        coerce=optional(as_float),
        invalidated_by=("camera_tail",),
        manager_may=("stage",),
        reason="Computed from the tail by the chunk that reads it first.",
    )

    poses_seen = Attr[dict[str, CameraTail] | None](
        default=None,
        reason="Only the model looks a pose up.",
    )

    anchor = ValueField[Tensor | None](
        default=None,
        manager_may=("rebuild", "release"),
        recompute_from=("poses_seen",),
        recompute_cost=1,
        reason="The manager may let go of it between chunks.",
    )

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        window: int = 3,
    ) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager, window=window)

    def append_frames(self, item: Tensor) -> None:
        """Append frames to `frames`."""
        self.object("frames").append(item)

    def append_thumbnails(self, item: NDArray[np.uint8]) -> None:
        """Append one item to `thumbnails`."""
        self.object("thumbnails").append(item)

    def reset_session(self) -> None:
        """A new session."""
        self._clear(
            "next_chunk_index",
            "camera_pitch",
            "seen_ids",
            "generator_state",
            "encoder_cache",
            "camera_tail",
            "frames",
            "thumbnails",
            "frame_index",
            "pose_scale",
            "poses_seen",
            "anchor",
        )

    def reset_window(self) -> None:
        """The window rolled; history goes on."""
        self._clear(
            "next_chunk_index",
            "camera_pitch",
            "generator_state",
            "encoder_cache",
            "camera_tail",
            "thumbnails",
            "frame_index",
            "pose_scale",
            "poses_seen",
            "anchor",
        )

    @classmethod
    def declared_nbytes(
        cls,
        *,
        accelerator: str = "cuda:0",
        dtype: str = "float32",
        window: int = 3,
        B: int = 1,
        h: int = 4,
        w: int = 6,
    ) -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        window = cls.window.check(window)
        check_sizes(B=B, h=h, w=w)
        declared = DeclaredBytes()
        declared.add("generator_state", "cpu", "uint8", 2 * 16)
        declared.add(
            "encoder_cache",
            accelerator,
            dtype,
            2 * 2 * B * 2 * h * w,
            2 * B * h,
        )
        declared.add("camera_tail", accelerator, dtype, 2 * 4 * 4, 2 * 2)
        declared.add("camera_tail", accelerator, "float64", 2 * 2)
        declared.add("frames", accelerator, dtype, 2 * window * B * h * w)
        declared.add("thumbnails", "cpu", "uint8", 2 * 2 * window * h * w * 3)
        declared.add("frame_index", accelerator, "int64", B * 8)
        declared.add("poses_seen", accelerator, dtype, 8 * 4 * 4, 8 * 4)
        declared.add("anchor", accelerator, dtype, B * h)
        return declared
