"""A small transformer of Cosmos3's design: text is encoded once and reread at every step."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HEADS = 4
KV_HEADS = 2
HEAD_DIM = 16
HIDDEN = HEADS * HEAD_DIM
VOCABULARY = 256

KV = tuple[Tensor, Tensor]
"""K and V of one layer, (B, S, KV_HEADS, HEAD_DIM) each."""

Frequencies = tuple[Tensor, Tensor]
"""Cosine and sine for each token, (B, tokens, HEAD_DIM) each."""


class Transformer(nn.Module):
    """A text pathway and a generation pathway of as many layers, which attends to the text's K/V.

    `cached_kv` and `cached_freqs_gen` are made by the first forward after `reset_cache()` and read
    by the others, whatever text those are given: whoever runs two texts has to exchange them.
    """

    def __init__(self, *, layers: int, latent_dim: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, HIDDEN)
        self.text_layers = nn.ModuleList(Layer() for _ in range(layers))
        self.latents_in = nn.Linear(latent_dim, HIDDEN)
        self.control_in = nn.Linear(latent_dim, HIDDEN)
        self.time_in = nn.Linear(HEAD_DIM, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.latents_out = nn.Linear(HIDDEN, latent_dim)
        self.reset_cache()

    def reset_cache(self) -> None:
        """Forget the text, so that the next forward encodes its own."""
        self.cached_kv: list[KV] | None = None
        self.cached_freqs_gen: Frequencies | None = None

    def forward(
        self, latents: Tensor, time: Tensor, text: Tensor, length: int, control: Tensor | None
    ) -> Tensor:
        """The velocity of `latents` (B, tokens, latent_dim) at `time` (B,).

        `text` (B, S) is padded and has `length` real tokens; `control` has the shape of `latents`.
        """
        if self.cached_freqs_gen is None:
            self.cached_freqs_gen = frequencies(latents, start=length)
        if self.cached_kv is None:
            self.cached_kv = [(k[:, :length], v[:, :length]) for k, v in self._encode(text)]
        hidden = self.latents_in(latents) + self.time_in(_waves(time)).unsqueeze(1)
        if control is not None:
            hidden = hidden + self.control_in(control)
        for layer, kv in zip(self.layers, self.cached_kv, strict=True):
            hidden, _ = layer(hidden, self.cached_freqs_gen, kv)
        velocity: Tensor = self.latents_out(hidden)
        return velocity

    def _encode(self, text: Tensor) -> list[KV]:
        """K and V of every text layer, padding included, which the causal mask keeps apart."""
        hidden = self.embed(text)
        freqs = frequencies(hidden, start=0)
        encoded = []
        for layer in self.text_layers:
            hidden, kv = layer(hidden, freqs)
            encoded.append(kv)
        return encoded


class Layer(nn.Module):
    """Attention and a feed-forward block; causal over its own tokens, or over text and its own."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.RMSNorm(HIDDEN)
        self.q = nn.Linear(HIDDEN, HEADS * HEAD_DIM)
        self.k = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM)
        self.v = nn.Linear(HIDDEN, KV_HEADS * HEAD_DIM)
        self.out = nn.Linear(HEADS * HEAD_DIM, HIDDEN)
        self.mlp = nn.Sequential(
            nn.RMSNorm(HIDDEN),
            nn.Linear(HIDDEN, 4 * HIDDEN),
            nn.SiLU(),
            nn.Linear(4 * HIDDEN, HIDDEN),
        )

    def forward(
        self, hidden: Tensor, freqs: Frequencies, text: KV | None = None
    ) -> tuple[Tensor, KV]:
        """The next hidden state (B, tokens, HIDDEN), and the K and V of the tokens themselves."""
        normed = self.norm(hidden)
        q = rotate(self.q(normed).unflatten(-1, (HEADS, HEAD_DIM)), freqs)
        k = rotate(self.k(normed).unflatten(-1, (KV_HEADS, HEAD_DIM)), freqs)
        v = self.v(normed).unflatten(-1, (KV_HEADS, HEAD_DIM))
        seen = (k, v) if text is None else tuple(map(_joined, text, (k, v)))
        q, keys, values = (tokens.transpose(1, 2) for tokens in (q, *seen))
        mixed = F.scaled_dot_product_attention(
            q, keys, values, is_causal=text is None, enable_gqa=True
        )
        hidden = hidden + self.out(mixed.transpose(1, 2).flatten(2))
        return hidden + self.mlp(hidden), (k, v)


def frequencies(tokens: Tensor, *, start: int) -> Frequencies:
    """The tables for `tokens` (B, tokens, ...), whose first stands at position `start`."""
    batch, count = tokens.shape[:2]
    angles = _angles(torch.arange(start, start + count)).expand(batch, -1, -1)
    return angles.cos(), angles.sin()


def rotate(heads: Tensor, freqs: Frequencies) -> Tensor:
    """Turn `heads` (B, tokens, heads, HEAD_DIM) by the position of their tokens."""
    cos, sin = (table.unsqueeze(2) for table in freqs)
    left, right = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat([-right, left], dim=-1) * sin


def _joined(text: Tensor, own: Tensor) -> Tensor:
    return torch.cat([text, own], dim=1)


def _waves(time: Tensor) -> Tensor:
    """(B,) times in [0, 1] to (B, HEAD_DIM)."""
    angles = _angles(1000 * time)[:, : HEAD_DIM // 2]
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def _angles(positions: Tensor) -> Tensor:
    """(n,) positions to (n, HEAD_DIM) angles, the second half equal to the first."""
    rates = 10_000.0 ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    return torch.outer(positions, rates).repeat(1, 2)
