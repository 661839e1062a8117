"""TextSession, generated from its schema."""

from session_state.coercions import as_int, as_str
from session_state.declared import DeclaredBytes
from session_state.fields import Attr
from session_state.manager import SessionStateManager
from session_state.view import SessionView


class TextSession(SessionView, schema="Text 63975fa89aefa418"):
    """Ends in a "quote\""""

    piped = Attr[int](
        default=0,
        coerce=as_int,
        reason="A | B, <b>bold</b>, `code` and *stars*.",
    )

    tripled = Attr[str](default='"""', coerce=as_str, reason='""" # noqa: F401')

    lines = Attr[str](
        default="a\nb",
        coerce=as_str,
        reason="The first line.\nThe second, 日本語.",
    )

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager)

    def reset_session(self) -> None:
        """A backslash \\ and {{ 7*7 }}."""
        self._clear("piped", "tripled", "lines")

    @classmethod
    def declared_nbytes(cls, *, accelerator: str = "cuda:0") -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        declared = DeclaredBytes()
        return declared
