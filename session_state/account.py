"""The books of one session, field by field."""

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .extents import Books, Claimant, Extent, Place

if TYPE_CHECKING:
    from .session import SessionState
    from .survey import Finding, Sheet


class SessionReference(weakref.ref["SessionState"]):
    """A weak reference to a session; its death is an event."""

    __slots__ = ("account",)

    account: "Account | None"

    # By identity, since a dead reference has no hash.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class FieldBooks:
    """What one field holds as last published, and of which survey that is."""

    __slots__ = ("sequence", "committed", "staged", "unaccounted", "layout")

    def __init__(self, sequence: int, finding: "Finding") -> None:
        self.sequence = sequence
        self.committed: Sheet = {}
        self.staged: Sheet = {}
        self.unaccounted = finding.unaccounted
        self.layout = finding.layout

    def extents(self) -> Iterator[Extent]:
        """The extents of the field that are still there, or were when last published."""
        for owner in (*self.committed, *self.staged):
            if owner.extent is not None:
                yield owner.extent

    def nbytes(self) -> dict[str, int]:
        """Bytes of the extents per device, those that overlap in full."""
        nbytes: dict[str, int] = {}
        for extent in {*self.extents()}:
            nbytes[extent.device] = nbytes.get(extent.device, 0) + extent.nbytes
        return nbytes


class Account(Books):
    """The books of one session; it does not keep the session alive."""

    __slots__ = ("session_id", "session", "fields", "committed", "staging")

    def __init__(self, session: "SessionState", died: Callable[[Any], None]) -> None:
        super().__init__(Place.TABLE)
        self.session_id = session.status.session_id
        self.session = SessionReference(session, died)
        self.session.account = self
        self.fields: dict[str, FieldBooks] = {}
        self.committed = Claimant(self, is_staged=False)
        self.staging = Claimant(self, is_staged=True)

    def extents(self) -> set[Extent]:
        """Everything that the session claims."""
        return {extent for books in self.fields.values() for extent in books.extents()}

    @property
    def unaccounted(self) -> dict[str, tuple[str, ...]]:
        """For each field that holds what could not be seen, the types of it."""
        return {
            name: books.unaccounted
            for name, books in list(self.fields.items())
            if books.unaccounted
        }
