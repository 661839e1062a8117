"""The reference's own Cosmos3 adapter on this runtime: what its transformer keeps shows up."""

from typing import Any

import torch
from session_state import SessionStateManager, leaks

from .wheel import reference


class Transformer:
    """The two attributes through which the pipeline hands a branch over."""

    cached_kv: Any = None
    cached_freqs_gen: Any = None


def test_the_last_handoff_lingers_after_the_drop() -> None:
    """Nobody clears the transformer's attributes at the end of a request, so that its last branch
    outlives the session: under the names of the objects and attrs that it came from.
    """
    manager, transformer = SessionStateManager(), Transformer()
    adapter = reference("ours").Cosmos3StateAdapter("request-1", manager)
    for is_negative in (False, True):
        adapter.load_into_transformer(transformer, is_negative)
        transformer.cached_kv = [(torch.zeros(2, 64), torch.zeros(2, 64)) for _ in range(3)]
        transformer.cached_freqs_gen = (torch.zeros(10), torch.zeros(10))
        adapter.capture_from_transformer(transformer, is_negative)
    held = 3 * 2 * 2 * 64 * 4 + 2 * 10 * 4
    assert 2 * held == manager.stats()["nbytes:cpu"]
    del adapter
    manager.drop_session("request-1")
    assert held == manager.stats()["lingering:cpu"]
    found = leaks(manager, holders=True)
    assert {"und_kv_neg/0", "und_kv_neg/1", "und_kv_neg/2", "und_freqs_gen_neg"} == {
        leak.field for leak in found
    }
    assert held == sum(leak.nbytes for leak in found)
    assert {
        (f"{__name__}.Transformer.cached_kv",),
        (f"{__name__}.Transformer.cached_freqs_gen",),
    } == {leak.holders for leak in found}
    transformer.cached_kv = transformer.cached_freqs_gen = None
    assert [] == leaks(manager)
