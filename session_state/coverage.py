"""Which addresses were counted already: the part of a `seen` set that identity cannot express."""

import sys
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, MutableSet
from typing import Any, TypeAlias

import torch

from .reading import Claim


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


Covered: TypeAlias = tuple[str, int, int, int, object]
"""Device, address, bytes, how many of them were not covered before, and what they live with."""


class Coverage:
    """The union of the address ranges counted so far, per device.

    It lives in the caller's `seen` set beside the storages and keeps every owner alive, so that no
    address in it can be reused. Two storages on one allocation (`from_numpy` twice, dlpack, a
    copy-on-write clone, a NumPy view beside a tensor) are one range here.
    """

    __slots__ = ("_bounds", "claims", "unaccounted")

    def __init__(self) -> None:
        # Starts at even places and ends at odd ones, ascending, of ranges that do not touch.
        self._bounds: dict[str, list[int]] = {}
        self.claims: list[Covered] = []
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

    def claim_all(self, claims: Iterable[Claim]) -> dict[str, int]:
        """Cover what `claims` name, and return per device how many bytes were not covered."""
        totals: dict[str, int] = {}
        for device, address, nbytes, owner in claims:
            fresh = self.claim(device, address, nbytes, owner)
            if fresh:
                totals[device] = totals.get(device, 0) + fresh
        return totals

    def claim(self, device: str, address: int, nbytes: int, owner: object) -> int:
        """Cover `nbytes` bytes at `address` and return how many of them were not covered."""
        fresh = self._cover(device, address, address + nbytes)
        self.claims.append((device, address, nbytes, fresh, owner))
        return fresh

    def _cover(self, device: str, start: int, end: int) -> int:
        bounds = self._bounds.setdefault(device, [])
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

    def rollback(self, mark: int, seen: MutableSet[Any]) -> None:
        """Forget every claim from the `mark`-th on, and take its owner out of `seen`."""
        undone, self.claims = self.claims[mark:], self.claims[:mark]
        if not undone:
            return
        for *_, owner in undone:
            if isinstance(owner, torch.UntypedStorage):
                seen.discard(owner)
        self._bounds = {}
        for device, address, nbytes, _, _ in self.claims:
            self._cover(device, address, address + nbytes)

    def watch(self) -> list[tuple[Callable[[], bool], int]]:
        """For each claim: a question that turns true once its owner is gone, and its bytes."""
        return [(_death_of(owner), fresh) for *_, fresh, owner in self.claims]


def _death_of(owner: object) -> Callable[[], bool]:
    try:
        reference = weakref.ref(owner)
    except TypeError:
        # bytes and bytearray take no weak references; two counts are this list and the argument.
        held = [owner]
        return lambda: sys.getrefcount(held[0]) <= 2
    return lambda: reference() is None
