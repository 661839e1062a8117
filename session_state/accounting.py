"""What a value holds, in bytes per device, each allocation once.

The walk follows what the garbage collector would follow (`gc.get_referents`): one call in C sees the
items of many containers, the attributes and the slots of many objects together, without running any
code of their classes, and no other thread can change a container in between.
"""

from collections.abc import Iterable, Mapping, MutableSet
from itertools import compress, repeat
from operator import is_, not_
from typing import Any, NamedTuple, TypeAlias

import attrs
import torch

from .coverage import Coverage
from .kinds import LEAF_IDS, reader_of
from .reading import Claim, Findings
from .tensors import claim_plain

__all__ = [
    "Claim",
    "Claims",
    "SeenStorages",
    "Walk",
    "claims",
    "device_bytes",
    "merge_bytes",
    "walk",
]

SeenStorages: TypeAlias = set[Any]
"""The plain set that callers pass on: storages, never addresses."""


class Claims(NamedTuple):
    """What a value keeps alive, and the types of what could not be seen."""

    claims: list[Claim]
    unaccounted: tuple[str, ...]


@attrs.frozen
class Walk:
    """What a walk found: bytes per device, and the types of what could not be seen."""

    nbytes: Mapping[str, int]
    unaccounted: tuple[str, ...]


_NOTHING = Walk({}, ())


def claims(value: object) -> Claims:
    """The allocations that `value` keeps alive, each storage and each other owner once.

    Two owners may lie on the same memory: `walk` counts their bytes once, this names both. What
    holds no bytes, such as a meta tensor, claims nothing. Never raises, and runs no code of the
    values' classes.
    """
    if id(type(value)) in LEAF_IDS:
        return Claims([], ())
    found = _follow(value)
    return Claims(found.claims, found.unaccounted)


def walk(value: object, seen: MutableSet[Any]) -> Walk:
    """Count the bytes that `value` keeps alive and that `seen` does not know yet.

    Tensors count as their whole storage, arrays as the allocation behind them, bytes-likes as their
    buffer; meta and fake tensors hold 0. What cannot be seen is named by type in `unaccounted`, in
    the order it was met. `seen` takes up the storages, kept alive while it lives; share one set
    among all values whose common storages count once. Never raises.
    """
    if id(type(value)) in LEAF_IDS:
        return _NOTHING
    found = _follow(value)
    seen |= found.storages
    return Walk(Coverage.of(seen).add(found), found.unaccounted)


def device_bytes(value: object, seen: MutableSet[Any]) -> dict[str, int]:
    """`walk(value, seen).nbytes` as a new dict, by the name that the reference system uses."""
    return dict(walk(value, seen).nbytes)


def merge_bytes(into: dict[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Add the bytes of `other` to `into`, device by device, and return `into`."""
    for device, nbytes in other.items():
        into[device] = into.get(device, 0) + nbytes
    return into


def _follow(value: object) -> Findings:
    """Visit everything reachable from `value`, each object once, one distance after the other."""
    found = Findings()
    # Values, not ids alone: an id can be taken again once its object is gone.
    entered: dict[int, object] = {}
    level: list[Any] = [value]
    with torch._C.DisableTorchFunction():
        while level:
            held: list[Any] = []
            for values in _by_type(level):
                if type(values[0]) is torch.Tensor and claim_plain(values, found):
                    continue
                fresh = dict(zip(map(id, values), values, strict=True))
                for known in fresh.keys() & entered.keys():
                    del fresh[known]
                if fresh:
                    entered |= fresh
                    held += reader_of(type(values[0]))([*fresh.values()], found)
            level = held
    return found


def _by_type(values: list[Any]) -> Iterable[list[Any]]:
    """`values` without those that can hold nothing, in one list for each type."""
    # In C, since there may be a million numbers; by id, since a metaclass may define a hash.
    if all(map(is_, map(type, values), repeat(type(values[0])))):
        return () if id(type(values[0])) in LEAF_IDS else (values,)
    types = {*map(id, map(type, values))}
    if types <= LEAF_IDS:
        return ()
    if types & LEAF_IDS:
        is_leaf = map(LEAF_IDS.__contains__, map(id, map(type, values)))
        values = [*compress(values, map(not_, is_leaf))]
    groups: dict[int, list[Any]] = {}
    for value in values:
        groups.setdefault(id(type(value)), []).append(value)
    return groups.values()
