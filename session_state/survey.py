"""What one field of a session holds at this moment, as claims on extents. Takes no lock."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch

from .accounting import SeenStorages, claims
from .base import StateObject
from .coverage import Coverage
from .extents import Extent, Owner
from .kinds import LEAF_IDS
from .reading import Claim
from .reports import reported

if TYPE_CHECKING:
    from .account import FieldBooks
    from .session import SessionState

Fresh: TypeAlias = tuple[str, int, int, Owner | None]
"""Device, address and bytes of what the books do not know, and what it lives with, if that dies."""

Fingerprint: TypeAlias = dict[int, int]
"""Bytes by storage, of values that are tensors or lists of them."""

_storage = torch.Tensor.untyped_storage
_nbytes = torch.UntypedStorage.nbytes


class Finding(NamedTuple):
    """What a survey found in one field; a bare one can never hold anything but by assignment."""

    name: str
    is_bare: bool
    committed: list[Extent | Fresh]
    staged: list[Extent | Fresh]
    unaccounted: tuple[str, ...]
    fingerprint: Fingerprint


class Surveyor:
    """Walks fields; what the books know already is handed on as the extent that it is."""

    def __init__(self, known: Mapping[int, Owner], died: Callable[[Any], None]) -> None:
        self._known = known
        self._died = died
        # Bytes that an object reports and nobody can see have an address of their own.
        self._invented = 0

    def survey(self, session: "SessionState", name: str) -> Finding:
        """Walk one field. Never raises."""
        obj = session._objects.get(name)
        carried = session._carried.get(name)
        committed: list[Claim] = []
        staged: list[Claim] = []
        unseen: tuple[str, ...] = ()
        is_bare = id(type(carried)) in LEAF_IDS
        if not is_bare:
            committed, unseen = claims(carried)
        if obj is not None:
            held, waiting, hidden = _held(obj)
            committed = [*committed, *held]
            staged += waiting
            unseen = (*unseen, *hidden)
        return Finding(
            name,
            is_bare and obj is None,
            [self._noted(claim) for claim in committed],
            [self._noted(claim) for claim in staged],
            unseen,
            {id(claim.owner): claim.nbytes for claim in (*committed, *staged)},
        )

    def is_unchanged(self, session: "SessionState", name: str, books: "FieldBooks") -> bool:
        """Whether a field that nobody touched has the storages that the books say, of their sizes.

        Looks only at tensors, arrays and plain lists of them, and says no for everything else.
        """
        values: list[Any] = []
        obj = session._objects.get(name)
        if obj is not None:
            held = obj._contents()
            if held is None:
                return False
            values += held
        values.append(session._carried.get(name))
        return not books.unaccounted and _fingerprint(values) == books.fingerprint

    def _noted(self, claim: Claim) -> Extent | Fresh:
        device, address, nbytes, owner = claim
        if owner is None:
            self._invented -= nbytes + 1
            return device, self._invented, nbytes, None
        known = self._known.get(id(owner))
        if known is not None and known() is owner:
            extent = known.extent
            if extent is not None and (extent.start, extent.nbytes) == (address, nbytes):
                return extent
        try:
            reference = Owner(owner, self._died)
        except TypeError:
            # bytes and bytearray take no weak references.
            return device, address, nbytes, None
        reference.key, reference.extent = id(owner), None
        return device, address, nbytes, reference


def _held(obj: StateObject[Any, Any]) -> tuple[list[Claim], list[Claim], tuple[str, ...]]:
    """The claims of an object: of what is committed and of what is staged."""
    contents = obj._contents()
    if contents is None:
        return _reported(obj)
    committed, staged = contents
    held, waiting = claims(committed), claims(staged)
    return held.claims, waiting.claims, (*held.unaccounted, *waiting.unaccounted)


def _reported(obj: StateObject[Any, Any]) -> tuple[list[Claim], list[Claim], tuple[str, ...]]:
    """The claims of an object that counts in its own way, and what it reports beyond them."""
    seen: SeenStorages = set()
    beyond = Counter(reported(obj, seen))
    coverage = Coverage.of(seen)
    found_claims = [Claim(device, at, n, owner) for device, at, n, _, owner in coverage.claims]
    for device, _, _, fresh, _ in coverage.claims:
        beyond[device] -= fresh
    found_claims += [Claim(device, 0, n, None) for device, n in beyond.items() if n > 0]
    return found_claims, [], tuple(coverage.unaccounted)


def _fingerprint(values: Iterable[Any]) -> Fingerprint | None:
    """The storages behind plain values and their bytes; None where a look is not enough."""
    items: list[Any] = []
    for value in values:
        if type(value) in (list, tuple, deque):
            items += value
        else:
            items.append(value)
    by_type: dict[type, list[Any]] = {torch.Tensor: [], np.ndarray: [], type(None): []}
    try:
        for item in items:
            by_type[type(item)].append(item)
        storages = list(map(_storage, by_type[torch.Tensor]))
    except (KeyError, RuntimeError):
        return None
    arrays = by_type[np.ndarray]
    if any(array.base is not None for array in arrays):
        return None
    found = dict(zip(map(id, storages), map(_nbytes, storages), strict=True))
    return found | {id(array): array.nbytes for array in arrays}
