"""What a value holds, in bytes per device, each allocation once.

The walk follows what the garbage collector would follow (`gc.get_referents`): one call in C sees the
items of a container, the attributes and the slots of an object together, without running any code
of its class, and no other thread can change the container in between.
"""

from collections import deque
from collections.abc import Mapping, MutableSet
from typing import Any, TypeAlias

import attrs
import torch

from .coverage import Coverage
from .kinds import LEAF_IDS, reader_of, type_name

SeenStorages: TypeAlias = set[Any]
"""The plain set that callers pass on: storages, never addresses."""


@attrs.frozen
class Walk:
    """What a walk found: bytes per device, and the types of what could not be seen."""

    nbytes: Mapping[str, int]
    unaccounted: tuple[str, ...]


_NOTHING = Walk({}, ())


def walk(value: object, seen: MutableSet[Any]) -> Walk:
    """Count the bytes that `value` keeps alive and that `seen` does not know yet.

    Tensors count as their whole storage, arrays as the allocation behind them, bytes-likes as their
    buffer; meta and fake tensors hold 0. What cannot be seen is named by type in `unaccounted`, in
    the order it was met. `seen` takes up the storages, kept alive while it lives; share one set
    among all values whose common storages count once. Never raises.
    """
    if id(type(value)) in LEAF_IDS:
        return _NOTHING
    walker = _Walker(seen)
    with torch._C.DisableTorchFunction():
        walker.follow(value)
    return walker.result()


def device_bytes(value: object, seen: MutableSet[Any]) -> dict[str, int]:
    """`walk(value, seen).nbytes` as a new dict, by the name that the reference system uses."""
    return dict(walk(value, seen).nbytes)


def merge_bytes(into: dict[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Add the bytes of `other` to `into`, device by device, and return `into`."""
    for device, nbytes in other.items():
        into[device] = into.get(device, 0) + nbytes
    return into


class _Walker:
    """One walk: the sink that readers report to."""

    def __init__(self, seen: MutableSet[Any]) -> None:
        self.seen = seen
        self.coverage = Coverage.of(seen)
        self.totals: dict[str, int] = {}
        self.unseen: dict[str, None] = {}

    def claim(self, device: str, address: int, nbytes: int, owner: object) -> None:
        fresh = self.coverage.claim(device, address, nbytes, owner)
        if fresh:
            self.totals[device] = self.totals.get(device, 0) + fresh

    def name(self, cls: type) -> None:
        self.unseen[type_name(cls)] = None

    def follow(self, value: object) -> None:
        """Visit everything reachable from `value`, each object once."""
        # Values, not ids alone: an id can be taken again once its object is gone.
        entered: dict[int, object] = {}
        # In order: values made one after another tend to lie one after another.
        pending = deque([value])
        while pending:
            value = pending.popleft()
            if id(value) in entered:
                continue
            entered[id(value)] = value
            try:
                held = reader_of(type(value))(value, self)
                pending += [item for item in held if id(type(item)) not in LEAF_IDS]
            except Exception:
                self.name(type(value))

    def result(self) -> Walk:
        self.coverage.unaccounted += self.unseen
        return Walk(self.totals, tuple(self.unseen))
