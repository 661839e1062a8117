"""SourcesSession, generated from its schema."""

from typing import Literal

from session_state.coercions import as_int, optional
from session_state.declared import DeclaredBytes, check_sizes
from session_state.fields import Attr, ObjectField
from session_state.manager import SessionStateManager
from session_state.objects import EncodeOnce
from session_state.view import SessionView
from torch import Tensor


class SourcesSession(SessionView, schema="Sources 6b7c618d56a78945"):
    """What is rebuilt from what, and what takes what along."""

    language = Attr[Tensor | None](
        default=None,
        reason="Assigned with each new instruction.",
    )

    embeds = ObjectField(
        EncodeOnce[Tensor],
        invalidated_by=("language",),
        manager_may=("rebuild",),
        recompute_from=("language",),
        recompute_cost=1024,
        reason="Rebuilt exactly from the tokens.",
    )

    mask = Attr[Tensor | None](
        default=None,
        invalidated_by=("language",),
        reason="Positions of the tokens.",
    )

    height = Attr[int | None](
        default=None,
        coerce=optional(as_int),
        once=True,
        reason="The first picture fixes it.",
    )

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager)

    def reset_session(self) -> None:
        """A new session."""
        self._clear("language", "embeds", "mask", "height")

    def reset_window(self) -> None:
        """The window rolled."""
        self._clear("height")

    def reset_prompt(self) -> None:
        """Clear the fields of `prompt` together."""
        self._clear("language", "embeds")

    def reset_reason(self) -> Literal["session"] | None:
        """The reset that is due before the next forward(); the first rule that holds."""
        language = self.language
        if language is None:
            return "session"
        return None

    @classmethod
    def declared_nbytes(
        cls,
        *,
        accelerator: str = "cuda:0",
        dtype: str = "bfloat16",
        tokens: int = 16,
    ) -> DeclaredBytes:
        """The most bytes that one session holds, per device."""
        check_sizes(tokens=tokens)
        declared = DeclaredBytes()
        declared.add("language", accelerator, "int64", tokens)
        declared.add("embeds", accelerator, dtype, tokens * 64)
        declared.add("mask", accelerator, "bool", tokens)
        return declared
