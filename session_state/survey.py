"""What one field of a session holds at this moment, as claims on extents. Takes no lock."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .accounting import SeenStorages, claims
from .base import StateObject
from .coverage import Coverage
from .extents import Owner, Unowned
from .kinds import LEAF_IDS
from .layouts import Layout, laid_out
from .reading import Claim
from .reports import reported_beyond

if TYPE_CHECKING:
    from .account import FieldBooks
    from .session import SessionState

Key: TypeAlias = tuple[str, int, int, int]
"""Device, address and bytes of a claim, and the id of its owner."""

Sheet: TypeAlias = dict[Owner | Unowned, Key]
"""What each claim lives with, and the claim; owners are those of the books where nothing changed."""


class Finding(NamedTuple):
    """What a survey found in one field; a bare one can never hold anything but by assignment.

    The sheets are the books' own where nothing changed. `layout` is there for a plain field.
    """

    name: str
    is_bare: bool
    committed: Sheet
    staged: Sheet
    unaccounted: tuple[str, ...]
    layout: Layout | None


class Surveyor:
    """Walks fields. `died` is called with each owner that it made a reference to, once that dies."""

    def __init__(self, died: Callable[[Any], None]) -> None:
        self._died = died

    @staticmethod
    def is_bare(session: "SessionState", name: str) -> bool:
        """Whether a field can never hold anything but by assignment: it has a number, or None."""
        carried = session._carried.get(name)
        return id(type(carried)) in LEAF_IDS and name not in session._objects

    def survey(self, session: "SessionState", name: str, books: "FieldBooks") -> Finding:
        """Walk one field, of which `books` are the last. Never raises."""
        obj = session._objects.get(name)
        carried = session._carried.get(name)
        is_bare = id(type(carried)) in LEAF_IDS
        if is_bare and obj is None:
            return Finding(name, True, {}, {}, (), None)
        layout = self._laid_out(obj, carried, books.layout)
        if layout is not None:
            is_same = layout is books.layout and not books.staged
            sheet = books.committed if is_same else layout.sheet()
            return Finding(name, False, sheet, {}, (), layout)
        committed: list[Claim] = []
        staged: list[Claim] = []
        unseen: tuple[str, ...] = ()
        if not is_bare:
            committed, unseen = claims(carried)
        if obj is not None:
            held, staged, hidden = _held(obj)
            committed = [*committed, *held]
            unseen = (*unseen, *hidden)
        return Finding(
            name,
            False,
            self._sheet(committed, books.committed),
            self._sheet(staged, books.staged),
            unseen,
            None,
        )

    def is_unchanged(self, session: "SessionState", name: str, books: "FieldBooks") -> bool:
        """Whether a field that nobody touched has the storages that the books say, of their sizes.

        Looks only at tensors, arrays and plain lists of them, and says no for everything else.
        """
        layout = books.layout
        if layout is None:
            return False
        value = _plain_value(session._objects.get(name), session._carried.get(name))
        return layout.is_of(value)

    def _laid_out(self, obj: Any, carried: object, before: Layout | None) -> Layout | None:
        value = _plain_value(obj, carried)
        return None if value is None else laid_out(value, before, self._reference)

    def _sheet(self, found: list[Claim], before: Sheet) -> Sheet:
        known = {key: owner for owner, key in before.items()}
        sheet: Sheet = {}
        for device, address, nbytes, owner in found:
            key = device, address, nbytes, id(owner)
            reference = known.get(key)
            if reference is None or (type(reference) is Owner and reference() is not owner):
                reference = self._reference(owner)
            sheet[reference] = key
        return sheet

    def _reference(self, owner: object) -> Owner | Unowned:
        try:
            reference = Owner(owner, self._died)
        except TypeError:
            # bytes and bytearray take no weak references.
            return Unowned()
        reference.extent = None
        return reference


def _plain_value(obj: StateObject[Any, Any] | None, carried: object) -> object:
    """The one value of a field with nothing staged, or None."""
    if obj is None:
        return carried
    contents = obj._contents()
    if contents is None or contents[1] is not None or carried is not None:
        return None
    return contents[0]


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
