"""RangesSession, generated from its schema."""

from session_state.axes import Axis
from session_state.coercions import as_int
from session_state.declared import DeclaredBytes
from session_state.families import AttrFamily
from session_state.fields import Param
from session_state.manager import SessionStateManager
from session_state.view import SessionView
from torch import Tensor

_STREAM = Axis("stream", lambda session: ("main", "cam"))
_BLOCK = Axis("block", lambda session: range(session.blocks))
_DEEP = Axis(
    "deep",
    lambda session: [
        deep
        for deep in range(session.blocks)
        if session.every > 0 and (deep + 1) % session.every == 0
    ],
)


class RangesSession(SessionView, schema="Ranges 001c07d306eae978"):
    """Keys that are listed, and those of a range that a condition lets through."""

    blocks = Param(as_int, minimum=1, shapes_objects=True, doc="Transformer blocks.")

    every = Param(
        as_int,
        minimum=0,
        shapes_objects=True,
        doc="Every n-th block is deep; 0: none is.",
    )

    window = AttrFamily[Tensor](
        per=(_STREAM, _DEEP),
        reason="The model cuts it itself.",
    )

    tails = AttrFamily[list[Tensor]](per=(_BLOCK,), reason="Written slot by slot.")

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        blocks: int = 20,
        every: int = 4,
    ) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager, blocks=blocks, every=every)

    def reset_session(self) -> None:
        """The stream starts again."""
        self._clear("window", "tails")

    @classmethod
    def declared_nbytes(
        cls,
        *,
        accelerator: str = "cuda:0",
        dtype: str = "float32",
        blocks: int = 20,
        every: int = 4,
    ) -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        blocks = cls.blocks.check(blocks)
        every = cls.every.check(every)
        declared = DeclaredBytes()
        declared.add(
            "window",
            accelerator,
            dtype,
            2
            * sum(1 for deep in range(blocks) if every > 0 and (deep + 1) % every == 0)
            * 2
            * 64,
        )
        declared.add("tails", accelerator, dtype, blocks * 2 * 3, blocks * blocks)
        return declared
