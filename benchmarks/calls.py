"""What model code calls all the time: fields, lookups, leases and the frame ring."""

from collections.abc import Iterator
from time import process_time
from typing import Any

import torch

from .medians import Measurement, Medians, alternate, elapsed, no_collections, statement
from .rollouts import Ours, Reference, Rollout, Side, fill, small
from .rows import Row, seconds
from .sizes import Sizes

READS_PER_APPEND = 5


def rows(sizes: Sizes) -> Iterator[Row]:
    """Each beside the reference's own."""
    ours, reference = Ours(), Reference()
    fill(ours, "robot")
    fill(reference, "robot")
    for what, at_most, mine, theirs in _pairs(sizes, ours, reference):
        with no_collections():
            both = alternate(mine, theirs, sizes.rounds)
        yield _row(what, both, at_most)
    yield from _rings(sizes, ours, reference)


def _pairs(
    sizes: Sizes, ours: Ours, reference: Reference
) -> Iterator[tuple[str, float, Measurement, Measurement]]:
    calls = sizes.calls
    mine = {"view": ours.view("robot"), "manager": ours.manager, "cls": Rollout}
    theirs = {
        "view": reference.view("robot"),
        "manager": reference.manager,
        "cls": type(reference.view("robot")),
    }
    value = small()
    for what, at_most, code in (
        ("read a field", 0.75, "view.ys"),
        ("write a field", 1.25, "view.ys = value"),
        ("write a checked int", 1.25, "view.call_count = 7"),
        ("look up a session", 1.05, "manager.get_or_create_session('robot')"),
    ):
        sides = (statement(code, calls, value=value, **names) for names in (mine, theirs))
        yield what, at_most, *sides
    yield (
        "open and close a lease, beside an adapter's construction",
        2.0,
        statement("with manager.session(cls, 'robot'): pass", calls, **mine),
        statement("cls('robot', manager)", calls, **theirs),
    )


def _rings(sizes: Sizes, ours: Ours, reference: Reference) -> Iterator[Row]:
    """Chunks of the size that the Wan encoder gives at 352 x 640."""
    side = sizes.ring_side
    chunks = [torch.rand(1, 32, 1, side, side * 80 // 44) for _ in range(8)]
    views: dict[Side, Any] = {ours: ours.view("ring"), reference: reference.view("ring")}

    def stream(side: Side) -> None:
        view = views[side]
        append = getattr(view, "append_vae_encoder_out", None) or view.append_vae_encoder_chunk
        for chunk in chunks:
            append(chunk)
            for _ in range(READS_PER_APPEND):
                view.vae_encoder_out  # noqa: B018

    with no_collections():
        both = alternate(
            lambda: elapsed(lambda: stream(ours), process_time) / len(chunks),
            lambda: elapsed(lambda: stream(reference), process_time) / len(chunks),
            sizes.rounds,
        )
    yield _row(f"append to the frame ring and read it {READS_PER_APPEND} times", both, 0.5)
    held = sum(views[ours].object("vae_encoder_out").nbytes_by_device(set()).values())
    declared = views[ours].vae_encoder_window * chunks[0].nbytes
    yield Row(
        "bytes that the frame ring holds",
        f"{held:,}",
        measured=held / declared,
        target=f"no more than its {views[ours].vae_encoder_window} frames declare: {declared:,}",
        at_most=1.0,
    )


def _row(what: str, both: Medians, at_most: float) -> Row:
    ours, beside = seconds(both.ours), seconds(both.beside)
    return Row(what, ours, beside, both.ratio, both.ratio, f"ratio {at_most:g}", at_most)
