"""Generations over one transformer that borrows its cache, beside those that share nothing."""

from collections.abc import Iterator, Sequence
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.cosmos3.caches import Rank, alone, lent, start_ranks, unisolated
from examples.cosmos3.compare import compare
from examples.cosmos3.generate import LATENT_DIM, MODES, Mode, Request
from examples.cosmos3.transformer import Transformer

REQUESTS = (
    Request("request-1", steps=2, seed=1),
    Request("request-2", steps=4, seed=2),
    Request("request-3", steps=3, seed=3),
)
every_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)


@pytest.fixture(scope="module")
def transformer() -> Iterator[Transformer]:
    # Layers this small cost far more to share between threads than to compute.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield Transformer(layers=2, latent_dim=LATENT_DIM)
    torch.set_num_threads(threads)


@every_mode
def test_each_step_equals_that_of_a_transformer_of_its_own(
    transformer: Transformer, mode: Mode
) -> None:
    """Interleaved requests come out, bit for bit, as the same block with its own instance cache."""
    ranks = start_ranks(transformer, mode)
    outcomes = [*compare(REQUESTS, partial(alone, transformer, mode), partial(lent, ranks, mode))]
    assert 9 == len(outcomes)
    assert [] == [outcome for outcome in outcomes if not outcome.is_equal]
    assert_at_rest(ranks)


@every_mode
def test_without_isolation_they_differ(transformer: Transformer, mode: Mode) -> None:
    """With one instance cache for all, only the very first text is denoised as it should be."""
    ranks = start_ranks(transformer, mode)
    outcomes = compare(
        REQUESTS, partial(alone, transformer, mode), partial(unisolated, ranks, mode)
    )
    equal = [outcome for outcome in outcomes if outcome.is_equal]
    its_own = "request-1" if len(ranks) == len(mode.weights) else None
    assert {its_own} - {None} == {outcome.request.request_id for outcome in equal}


@every_mode
def test_each_text_is_encoded_once(transformer: Transformer, mode: Mode) -> None:
    """A branch is encoded at its first step and reread at every later one."""
    ranks = start_ranks(transformer, mode)
    encoded: list[object] = []
    for rank in ranks:
        rank.transformer.embed.register_forward_hook(lambda *call: encoded.append(call))
    for request in REQUESTS:
        assert request.steps == len([*lent(ranks, mode, request)])
    assert len(REQUESTS) * len(mode.weights) == len(encoded)


@settings(max_examples=20, deadline=None)
@given(turns=st.permutations([request for request in REQUESTS for _ in range(request.steps)]))
@every_mode
def test_the_order_of_steps_does_not_matter(
    transformer: Transformer, mode: Mode, turns: Sequence[Request]
) -> None:
    """However the steps of the requests are ordered, each request ends with the same latents."""
    ranks = start_ranks(transformer, mode)
    running = {request: lent(ranks, mode, request) for request in REQUESTS}
    latents = {request: next(running[request]) for request in turns}
    for request in REQUESTS:
        *_, expected = alone(transformer, mode, request)
        assert torch.equal(expected, latents[request])
        running[request].close()
    assert_at_rest(ranks)


@every_mode
def test_an_abandoned_generation_leaves_nothing(transformer: Transformer, mode: Mode) -> None:
    """A request whose client goes away half way takes its session along, on every rank."""
    ranks = start_ranks(transformer, mode)
    steps = lent(ranks, mode, REQUESTS[0])
    next(steps)
    assert [1] * len(ranks) == [len(rank.manager) for rank in ranks]
    steps.close()
    assert_at_rest(ranks)


def assert_at_rest(ranks: Sequence[Rank]) -> None:
    """No rank holds a session, and no transformer a cache."""
    for rank in ranks:
        assert 0 == len(rank.manager)
        assert (None, None) == (rank.transformer.cached_kv, rank.transformer.cached_freqs_gen)
