"""Generations that share a transformer, beside the same ones that share nothing."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import attrs
import torch
from torch import Tensor

from .generate import Request

Run = Callable[[Request], Iterator[Tensor]]
"""Denoise a request: its latents after each step."""


@attrs.frozen
class Outcome:
    """Whether the latents after one step of a request are equal, bit for bit."""

    request: Request
    step: int
    is_equal: bool


def compare(requests: Sequence[Request], expected: Run, actual: Run) -> Iterator[Outcome]:
    """Step all requests in turn, so that the calls of each lie between those of the others."""
    waiting = deque(_outcomes(request, expected, actual) for request in requests)
    while waiting:
        outcomes = waiting.popleft()
        for outcome in outcomes:
            yield outcome
            waiting.append(outcomes)
            break


def _outcomes(request: Request, expected: Run, actual: Run) -> Iterator[Outcome]:
    pairs = zip(expected(request), actual(request), strict=True)
    for step, (left, right) in enumerate(pairs, start=1):
        yield Outcome(request, step, torch.equal(left, right))
