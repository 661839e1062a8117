"""Layers and bytes of each branch, on real tensors of which K and V are trimmed views."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from session_state.manager import SessionStateManager

from examples.report import bytes_by_field
from generated.cosmos3 import Cosmos3Session

from .branches import DIMS, LAYER_NBYTES, TABLES_NBYTES, TEXT_TOKENS, capture, tables, text_kv

TRANSFER = ("cond_full", "cond_no_control", "uncond_full")

captured = st.dictionaries(
    st.sampled_from(TRANSFER), st.tuples(st.integers(1, 4), st.integers(1, TEXT_TOKENS))
)
"""For each branch its layers, and the tokens that its text really has."""


@given(branches=captured, again=captured)
def test_each_branch_has_its_own_layers_and_bytes(
    branches: Mapping[str, tuple[int, int]], again: Mapping[str, tuple[int, int]]
) -> None:
    """Bytes are the sum over branches of padded K and V and the tables; a reset forgets layers."""
    manager = SessionStateManager()
    with manager.generation(
        Cosmos3Session, "request-1", branches=TRANSFER, num_layers=4
    ) as session:
        for captures in (branches, again):
            session.reset_generation()
            for branch, (layers, real_tokens) in captures.items():
                capture(session, branch, text_kv(layers, real_tokens=real_tokens), tables())
            expected = sum(layers * LAYER_NBYTES + TABLES_NBYTES for layers, _ in captures.values())
            assert expected == session.nbytes_by_device().get("cpu", 0)
            assert expected == manager.stats()["total_nbytes"]
            assert [branch for branch in TRANSFER if branch in captures] == [*session.und_kv]
            for branch, (layers, real_tokens) in captures.items():
                shapes = [session.und_kv[branch, layer][0].shape[1] for layer in range(layers)]
                assert [real_tokens] * layers == shapes


@given(branches=captured)
def test_declared_bytes_bound_what_is_held(branches: Mapping[str, tuple[int, int]]) -> None:
    """Each field holds at most what is declared for as many layers as the deepest branch has."""
    most = max([layers for layers, _ in branches.values()], default=1)
    declared = Cosmos3Session.declared_nbytes(
        accelerator="cpu", dtype="float32", branches=TRANSFER, num_layers=most, **DIMS
    )
    expected = {
        "und_kv": sum(layers * LAYER_NBYTES for layers, _ in branches.values()),
        "freqs_gen": len(branches) * TABLES_NBYTES,
    }
    manager = SessionStateManager()
    with manager.generation(
        Cosmos3Session, "request-1", branches=TRANSFER, num_layers=most
    ) as session:
        for branch, (layers, real_tokens) in branches.items():
            capture(session, branch, text_kv(layers, real_tokens=real_tokens), tables())
        state = manager.get_or_create_session("request-1")
        rows = [*bytes_by_field(state, declared.by_field)]
    assert expected == {row.field: row.held for row in rows}
    assert all(row.held <= row.declared for row in rows)
