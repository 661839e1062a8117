"""FreshSession, generated from its schema."""

from contextlib import AbstractContextManager
from typing import Any

from session_state.declared import DeclaredBytes, check_sizes
from session_state.fields import Attr
from session_state.manager import SessionStateManager
from session_state.view import SessionView
from torch import Tensor


class FreshSession(SessionView, schema="Fresh d35b1a4e7eabce56"):
    """What an encoder borrows, beside the counters that start anew in each call."""

    feature_map = Attr[list[Tensor | None] | None](
        default=None,
        in_place=True,
        reason="The encoder writes its slots.",
    )

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager)

    def reset_session(self) -> None:
        """A new session."""
        self._clear("feature_map")

    def lend_encoder(self, module: Any) -> AbstractContextManager[None]:
        """Lend fields to attributes of `module` for the time of a call."""
        return self._lend(
            module,
            None,
            lent={"feat_cache": "feature_map"},
            fresh={
                "conv_idx": [0],
                "first_chunk": True,
                "scale": 0.5,
                "name": None,
                "order": ["a", -1],
                "none": [],
            },
        )

    @classmethod
    def declared_nbytes(
        cls,
        *,
        accelerator: str = "cuda:0",
        dtype: str = "bfloat16",
        frames: int = 2,
        width: int = 8,
    ) -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        check_sizes(frames=frames, width=width)
        declared = DeclaredBytes()
        declared.add("feature_map", accelerator, dtype, 3 * frames * width)
        return declared
