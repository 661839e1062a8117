"""Two things measured in turn, as medians, so that what slows the machine slows both."""

import gc
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import thread_time
from timeit import Timer
from typing import Any

import attrs

Measurement = Callable[[], float]
"""Measures once, and returns seconds (or bytes)."""


@attrs.frozen
class Medians:
    """Of each side, and of the ratios of the rounds: a slow round is slow for both."""

    ours: float
    beside: float
    ratio: float


def alternate(ours: Measurement, beside: Measurement, rounds: int) -> Medians:
    """Measure both in each round, now one first and now the other, after one that warms up."""
    pairs = [_both(ours, beside, ours_first=bool(round % 2)) for round in range(rounds + 1)][1:]
    return Medians(
        statistics.median(mine for mine, _ in pairs),
        statistics.median(theirs for _, theirs in pairs),
        statistics.median(mine / theirs for mine, theirs in pairs),
    )


def _both(ours: Measurement, beside: Measurement, *, ours_first: bool) -> tuple[float, float]:
    if ours_first:
        return ours(), beside()
    theirs = beside()
    return ours(), theirs


def statement(code: str, number: int, **names: Any) -> Measurement:
    """Measures one run of `code`, from runs that are long beside the loop around them."""
    copies = 10
    timer = Timer("\n".join([code] * copies), timer=thread_time, globals=names)
    return lambda: timer.timeit(number) / (number * copies)


def elapsed(action: Callable[[], object], clock: Callable[[], float] = thread_time) -> float:
    """Seconds that `action` takes by `clock`: of the thread alone, unless it has helpers."""
    start = clock()
    action()
    return clock() - start


@contextmanager
def no_collections() -> Iterator[None]:
    """Leave no garbage from before to those who are measured, and collect none meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
