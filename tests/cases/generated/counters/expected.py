"""CountersSession, generated from its schema."""

from session_state.coercions import as_int
from session_state.declared import DeclaredBytes
from session_state.fields import Attr
from session_state.manager import SessionStateManager
from session_state.view import SessionView


class CountersSession(SessionView, schema="Counters 075854e92f7065a9"):
    """The least that a schema can say."""

    frames_seen = Attr[int](
        default=0,
        coerce=as_int,
        reason="Only the model counts what it saw.",
    )

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager)

    def reset_session(self) -> None:
        """The session starts again."""
        self._clear("frames_seen")

    @classmethod
    def declared_nbytes(cls, *, accelerator: str = "cuda:0") -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        declared = DeclaredBytes()
        return declared
