"""Running totals: what all sessions hold, without walking the ones that nobody touched.

A survey walks what was touched of one session, in the thread that ends its lease or asks for
`stats()`, and becomes an event. Events are applied by whoever gets the turn, which nobody waits for:
a destructor, a signal handler or another thread that finds it taken leaves its event to the one who
has it, and reads the totals as they were.

An interrupt may come at any moment. Then marks are put back, an event stays first in line until it
was applied in full, and what may be half applied is counted anew from the books of the fields.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs

from .account import Account, FieldBooks, SessionReference
from .extents import Claimant, Extent, Extents, Owner, Place, Unowned
from .local import renew_after_forks
from .session import OUT_OF_TABLE
from .status import EVERYTHING
from .survey import Finding, Sheet, Surveyor
from .tensors import is_page_locked

if TYPE_CHECKING:
    import weakref

    from .session import SessionState


@attrs.frozen
class Origin:
    """Where lingering bytes came from: the field of a session that ended, and when."""

    session_id: str
    field: str
    since: float


@attrs.frozen(eq=False)
class Published:
    """What a survey found."""

    account: Account
    sequence: int
    findings: list[Finding]


@attrs.frozen(eq=False)
class Moved:
    """A session left the table, and may go on in the hands of a view."""

    account: Account
    place: Place


@attrs.frozen(eq=False)
class Ended:
    """A session was closed and let go of everything."""

    account: Account


class Ledger:
    """The books of one manager.

    `admit` comes before a session is in the table, `publish` when a lease on it ends and before it
    is released, `detach` when it leaves the table without being closed, `end` once it is closed.
    None of them waits for anybody.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.accounts: set[Account] = set()
        self.extents = Extents()
        self.clock = clock
        self._touched: dict[weakref.ref[SessionState], None] = {}
        self._events: deque[Any] = deque()
        self._surveyor = Surveyor(self._events.append)
        self._turn: dict[None, object] = {}
        self._in_doubt = False
        self._sequence = count()
        self._blind: set[Account] = set()
        self._pinned: set[Extent] = set()
        self._is_stale = False
        self._peak: dict[str, int] = {}
        self._totals: dict[str, int] = {"total_nbytes": 0, "unaccounted": 0}
        self._table: dict[str, int] = {}
        renew_after_forks(self)

    def admit(self, session: "SessionState") -> None:
        """Open an account for a new session."""
        account = Account(session, self._events.append)
        session.account = account
        self.accounts.add(account)
        session.status.report_to(self._touched, account.session)

    def publish(self, session: "SessionState") -> None:
        """Survey what was touched of a session, and look over what was not. Costs nothing else."""
        account = session.account
        if account is None:
            return
        names: set[str] = set()
        try:
            self._touched.pop(account.session, None)
            session.status.take_touched(names)
            if names:
                self._survey(session, account, names)
        except BaseException:
            self._touched[account.session] = None
            for name in names:
                session.status.touch(name)
            raise

    def _survey(self, session: "SessionState", account: Account, names: set[str]) -> None:
        # What died until now must not be taken for what took its place.
        self._settle()
        sequence = next(self._sequence)
        if EVERYTHING in names:
            names = session.field_names() | account.fields.keys()
        fields, survey = account.fields, self._surveyor.survey
        findings = [
            survey(session, name, fields.get(name, _NO_BOOKS))
            for name in names
            if name in fields or not self._surveyor.is_bare(session, name)
        ]
        for name, books in list(fields.items()):
            if name not in names and not self._surveyor.is_unchanged(session, name, books):
                findings.append(survey(session, name, books))
        self._post(Published(account, sequence, findings))

    def detach(self, session: "SessionState") -> None:
        """Count a session as detached from now on."""
        self.publish(session)
        if session.account is not None:
            self._post(Moved(session.account, Place.DETACHED))

    def end(self, session: "SessionState") -> None:
        """Let what is still alive of a closed session linger under its fields."""
        if session.account is not None:
            self._touched.pop(session.account.session, None)
            self._post(Ended(session.account))

    def publish_touched(self) -> None:
        """Publish the sessions that were touched, but those that somebody has a lease on."""
        # Looked at first, since an emptied dict is as slow to list as it was large.
        for reference in list(self._touched) if self._touched else ():
            session = reference()
            # The holder of a lease is in the middle of a step: the end of the lease publishes.
            if session is not None and not session.is_leased:
                self.publish(session)
        self._settle()

    def sessions(self) -> list[tuple[Account, "SessionState"]]:
        """The sessions that are alive, in the table or not, and their accounts."""
        alive = ((account, account.session()) for account in list(self.accounts))
        return [(account, session) for account, session in alive if session is not None]

    def totals(self) -> dict[str, int]:
        """The totals as last published, by the keys of `stats()`."""
        self._settle(sums=True)
        return self._totals

    def table(self) -> dict[str, int]:
        """Bytes per device of the sessions in the table, as last published."""
        self._settle(sums=True)
        return self._table

    def lingering(self) -> list[tuple[Origin, Extent]]:
        """What outlives the sessions that held it, and the fields that it came from."""
        self._settle()
        return [(extent.origin, extent) for extent in self.extents.lingering()]  # type: ignore[misc]

    def after_fork(self) -> None:
        """Make it usable in a child, where whoever had the turn, or was at a survey, is gone."""
        self._turn.clear()
        for account, session in self.sessions():
            session.status.touch(EVERYTHING)
            if session.status.closed:
                self._events.append(Ended(account))
            elif session.claim.get(None) is OUT_OF_TABLE:
                self._events.append(Moved(account, Place.DETACHED))

    def _post(self, event: object) -> None:
        self._events.append(event)
        self._settle()

    def _settle(self, *, sums: bool = False) -> None:
        """Apply what has happened, and make the `sums` that are handed out, unless somebody is at it."""
        turn, mine = self._turn, object()
        try:
            # No lock: an interrupt after its `acquire` would leave it taken, and nobody could tell.
            while (self._events or self._in_doubt or (sums and self._is_stale)) and turn.setdefault(
                None, mine
            ) is mine:
                self._apply_all()
                if sums:
                    self._sum_up()
                    self._is_stale = False
                del turn[None]
        except BaseException:
            if turn.get(None) is mine:
                del turn[None]
            raise

    def _apply_all(self) -> None:
        if self._in_doubt:
            self._recount()
        events = self._events
        if events:
            self._is_stale = self._in_doubt = True
        while events:
            self._apply(events[0])
            events.popleft()
        self._note_peaks()
        self._in_doubt = False

    def _recount(self) -> None:
        """Make all sums anew from the books of the fields."""
        self._is_stale = True
        extents = Extents()
        extents.keep(self.extents)
        self.extents = extents
        for account in list(self.accounts):
            account.clear()
            for books in account.fields.values():
                self._claimed(books.committed, {}, account.committed)
                self._claimed(books.staged, {}, account.staging)

    def _apply(self, event: object) -> None:
        """Apply an event, also one that was applied before or by half."""
        match event:
            case Owner():
                self._bury(event)
            case Published():
                for finding in event.findings:
                    self._enter(event.account, event.sequence, finding)
            case Moved():
                self.extents.move(event.account, event.account.extents(), event.place)
            case Ended():
                self._end(event.account)
            case _:
                # The session's own weak reference: the last view let go of it.
                assert isinstance(event, SessionReference)
                self._touched.pop(event, None)
                if event.account is not None:
                    self._end(event.account)
                    self.accounts.discard(event.account)
                    event.account = None

    def _bury(self, owner: Owner) -> None:
        extent = owner.extent
        if extent is not None:
            owner.extent = None
            if len(extent.owners) > 1:
                extent.owners = [one for one in extent.owners if one is not owner]
            else:
                extent.owners.clear()
            if not extent.owners or all(one() is None for one in extent.owners):
                self.extents.kill(extent)

    def _enter(self, account: Account, sequence: int, finding: Finding) -> None:
        """Replace what the books have of one field, unless they have something newer."""
        old = account.fields.get(finding.name, _NO_BOOKS)
        if old.sequence > sequence:
            return
        if finding.committed is old.committed and not old.staged:
            # Nothing to change, but what an older survey found may no longer replace it.
            old.sequence = sequence
            return
        books = FieldBooks(sequence, finding)
        books.committed = self._claimed(finding.committed, old.committed, account.committed)
        books.staged = self._claimed(finding.staged, old.staged, account.staging)
        if finding.is_bare:
            account.fields.pop(finding.name, None)
        else:
            account.fields[finding.name] = books
        if finding.unaccounted:
            self._blind.add(account)

    def _claimed(self, found: Sheet, before: Sheet, claimant: Claimant) -> Sheet:
        if not found and not before:
            return found
        for owner in found.keys() - before.keys():
            device, start, nbytes, _ = found[owner]
            owner.extent = None
            if type(owner) is Owner and owner() is None:
                continue
            extent = owner.extent = self.extents.at(device, start, nbytes)
            if type(owner) is Owner:
                _own(extent, owner)
                if device == "cpu" and is_page_locked(owner()):
                    self._pinned.add(extent)
            self.extents.claim(extent, claimant)
        for owner in before.keys() - found.keys():
            self._unclaim(owner, claimant)
        return found

    def _unclaim(
        self, owner: Owner | Unowned, claimant: Claimant, origin: Origin | None = None
    ) -> None:
        extent = owner.extent
        if extent is None:
            return
        # What nobody can see die cannot be seen to outlive its session either.
        if not self.extents.unclaim(extent, claimant, origin if extent.owners else None):
            for one in (*extent.owners, owner):
                one.extent = None
            extent.owners.clear()

    def _end(self, account: Account) -> None:
        for name, books in account.fields.items():
            origin = Origin(account.session_id, name, self.clock())
            for owner in books.committed:
                self._unclaim(owner, account.committed, origin)
            for owner in books.staged:
                self._unclaim(owner, account.staging, origin)
        account.fields.clear()
        account.place = Place.DETACHED

    def _note_peaks(self) -> None:
        peak = self._peak
        for device, nbytes in self.extents.totals.at[Place.TABLE].items():
            if nbytes > peak.get(device, 0):
                peak[device] = nbytes

    def _sum_up(self) -> None:
        """Make the totals that are handed out."""
        at, staged = self.extents.totals.at, self.extents.totals.staged
        table = self._table = dict(_present(at[Place.TABLE]))
        self._blind = {account for account in self._blind if account.unaccounted}
        totals = {
            "total_nbytes": sum(table.values()),
            "unaccounted": sum(
                len(account.unaccounted) for account in self._blind if account.place is Place.TABLE
            ),
        }
        for kind, counted in (
            ("nbytes", table),
            ("staged", dict(_present(staged))),
            ("pinned", dict(_present({"cpu": self._page_locked()}))),
            ("detached", dict(_present(at[Place.DETACHED]))),
            ("lingering", dict(_present(at[Place.LINGERING]))),
            ("peak", self._peak),
        ):
            totals |= {f"{kind}:{device}": counted[device] for device in sorted(counted)}
        self._totals = totals

    def _page_locked(self) -> int:
        """Bytes of the table that are pinned on the host, and not pageable."""
        self._pinned = {extent for extent in self._pinned if extent.region is not None}
        return sum(
            extent.nbytes
            for extent in self._pinned
            if any(claimant.books.place is Place.TABLE for claimant in extent.claims)
        )


_NO_BOOKS = FieldBooks(-1, Finding("", True, {}, {}, (), None))


def _own(extent: Extent, owner: Owner) -> None:
    """Let an extent live with `owner`, once for each thing that is owned."""
    owned = owner()
    if not extent.owners or not any(one() is owned for one in extent.owners):
        extent.owners.append(owner)


def _present(counted: dict[str, int]) -> Iterator[tuple[str, int]]:
    return ((device, nbytes) for device, nbytes in counted.items() if nbytes)
