"""Which addresses were counted already: the part of a `seen` set that identity cannot express."""

import sys
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, MutableSet
from itertools import chain, repeat
from operator import add, le
from typing import Any

from .reading import Claim, Findings


class _Probe:
    """Equal to the coverage in a set, and by being compared finds out which object that is."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: Coverage | None = None

    def __hash__(self) -> int:
        return hash(_Probe)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coverage):
            return False
        self.found = other
        return True


class Coverage:
    """The union of the address ranges counted so far, per device.

    It lives in the caller's `seen` set beside the storages and keeps every owner alive, so that no
    address in it can be reused. Two storages on one allocation (`from_numpy` twice, dlpack, a
    copy-on-write clone, a NumPy view beside a tensor) are one range here.
    """

    __slots__ = ("_bounds", "_counted", "unaccounted")

    def __init__(self) -> None:
        # Starts at even places and ends at odd ones, ascending, of ranges that do not overlap.
        self._bounds: dict[str, list[int]] = {}
        # Each walk, and for each of its allocations how many bytes were not covered before.
        self._counted: list[tuple[Findings, dict[str, list[int]]]] = []
        self.unaccounted: list[str] = []

    def __hash__(self) -> int:
        return hash(_Probe)

    def __eq__(self, other: object) -> bool:
        return other.__eq__(self) if isinstance(other, _Probe) else self is other

    @classmethod
    def of(cls, seen: MutableSet[Any]) -> "Coverage":
        """The coverage that `seen` carries; a new one is put there when it has none."""
        probe = _Probe()
        if probe in seen and probe.found is not None:
            return probe.found
        coverage = cls()
        seen.add(coverage)
        return coverage

    @property
    def claims(self) -> list[Claim]:
        """Every allocation counted so far."""
        return [claim for found, _ in self._counted for claim in found.claims]

    @property
    def nbytes(self) -> dict[str, int]:
        """Bytes covered so far, per device."""
        return {device: sum(ends[1::2]) - sum(ends[::2]) for device, ends in self._bounds.items()}

    def add(self, found: Findings) -> dict[str, int]:
        """Count what a walk found, and return per device how many bytes were not covered."""
        self.unaccounted += found.unaccounted
        fresh = {
            device: self._cover_all(device, column.addresses, column.sizes)
            for device, column in found.columns.items()
        }
        self._counted.append((found, fresh))
        return {device: total for device, sizes in fresh.items() if (total := sum(sizes))}

    def _cover_all(self, device: str, starts: list[int], sizes: list[int]) -> list[int]:
        bounds = self._bounds.setdefault(device, [])
        ends = [*map(add, starts, sizes)]
        if len(starts) == 1:
            return [self._cover(bounds, starts[0], ends[0])]
        # Ranges lie apart exactly if, each sorted by itself, no start comes before the last end.
        flat = [*chain.from_iterable(zip(sorted(starts), sorted(ends), strict=True))]
        if not all(map(le, flat, flat[1:])):
            return [*map(self._cover, repeat(bounds), starts, ends)]
        partly: dict[int, int] = {}
        done = 0
        while done < len(flat):
            # Values made one after another lie one after another: many go into one gap together.
            gap, fit = bisect_left(bounds, flat[done]), done
            if gap % 2 == 0:
                fit = bisect_right(flat, bounds[gap], done) if gap < len(bounds) else len(flat)
                fit -= fit % 2
            if fit > done:
                bounds[gap:gap] = flat[done:fit]
                done = fit
            else:
                partly[flat[done]] = self._cover(bounds, flat[done], flat[done + 1])
                done += 2
        return [*map(partly.get, starts, sizes)] if partly else sizes

    @staticmethod
    def _cover(bounds: list[int], start: int, end: int) -> int:
        first = bisect_left(bounds, start)
        last = bisect_right(bounds, end, first)
        if first == last:
            # No range begins or ends here: it lies inside one, or touches none.
            if first % 2 == 1:
                return 0
            bounds[first:first] = (start, end)
            return end - start
        starts_inside, ends_inside = first % 2 == 1, last % 2 == 1
        covered = [start] * starts_inside + bounds[first:last] + [end] * ends_inside
        bounds[first:last] = [start] * (not starts_inside) + [end] * (not ends_inside)
        return (end - start) - (sum(covered[1::2]) - sum(covered[::2]))

    @property
    def mark(self) -> tuple[int, int]:
        """Where `rollback` goes back to."""
        return len(self._counted), len(self.unaccounted)

    def rollback(self, mark: tuple[int, int], seen: MutableSet[Any]) -> None:
        """Forget what was counted and named since `mark`, and take its storages out of `seen`."""
        counted, unaccounted = mark
        del self.unaccounted[unaccounted:]
        kept, undone = self._counted[:counted], self._counted[counted:]
        if not undone:
            return
        for found, _ in undone:
            seen -= found.storages
        for found, _ in kept:
            seen |= found.storages
        self._bounds, self._counted = {}, kept
        for found, _ in kept:
            for device, column in found.columns.items():
                self._cover_all(device, column.addresses, column.sizes)

    def watch(self) -> list[tuple[Callable[[], bool], int]]:
        """For each claim: a question that turns true once its owner is gone, and its bytes."""
        return [
            (_death_of(owner), nbytes)
            for found, fresh in self._counted
            for device, column in found.columns.items()
            for owner, nbytes in zip(column.owners, fresh[device], strict=True)
        ]


def _death_of(owner: object) -> Callable[[], bool]:
    try:
        reference = weakref.ref(owner)
    except TypeError:
        # bytes and bytearray take no weak references; two counts are this list and the argument.
        held = [owner]
        return lambda: sys.getrefcount(held[0]) <= 2
    return lambda: reference() is None
