"""What one field of a session holds at this moment, as claims on extents. Takes no lock."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch

from .accounting import SeenStorages, claims
from .base import StateObject
from .coverage import Coverage
from .extents import Owner, Unowned
from .kinds import LEAF_IDS
from .reading import Claim
from .reports import reported_beyond

if TYPE_CHECKING:
    from .account import FieldBooks
    from .session import SessionState

Key: TypeAlias = tuple[str, int, int, int]
"""Device, address and bytes of a claim, and the id of its owner."""

Sheet: TypeAlias = dict[Key, Owner | Unowned]
"""Claims and what each lives with; the owner is the one in the books where nothing changed."""

Fingerprint: TypeAlias = dict[int, int]
"""Bytes by storage, of values that are tensors or lists of them."""

_storage = torch.Tensor.untyped_storage
_nbytes = torch.UntypedStorage.nbytes


class Finding(NamedTuple):
    """What a survey found in one field; a bare one can never hold anything but by assignment."""

    name: str
    is_bare: bool
    committed: Sheet
    staged: Sheet
    unaccounted: tuple[str, ...]
    fingerprint: Fingerprint


class Surveyor:
    """Walks fields. `died` is called with each owner that it made a reference to, once that dies."""

    def __init__(self, died: Callable[[Any], None]) -> None:
        self._died = died

    def survey(self, session: "SessionState", name: str, books: "FieldBooks") -> Finding:
        """Walk one field, of which `books` are the last. Never raises."""
        obj = session._objects.get(name)
        carried = session._carried.get(name)
        committed: list[Claim] = []
        staged: list[Claim] = []
        unseen: tuple[str, ...] = ()
        is_bare = id(type(carried)) in LEAF_IDS
        if not is_bare:
            committed, unseen = claims(carried)
        if obj is not None:
            held, staged, hidden = _held(obj)
            committed = [*committed, *held]
            unseen = (*unseen, *hidden)
        return Finding(
            name,
            is_bare and obj is None,
            self._sheet(committed, books.committed),
            self._sheet(staged, books.staged),
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

    def _sheet(self, found: list[Claim], before: Sheet) -> Sheet:
        sheet: Sheet = {}
        for device, address, nbytes, owner in found:
            key = device, address, nbytes, id(owner)
            known = before.get(key)
            if known is None or (type(known) is Owner and known() is not owner):
                known = self._reference(owner)
            sheet[key] = known
        return sheet

    def _reference(self, owner: object) -> Owner | Unowned:
        try:
            reference = Owner(owner, self._died)
        except TypeError:
            # bytes and bytearray take no weak references.
            return Unowned()
        reference.extent = None
        return reference


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
    beyond = reported_beyond(obj, seen)
    coverage = Coverage.of(seen)
    # Nobody else has bytes at a negative address, and this object has its own.
    invented = [Claim(device, -id(obj) << 64, nbytes, None) for device, nbytes in beyond.items()]
    return [*coverage.claims, *invented], [], tuple(coverage.unaccounted)


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
