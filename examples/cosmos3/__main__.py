"""Denoise interleaved requests over one transformer, which borrows its cache from their sessions."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial

import attrs
import torch

from generated.cosmos3 import Cosmos3Session

from ..report import Bytes, bytes_by_field, bytes_table, show_line
from .caches import Rank, alone, lent, start_ranks, unisolated
from .compare import Outcome, compare
from .generate import LATENT_DIM, MEDIA_TOKENS, MODES, TEXT_TOKENS, Mode, Request
from .transformer import HEAD_DIM, KV_HEADS, Transformer

LAYERS = 4
REQUESTS = (
    Request("request-1", steps=10, seed=1),
    Request("request-2", steps=8, seed=2),
    Request("request-3", steps=12, seed=3),
)


def denoise_all(
    transformer: Transformer, mode: Mode, *, is_isolated: bool
) -> tuple[list[Outcome], list[Bytes]]:
    """Every step of every request, and what the last of them held before it ended."""
    ranks = start_ranks(transformer, mode)
    actual = partial(lent if is_isolated else unisolated, ranks, mode)
    outcomes: list[Outcome] = []
    held: list[Bytes] = []
    for outcome in compare(REQUESTS, partial(alone, transformer, mode), actual):
        show_line(f"  {verdict(mode, [*outcomes, outcome])}", is_milestone=False)
        outcomes.append(outcome)
        if is_isolated:
            held = [*bytes_held(mode, ranks, outcome.request)]
    show_line(f"  {verdict(mode, outcomes)}", is_milestone=True)
    return outcomes, held


def verdict(mode: Mode, outcomes: Sequence[Outcome]) -> str:
    """A mode's branches, by rank; how many steps were equal, and the first that was not."""
    branches = " | ".join(", ".join(names) for names in mode.placement())
    equal = sum(outcome.is_equal for outcome in outcomes)
    line = f"{mode.name:12} {branches:39} {equal:2} of {len(outcomes):2} steps equal"
    different = next((outcome for outcome in outcomes if not outcome.is_equal), None)
    if different is None:
        return line
    return f"{line}; {different.request.request_id} differs at step {different.step}"


def bytes_held(mode: Mode, ranks: Sequence[Rank], request: Request) -> Iterator[Bytes]:
    """What the session of a request holds on each rank, and the most that its schema declares."""
    for number, (rank, branches) in enumerate(zip(ranks, mode.placement(), strict=True)):
        declared = Cosmos3Session.declared_nbytes(
            accelerator="cpu",
            dtype="float32",
            branches=branches,
            num_layers=LAYERS,
            S=TEXT_TOKENS,
            kv_heads=KV_HEADS,
            head_dim=HEAD_DIM,
            media_tokens=MEDIA_TOKENS,
        )
        session = rank.manager.get_or_create_session(request.request_id)
        place = f"{mode.name} rank {number}" if len(ranks) > 1 else mode.name
        for row in bytes_by_field(session, declared.by_field):
            yield attrs.evolve(row, field=f"{place}: {row.field}")


def main() -> int:
    """Run the comparison; 0 when it came out as it should, else 1."""
    parser = argparse.ArgumentParser(prog="examples.cosmos3", description=__doc__)
    parser.add_argument(
        "--break",
        dest="is_isolated",
        action="store_false",
        help="lend nothing: each transformer keeps one instance cache for all",
    )
    is_isolated = parser.parse_args().is_isolated

    # Layers this small cost more to share between threads than to compute.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    transformer = Transformer(layers=LAYERS, latent_dim=LATENT_DIM)
    print(f"Denoising {len(REQUESTS)} requests in turn over one transformer of {LAYERS} layers,")
    print("and each again over transformers of its own, one for each branch.\n")
    outcomes, held = [], []
    for mode in MODES:
        steps, rows = denoise_all(transformer, mode, is_isolated=is_isolated)
        outcomes += steps
        held += rows
    if is_isolated:
        print("\nBytes that a generation holds, and the most that its schema declares:\n")
        print(*bytes_table(held), sep="\n")
    print("\nWhy each value lies where it lies: generated/DECISIONS.md")
    return int(all(outcome.is_equal for outcome in outcomes) != is_isolated)


if __name__ == "__main__":
    sys.exit(main())
