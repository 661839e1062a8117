"""How long a lookup waits while another thread is busy with the same manager."""

import statistics
import threading
from collections.abc import Callable, Sequence
from time import perf_counter, sleep

import attrs

PACE = 0.001
"""Seconds from one lookup to the time at which the next is due."""


@attrs.frozen
class Waits:
    """Quantiles of what lookups waited, in seconds."""

    p50: float
    p999: float
    worst: float

    @classmethod
    def of(cls, waits: Sequence[float]) -> "Waits":
        ordered = sorted(waits)
        return cls(statistics.median(ordered), ordered[int(len(ordered) * 0.999)], ordered[-1])


def waits(lookup: Callable[[], object], busy: Callable[[], object], seconds: float) -> list[float]:
    """What each lookup waited from when it was due, while a thread calls `busy` in a loop.

    From when it was due and not from its first instruction, so that a thread which did not even get
    to ask counts as one that waited.
    """
    is_over = False

    def go_on() -> None:
        while not is_over:
            busy()

    thread = threading.Thread(target=go_on)
    found: list[float] = []
    thread.start()
    try:
        end = perf_counter() + seconds
        while (due := perf_counter() + PACE) < end:
            sleep(PACE)
            lookup()
            found.append(perf_counter() - due)
    finally:
        is_over = True
        thread.join()
    return found
