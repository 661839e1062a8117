"""How much is measured."""

import attrs


@attrs.frozen
class Sizes:
    """Counts of sessions, and how often and how long things are measured."""

    rounds: int
    untouched: tuple[int, ...]
    beside_reference: int
    touched: tuple[int, ...]
    published: int
    waiting_seconds: float
    calls: int
    ring_side: int
    empty: int
    opened_and_closed: int


FULL = Sizes(
    rounds=9,
    untouched=(1, 64, 256, 10_000),
    beside_reference=256,
    touched=(1, 8, 64),
    published=16,
    waiting_seconds=1.5,
    calls=2_000,
    ring_side=44,
    empty=1_000,
    opened_and_closed=100_000,
)

QUICK = Sizes(
    rounds=1,
    untouched=(1, 2),
    beside_reference=1,
    touched=(1,),
    published=1,
    waiting_seconds=0.02,
    calls=2,
    ring_side=2,
    empty=2,
    opened_and_closed=20,
)
