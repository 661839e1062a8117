"""Ranges of addresses that sessions hold, and what each of them adds to the books.

Storages of torch never overlap, but NumPy, dlpack and copy-on-write put several owners on one
allocation. Extents that overlap form a region, and a region is counted by the pieces into which
its extents cut it, each with whoever holds it.
"""

import weakref
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, TypeAlias

from .addresses import Addresses


class Place(IntEnum):
    """Where bytes are: held by a session of the table, by one that left it, or by none."""

    TABLE = 0
    DETACHED = 1
    LINGERING = 2


class Owner(weakref.ref[Any]):
    """A weak reference to what an extent lives with, such as a storage; its death is an event."""

    __slots__ = ("extent",)

    extent: "Extent | None"

    # By identity: an array has no hash, and a dead reference none either.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Unowned:
    """Stands for an owner whose death nobody can see: bytes, or what an object merely reports."""

    __slots__ = ("extent",)

    def __init__(self) -> None:
        self.extent: Extent | None = None


class Books:
    """What one session holds as last published: the totals that follow from its extents."""

    __slots__ = ("place", "held", "exclusive", "staged")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.clear()

    def clear(self) -> None:
        """Start to count anew."""
        self.held: Counter[str] = Counter()
        self.exclusive: Counter[str] = Counter()
        self.staged: Counter[str] = Counter()


class Claimant:
    """One side of a session's books: what is committed in it, or what is only staged."""

    __slots__ = ("books", "is_staged")

    def __init__(self, books: Books, is_staged: bool) -> None:
        self.books = books
        self.is_staged = is_staged


class Totals:
    """Bytes per device over all sessions, each address once."""

    __slots__ = ("at", "staged")

    def __init__(self) -> None:
        # By position, since an enumeration hashes in Python.
        self.at: list[Counter[str]] = [Counter() for _ in Place]
        self.staged: Counter[str] = Counter()


class Extent:
    """`nbytes` bytes at `start`, who claims them how often, and the field they lingered from.

    One that overlaps no other is its own region.
    """

    __slots__ = ("device", "start", "nbytes", "end", "owners", "claims", "origin", "region")

    def __init__(self, device: str, start: int, nbytes: int) -> None:
        self.device = device
        self.start = start
        self.nbytes = nbytes
        self.end = start + nbytes
        self.owners: list[Owner] = []
        self.claims: dict[Claimant, int] = {}
        self.origin: object = None
        self.region: Extent | Region | None = None

    @property
    def extents(self) -> "list[Extent]":
        """The extents of the region."""
        return [self]

    def pieces(self) -> "Iterator[Piece]":
        """The one piece that it is."""
        yield self.nbytes, self.claims, self.origin


Piece: TypeAlias = tuple[int, dict[Claimant, int], object]
"""Bytes, the claims on them, and the field that they lingered from."""


class Region:
    """Extents that overlap, directly or through others: one contiguous range."""

    __slots__ = ("device", "start", "end", "extents")

    def __init__(self, extents: list[Extent]) -> None:
        self.extents = extents
        self.device = extents[0].device
        self.start = min(extent.start for extent in extents)
        self.end = max(extent.end for extent in extents)

    def pieces(self) -> Iterator[Piece]:
        """The pieces into which the borders of the extents cut the range."""
        cuts = sorted({cut for one in self.extents for cut in (one.start, one.end)})
        for start, end in zip(cuts, cuts[1:], strict=False):
            covering = [one for one in self.extents if one.start <= start and end <= one.end]
            claims = {claimant: 1 for one in covering for claimant in one.claims}
            yield end - start, claims, next((one.origin for one in covering if one.origin), None)


