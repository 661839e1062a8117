"""`stats()`: with nothing touched, with sessions touched, and what a lookup waits for it."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from .medians import Measurement, alternate, elapsed, no_collections, statement
from .rollouts import News, Ours, Reference, Side, filled, step
from .rows import Row, seconds, timed
from .sizes import Sizes
from .waits import Waits, waits


def rows(sizes: Sizes) -> Iterator[Row]:
    """Every row about `stats()`."""
    yield from _untouched(sizes)
    ours, reference = Ours(), Reference()
    ids = list(filled(ours, 64 if sizes.rounds > 1 else 1))
    list(filled(reference, len(ids)))
    with no_collections():
        yield from _touched(sizes, ours, reference, ids)
    yield from _lookups(sizes, ours, reference, ids)


def _untouched(sizes: Sizes) -> Iterator[Row]:
    smallest = _stats_alone(sizes, sizes.untouched[0])
    for count in sizes.untouched:
        mine = _stats_alone(sizes, count)
        what = f"stats(), nothing touched, {count:,} session{'s' if count > 1 else ''}"
        if count <= sizes.beside_reference:
            yield _beside_reference(what, count, mine, sizes)
        else:
            with no_collections():
                both = alternate(mine, smallest, sizes.rounds)
            flatness = f"1.2 of that at {sizes.untouched[0]}: {both.ratio:.2f}"
            yield Row(what, seconds(both.ours), measured=both.ratio, target=flatness, at_most=1.2)


def _stats_alone(sizes: Sizes, count: int) -> Measurement:
    """Measures `stats()` of a manager with so many sessions, which nobody touches any more."""
    ours = Ours()
    list(filled(ours, count))
    ours.manager.stats()
    return statement("stats()", sizes.calls, stats=ours.manager.stats)


def _beside_reference(what: str, count: int, mine: Measurement, sizes: Sizes) -> Row:
    reference = Reference()
    list(filled(reference, count))
    with no_collections():
        both = alternate(mine, lambda: elapsed(reference.manager.stats), sizes.rounds)
    return timed(what, both, both.ratio * count, 5e-6)


def _touched(sizes: Sizes, ours: Ours, reference: Reference, ids: list[str]) -> Iterator[Row]:
    for count in sizes.touched:

        def measure(side: Side, count: int = count) -> float:
            for session_id in ids[:count]:
                step(side, side.view(session_id), News())
            return elapsed(side.manager.stats)

        both = alternate(lambda: measure(ours), lambda: measure(reference), sizes.rounds)
        what = f"stats(), {count} of {len(ids)} sessions stepped since the last"
        yield timed(what, both, both.ratio * len(ids) / count, 2e-4, count)


def _lookups(sizes: Sizes, ours: Ours, reference: Reference, ids: list[str]) -> Iterator[Row]:
    totals = ours.manager.stats()

    def wait(manager: Any, busy: Any) -> list[float]:
        return waits(lambda: manager.get_or_create_session(ids[0]), busy, sizes.waiting_seconds)

    rounds = [
        (
            wait(ours.manager, ours.manager.stats),
            wait(ours.manager, lambda: dict(totals)),
            wait(reference.manager, reference.manager.stats),
        )
        for _ in range(sizes.rounds)
    ]
    mine, control, theirs = (Waits.of([*chain(*side)]) for side in zip(*rounds, strict=True))
    for name, quantile in (("p50", "p50"), ("p99.9", "p999"), ("worst", "worst")):
        waited, free, beside = (getattr(one, quantile) for one in (mine, control, theirs))
        yield Row(
            f"a lookup's wait while a thread loops over stats(), {name}",
            seconds(waited),
            seconds(beside),
            waited / beside,
            waited / free,
            f"1.2 of {seconds(free)}, beside a thread that copies a dict: {waited / free:.2f}",
            1.2,
        )
