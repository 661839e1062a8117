"""What sessions cost that hold nothing, in Python's memory and in the process's."""

import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from .rollouts import Ours, Reference
from .rows import Row
from .sizes import Sizes

KIB = 1024
PAGE = os.sysconf("SC_PAGESIZE")


def rows(sizes: Sizes) -> Iterator[Row]:
    """Bytes of an empty session, and growth over many that came and went."""
    ours, reference = Ours().manager, Reference().manager
    mine = _each(ours.get_or_create_session, sizes.empty)
    theirs = _each(reference.get_or_create_session, sizes.empty)
    yield Row(
        "Python memory of an empty session",
        f"{mine:.0f} bytes",
        f"{theirs:.0f} bytes",
        mine / theirs,
        mine,
        "2 KiB",
        2 * KIB,
    )
    yield _view_row(sizes)
    yield _resident_row(sizes)


def _view_row(sizes: Sizes) -> Row:
    ours, reference = Ours(), Reference()
    mine, theirs = _each(ours.view, sizes.empty), _each(reference.view, sizes.empty)
    return Row(
        "the same once a DreamZero view made its objects",
        f"{mine:.0f} bytes",
        f"{theirs:.0f} bytes",
        mine / theirs,
    )


def _each(make: Callable[[str], object], count: int) -> float:
    """Bytes for each of `count` sessions that are made."""
    make("warm")
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for index in range(count):
            make(f"robot-{index}")
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / count
    finally:
        tracemalloc.stop()


def _resident_row(sizes: Sizes) -> Row:
    ours = Ours()

    def open_and_close(count: int) -> None:
        for index in range(count):
            with ours.manager.session(type(view), f"robot-{index}") as one:
                one.call_count += 1
            ours.manager.close(f"robot-{index}")

    view = ours.view("warm")
    open_and_close(sizes.opened_and_closed // 10)
    before = _resident()
    open_and_close(sizes.opened_and_closed)
    growth = _resident() - before
    return Row(
        f"resident memory over {sizes.opened_and_closed:,} sessions opened and closed",
        f"{growth / KIB:+,.0f} KiB",
        measured=growth,
        target="flat: less than 1 MiB more",
        at_most=KIB * KIB,
    )


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE
