"""BuffersSession, generated from its schema."""

import numpy as np
from numpy.typing import NDArray
from session_state.coercions import as_int
from session_state.declared import DeclaredBytes, ceil_div, check_sizes
from session_state.fields import ObjectField, Param, ViewField
from session_state.manager import SessionStateManager
from session_state.objects import FrameRing, LatentBuffer
from session_state.view import SessionView
from torch import Tensor


class BuffersSession(SessionView, schema="Buffers c71207775432eddc"):
    """What is appended to."""

    window = Param(
        as_int,
        minimum=1,
        shapes_objects=True,
        doc="Frames that are read back.",
    )

    frames = ObjectField(
        LatentBuffer[NDArray[np.uint8]],
        allocate=lambda session: {"maxlen": 2 * session.window},
        manager_may=("accumulate",),
        reason="Only the newest are read.",
    )

    latents = ViewField(
        LatentBuffer[Tensor],
        concat=0,
        manager_may=("accumulate",),
        reason="All of them are decoded at the end.",
    )

    encoded = ViewField(
        FrameRing,
        allocate=lambda session: {"size": session.window, "along": 1},
        manager_may=("accumulate",),
        reason="The manager keeps the bound.",
    )

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        window: int = 2,
    ) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager, window=window)

    def append_frames(self, item: NDArray[np.uint8]) -> None:
        """Append one item to `frames`."""
        self.object("frames").append(item)

    def append_latents(self, item: Tensor) -> None:
        """Append one item to `latents`."""
        self.object("latents").append(item)

    def append_encoded(self, item: Tensor) -> None:
        """Append frames to `encoded`."""
        self.object("encoded").append(item)

    def reset_session(self) -> None:
        """A new session."""
        self._clear("frames", "latents", "encoded")

    @classmethod
    def declared_nbytes(
        cls,
        *,
        steps: int = 100,
        accelerator: str = "cuda:0",
        dtype: str = "bfloat16",
        window: int = 2,
        height: int = 48,
        width: int = 64,
        h: int | None = None,
        w: int | None = None,
    ) -> DeclaredBytes:
        """The most bytes that one session holds after `steps` steps, per device."""
        window = cls.window.check(window)
        h = height // 8 if h is None else h
        w = ceil_div(width, 8) if w is None else w
        check_sizes(steps=steps, height=height, width=width, h=h, w=w)
        declared = DeclaredBytes()
        declared.add("frames", "cpu", "uint8", 2 * window * height * width * 3)
        declared.add("latents", "cpu", dtype, ceil_div(steps, 4) * 16 * h * w)
        declared.add("encoded", accelerator, dtype, window * 16 * h * w)
        return declared
