"""What a transformer leaves of a branch, in real tensors of known size."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

TEXT_TOKENS, KV_HEADS, HEAD_DIM, MEDIA_TOKENS = 6, 2, 4, 5

LAYER_NBYTES = 2 * TEXT_TOKENS * KV_HEADS * HEAD_DIM * 4
"""K and V of one layer in float32, padding included."""

TABLES_NBYTES = 2 * MEDIA_TOKENS * HEAD_DIM * 4
"""The cosine and the sine table in float32."""

DIMS = {
    "S": TEXT_TOKENS,
    "kv_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "media_tokens": MEDIA_TOKENS,
}
"""The sizes above, in the symbols of the schema."""


def text_kv(layers: int, *, real_tokens: int = 4) -> list[tuple[Tensor, Tensor]]:
    """K and V by layer, trimmed views (1, real_tokens, KV_HEADS, HEAD_DIM) of padded storage."""

    def padded() -> Tensor:
        return torch.rand(1, TEXT_TOKENS, KV_HEADS, HEAD_DIM)

    return [(padded()[:, :real_tokens], padded()[:, :real_tokens]) for _ in range(layers)]


def tables() -> tuple[Tensor, Tensor]:
    """Cosine and sine, (1, MEDIA_TOKENS, HEAD_DIM) each."""
    return torch.rand(1, MEDIA_TOKENS, HEAD_DIM), torch.rand(1, MEDIA_TOKENS, HEAD_DIM)


def module() -> Any:
    """What a loan is made to: both attributes, without a cache."""
    return SimpleNamespace(cached_kv=None, cached_freqs_gen=None)


def capture(session: Any, branch: str, kv: Any, freqs: Any) -> None:
    """Lend `branch` to a module that produces `kv` and `freqs`."""
    borrower = module()
    with session.lend_transformer(borrower, branch=branch):
        borrower.cached_kv, borrower.cached_freqs_gen = kv, freqs
