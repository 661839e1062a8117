"""Denoising as Cosmos3's pipeline does it: each step runs every CFG branch on the transformer."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager

import attrs
import torch
from torch import Tensor

from .transformer import VOCABULARY, Transformer

TEXT_TOKENS = 16
MEDIA_TOKENS = 24
LATENT_DIM = 8

Lend = Callable[[str], AbstractContextManager[Transformer]]
"""For the time of one call, a transformer with the cache of that branch in it."""


@attrs.frozen
class Branch:
    """What a CFG branch is conditioned on."""

    is_negative: bool = False
    has_control: bool = False


BRANCHES = {
    "cond": Branch(),
    "uncond": Branch(is_negative=True),
    "cond_full": Branch(has_control=True),
    "cond_no_control": Branch(),
    "uncond_full": Branch(is_negative=True, has_control=True),
}


@attrs.frozen
class Mode:
    """How a generation is guided: the weight of each branch's prediction, and who computes it."""

    name: str
    weights: Mapping[str, float]
    ranks: int = 1

    def placement(self) -> list[tuple[str, ...]]:
        """For each rank, the branches that it holds."""
        return [tuple(self.weights)[rank :: self.ranks] for rank in range(self.ranks)]


MODES = (
    Mode("no CFG", {"cond": 1.0}),
    Mode("sequential", {"cond": 6.0, "uncond": -5.0}),
    Mode("CFG-parallel", {"cond": 6.0, "uncond": -5.0}, ranks=2),
    Mode("transfer", {"cond_full": 9.0, "cond_no_control": -3.0, "uncond_full": -5.0}),
)
"""Guidance of 6 away from the negative text; in a transfer also of 1.5 towards the control."""


@attrs.frozen
class Request:
    """One generation that a client asks for; everything that it is given is drawn from `seed`."""

    request_id: str
    steps: int
    seed: int

    def text(self, *, is_negative: bool) -> tuple[Tensor, int]:
        """The padded token ids (1, TEXT_TOKENS), and how many of them are real."""
        draw = torch.Generator().manual_seed(2 * self.seed + is_negative)
        length = int(torch.randint(TEXT_TOKENS // 2, TEXT_TOKENS, (), generator=draw))
        ids = torch.randint(1, VOCABULARY, (1, TEXT_TOKENS), generator=draw)
        ids[:, length:] = 0
        return ids, length

    def latents(self) -> tuple[Tensor, Tensor]:
        """The noise that denoising begins with, and the control; (1, MEDIA_TOKENS, LATENT_DIM)."""
        draw = torch.Generator().manual_seed(self.seed)
        noise, control = torch.randn(2, 1, MEDIA_TOKENS, LATENT_DIM, generator=draw)
        return noise, control


@torch.no_grad()
def denoise(request: Request, mode: Mode, lend: Lend) -> Iterator[Tensor]:
    """The latents (1, MEDIA_TOKENS, LATENT_DIM) after each step, all branches weighted together."""
    latents, control = request.latents()
    for step in range(request.steps):
        time = torch.tensor([1 - step / request.steps])
        velocity = torch.zeros_like(latents)
        for name, weight in mode.weights.items():
            branch = BRANCHES[name]
            text = request.text(is_negative=branch.is_negative)
            with lend(name) as transformer:
                predicted = transformer(
                    latents, time, *text, control if branch.has_control else None
                )
            velocity += weight * predicted
        latents = latents - velocity / request.steps
        yield latents