class Extents:
    """All extents of a manager, by device and address, and the totals that follow from them.

    Every change takes the regions it touches out of the totals and puts them back changed, so that
    the totals never depend on the order of events.
    """

    def __init__(self) -> None:
        self.totals = Totals()
        self._addresses: dict[str, Addresses] = {}
        self._left: dict[Extent, None] = {}
        self._regions: dict[tuple[str, int], Extent | Region] = {}

    def at(self, device: str, start: int, nbytes: int) -> Extent:
        """The extent of exactly these bytes; a new one, claimed by nobody, when there is none."""
        region = self._regions.get((device, start))
        if region is not None:
            for extent in region.extents:
                if extent.start == start and extent.nbytes == nbytes:
                    return extent
        return self._insert(Extent(device, start, nbytes))

    def claim(self, extent: Extent, claimant: Claimant) -> None:
        """Add one claim."""
        claims, region = extent.claims, extent.region
        if claimant in claims or region is None:
            claims[claimant] += 1
            return
        if region is extent and not claims and extent.origin is None:
            # As nearly every one when it is new.
            claims[claimant] = 1
            self._tally_sole(extent.device, extent.nbytes, claimant)
            return
        self._tally(region, -1)
        claims[claimant] = 1
        self._tally(region, 1)

    def unclaim(self, extent: Extent, claimant: Claimant, origin: object = None) -> bool:
        """Take one claim back; `origin` keeps an extent that nobody claims any more.

        Returns whether the extent is still listed.
        """
        claims, region = extent.claims, extent.region
        if region is None:
            return False
        if claims[claimant] > 1 and origin is None:
            claims[claimant] -= 1
            return True
        self._tally(region, -1)
        claims[claimant] -= 1
        if not claims[claimant]:
            del claims[claimant]
        if origin is not None:
            extent.origin = origin
            self._left[extent] = None
        if claims or extent.origin is not None:
            self._tally(region, 1)
            return True
        self._remove(extent, region)
        return False

    def kill(self, extent: Extent) -> None:
        """Take an extent out, whoever claims it: its memory is gone. One of other books is left alone."""
        region = extent.region
        if region is not None and self._regions.get((region.device, region.start)) is region:
            self._tally(region, -1)
            self._remove(extent, region)

    def move(self, books: Books, extents: set[Extent], place: Place) -> None:
        """Let the books of a session count at another place."""
        regions = {extent.region for extent in extents if extent.region is not None}
        for region in regions:
            self._tally(region, -1)
        books.place = place
        for region in regions:
            self._tally(region, 1)

    def lingering(self) -> list[Extent]:
        """The extents that no session holds any more and that are still there."""
        return [extent for extent in list(self._left) if not extent.claims]

    def keep(self, left: "Extents") -> None:
        """Take over what sessions that ended left alive, from books that may be wrong."""
        for one in list(left._left):
            if any(owner() is not None for owner in one.owners):
                extent = self.at(one.device, one.start, one.nbytes)
                region = extent.region
                assert region is not None, "an extent that is listed has one"
                self._tally(region, -1)
                extent.owners, extent.origin = one.owners, one.origin
                self._tally(region, 1)
                for owner in extent.owners:
                    owner.extent = extent
                self._left[extent] = None

    def _insert(self, extent: Extent) -> Extent:
        device, start, end = extent.device, extent.start, extent.end
        addresses, regions = self._addresses.get(device), self._regions
        if addresses is None:
            addresses = self._addresses[device] = Addresses()
        if (device, start) not in regions:
            below, above = addresses.add(start)
            if (above is None or end <= above) and (
                below is None or regions[device, below].end <= start
            ):
                # Nearly every extent overlaps no other, and nobody claims a new one yet.
                extent.region = regions[device, start] = extent
                return extent
            addresses.remove(start)
        below = addresses.below(end)
        joined = [extent]
        while below is not None and self._regions[device, below].end > start:
            region = self._regions.pop((device, below))
            addresses.remove(below)
            self._tally(region, -1)
            joined += region.extents
            below = addresses.below(below)
        self._list(joined)
        return extent

    def _list(self, extents: list[Extent]) -> None:
        """Enter extents that overlap as one region."""
        region = extents[0] if len(extents) == 1 else Region(extents)
        for extent in extents:
            extent.region = region
        self._regions[region.device, region.start] = region
        self._addresses[region.device].add(region.start)
        self._tally(region, 1)

    def _remove(self, extent: Extent, region: Extent | Region) -> None:
        """Take an extent out of a region that is not in the totals, and list what is left of it."""
        extent.region = None
        self._left.pop(extent, None)
        del self._regions[region.device, region.start]
        self._addresses[region.device].remove(region.start)
        if region is not extent:
            rest = sorted((one for one in region.extents if one is not extent), key=_start)
            for group in _clusters(rest):
                self._list(group)

    def _tally(self, region: Extent | Region, sign: int) -> None:
        device = region.device
        if type(region) is Extent and len(region.claims) == 1:
            # As nearly every one is.
            (claimant,) = region.claims
            self._tally_sole(device, sign * region.nbytes, claimant)
            return
        for nbytes, claims, origin in region.pieces():
            change = sign * nbytes
            if len(claims) == 1:
                (claimant,) = claims
                self._tally_sole(device, change, claimant)
            elif claims or origin is not None:
                self._tally_shared(device, change, claims)

    def _tally_sole(self, device: str, change: int, claimant: Claimant) -> None:
        totals, books = self.totals, claimant.books
        totals.at[books.place][device] += change
        books.held[device] += change
        books.exclusive[device] += change
        if claimant.is_staged:
            books.staged[device] += change
            if books.place is Place.TABLE:
                totals.staged[device] += change

    def _tally_shared(self, device: str, change: int, claims: dict[Claimant, int]) -> None:
        committed = {claimant.books for claimant in claims if not claimant.is_staged}
        staged = {claimant.books for claimant in claims if claimant.is_staged} - committed
        everyone = committed | staged
        for books in everyone:
            books.held[device] += change
        for books in staged:
            books.staged[device] += change
        if len(everyone) == 1:
            next(iter(everyone)).exclusive[device] += change
        place = min((books.place for books in everyone), default=Place.LINGERING)
        self.totals.at[place][device] += change
        in_table = {books for books in everyone if books.place is Place.TABLE}
        if in_table and in_table <= staged:
            self.totals.staged[device] += change


def _start(extent: Extent) -> int:
    return extent.start


def _clusters(extents: list[Extent]) -> Iterator[list[Extent]]:
    """Extents in ascending order, grouped by what overlaps."""
    group: list[Extent] = []
    reach = 0
    for extent in extents:
        if group and extent.start >= reach:
            yield group
            group = []
        group.append(extent)
        reach = max(reach, extent.end) if len(group) > 1 else extent.end
    if group:
        yield group
