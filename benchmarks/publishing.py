"""What the end of a lease costs: the books are brought up to date with what the step touched."""

import statistics
from collections.abc import Callable, Iterator
from typing import Any

from .medians import alternate, elapsed, no_collections
from .rollouts import News, Ours, Reference, Rollout, filled, step, write_scalars
from .rows import Row, timed
from .sizes import Sizes


def rows(sizes: Sizes) -> Iterator[Row]:
    """The end of a lease after a whole step, and after one that only wrote scalars."""
    ours, reference = Ours(), Reference()
    ids = list(filled(ours, sizes.published))
    list(filled(reference, sizes.published))

    def walk_of_one() -> float:
        return elapsed(reference.manager.stats) / len(ids)

    def ends(act: Callable[[Any], object]) -> float:
        return statistics.median(_end(ours, session_id, act) for session_id in ids)

    def whole_step(view: Any) -> None:
        step(ours, view, News())

    for what, act, target in (
        ("a stepped session", whole_step, 2e-4),
        ("only scalars written", write_scalars, 5e-5),
    ):
        with no_collections():
            both = alternate(lambda: ends(act), walk_of_one, sizes.rounds)  # noqa: B023
        yield timed(
            f"end of a lease, {what}, beside a walk of one session", both, both.ratio, target
        )


def _end(ours: Ours, session_id: str, act: Callable[[Any], object]) -> float:
    lease = ours.manager.session(Rollout, session_id)
    act(lease.__enter__())
    return elapsed(lambda: lease.__exit__(None, None, None))
