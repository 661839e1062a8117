"""FamiliesSession, generated from its schema."""

from contextlib import AbstractContextManager
from typing import Any

from session_state.axes import Axis, CapturedAxis
from session_state.coercions import as_int, as_names
from session_state.declared import DeclaredBytes, check_sizes
from session_state.families import AttrFamily, ObjectFamily
from session_state.fields import Param
from session_state.manager import SessionStateManager
from session_state.objects import EncodeOnce
from session_state.view import SessionView
from torch import Tensor

_BRANCH = Axis("branch", lambda session: session.branches)
_LAYER = CapturedAxis("layer")


class FamiliesSession(SessionView, schema="Families edae82771a117b6c"):
    """Keys that a param gives, and a number of layers that the first write gives."""

    branches = Param(
        as_names,
        shapes_objects=True,
        doc="Branches that this rank holds.",
    )

    layers = Param(as_int, minimum=1, doc="Transformer layers.")

    text_kv = ObjectFamily(
        EncodeOnce[tuple[Tensor, Tensor]],
        per=(_BRANCH, _LAYER),
        complete_with="tables",
        manager_may=("release", "rebuild"),
        recompute_from=("text",),
        recompute_cost=64,
        reason="Encoded once and rebuilt exactly from the text.",
    )

    tables = AttrFamily[tuple[Tensor, Tensor]](
        once=True,
        per=(_BRANCH,),
        complete_with="text_kv",
        reason="Constant beside the keys that they turn.",
    )

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        branches: tuple[str, ...] = ("cond", "uncond"),
        layers: int,
    ) -> None:
        """Open the session `session_id` of `manager`, or join it where it is open."""
        self._open(session_id, manager, branches=branches, layers=layers)

    def reset_generation(self) -> None:
        """The next generation starts."""
        self._clear("text_kv", "tables")

    def lend_transformer(
        self,
        module: Any,
        *,
        branch: str,
    ) -> AbstractContextManager[None]:
        """Lend one branch to attributes of `module` for the time of a call."""
        return self._lend(
            module,
            branch,
            lent={"cached_kv": "text_kv", "cached_tables": "tables"},
        )

    @classmethod
    def declared_nbytes(
        cls,
        *,
        accelerator: str = "cuda:0",
        dtype: str = "bfloat16",
        branches: tuple[str, ...] = ("cond", "uncond"),
        layers: int = 4,
        tokens: int = 16,
        width: int = 8,
    ) -> DeclaredBytes:
        """The most bytes that one generation holds, per device."""
        branches = cls.branches.check(branches)
        layers = cls.layers.check(layers)
        check_sizes(tokens=tokens, width=width)
        declared = DeclaredBytes()
        declared.add(
            "text_kv",
            accelerator,
            dtype,
            len(branches) * layers * 2 * tokens * width,
        )
        declared.add("tables", accelerator, dtype, len(branches) * 2 * tokens)
        return declared
