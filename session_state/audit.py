"""A second opinion on the ledger: everything is walked again, and nothing of its sums is used."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import attrs

from .accounting import SeenStorages, walk
from .coverage import Coverage
from .reports import reported_beyond

if TYPE_CHECKING:
    from .account import Account
    from .ledger import Ledger
    from .session import SessionState


@attrs.frozen(order=True)
class Drift:
    """Where the books and the truth part: what was published, and what is held by now.

    `field` is a field of the session. When all fields agree and a sum over them does not, it is
    the name of that sum in parentheses: (held), (exclusive) or (staged) of a session, or (nbytes),
    (detached) or (staged) of the manager, whose `session_id` is empty.
    """

    session_id: str
    field: str
    device: str
    published: int
    held: int

    @property
    def nbytes(self) -> int:
        """Bytes that the books miss; negative where they have too many."""
        return self.held - self.published


class Stretch(NamedTuple):
    """Bytes at an address, whose they are, and whether they are only staged."""

    account: "Account"
    is_staged: bool
    device: str
    start: int
    end: int


class Truth:
    """What the sessions hold, as stretches of addresses and as bytes that have none."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.reported: list[tuple[Account, str, int]] = []
        # Whatever was walked stays alive with it, so that no address is met twice.
        self._alive: list[SeenStorages] = []

    def add(self, account: "Account", session: "SessionState", name: str) -> dict[str, int]:
        """Walk one field, and return its bytes per device."""
        seen: SeenStorages = set()
        self._alive.append(seen)
        coverage = Coverage.of(seen)
        obj = session._objects.get(name)
        contents = None if obj is None else obj._contents()
        beyond: Counter[str] = Counter()
        if name in session._carried:
            walk(session._carried[name], seen)
        if contents is not None:
            walk(contents[0], seen)
        elif obj is not None:
            beyond = reported_beyond(obj, seen)
        committed = len(coverage.claims)
        if contents is not None:
            walk(contents[1], seen)
        for at, (device, start, nbytes, _) in enumerate(coverage.claims):
            self.stretches.append(Stretch(account, at >= committed, device, start, start + nbytes))
        self.reported += [(account, device, nbytes) for device, nbytes in beyond.items()]
        beyond.update(coverage.nbytes)
        return +beyond


def audit(ledger: "Ledger", table: Iterable["SessionState"]) -> list[Drift]:
    """Walk every session, of the table or not, and return where the ledger differs.

    What was touched is published before, so that only what the ledger could not know, or got
    wrong, is left: a change through an alias since the last touch. A leased session is in the
    books as last published, so that it drifts by what its holder did since.
    """
    ledger.publish_touched()
    truth = Truth()
    drifts: list[Drift] = []
    sessions = ledger.sessions()
    for account, session in sessions:
        for name in sorted(session.field_names() | account.fields.keys()):
            held = truth.add(account, session, name)
            drifts += _differences(account.session_id, name, _published(account, name), held)
    in_table = {session.account for session in table}
    return sorted(drifts or _sums(ledger, [account for account, _ in sessions], truth, in_table))


def _published(account: "Account", name: str) -> dict[str, int]:
    """Bytes of one field in the books, by the union of its extents."""
    books = account.fields.get(name)
    if books is None:
        return {}
    reach: dict[str, int] = {}
    total: Counter[str] = Counter()
    extents = {one for one in books.extents() if one.region is not None}
    for extent in sorted(extents, key=lambda one: (one.device, one.start)):
        end = extent.start + extent.nbytes
        covered = max(extent.start, reach.get(extent.device, extent.start))
        total[extent.device] += max(0, end - covered)
        reach[extent.device] = max(end, covered)
    return dict(total)


def _differences(
    session_id: str, name: str, published: Mapping[str, int], held: Mapping[str, int]
) -> Iterator[Drift]:
    for device in sorted({*published, *held}):
        drift = Drift(session_id, name, device, published.get(device, 0), held.get(device, 0))
        if drift.nbytes:
            yield drift


def _sums(
    ledger: "Ledger",
    accounts: Iterable["Account"],
    truth: Truth,
    table: Collection["Account | None"],
) -> Iterator[Drift]:
    """The sums over fields and sessions that differ, each counted by one sweep over addresses."""
    counts: dict[tuple[Account | None, str], Counter[str]] = {}

    def count(account: "Account | None", what: str, device: str, nbytes: int) -> None:
        counts.setdefault((account, what), Counter())[device] += nbytes

    for device, nbytes, committed, staged in _pieces(truth):
        everyone = committed | staged
        for account in everyone:
            count(account, "(held)", device, nbytes)
        for account in staged - committed:
            count(account, "(staged)", device, nbytes)
        if len(everyone) == 1:
            count(next(iter(everyone)), "(exclusive)", device, nbytes)
        in_table = {account for account in everyone if account in table}
        count(None, "(nbytes)" if in_table else "(detached)", device, nbytes)
        if in_table and not in_table & committed:
            count(None, "(staged)", device, nbytes)
    for account in accounts:
        published = {"held": account.held, "exclusive": account.exclusive, "staged": account.staged}
        for what, sums in published.items():
            held = counts.get((account, f"({what})"), Counter())
            yield from _differences(account.session_id, f"({what})", sums, held)
    totals = ledger.totals()
    for what in ("nbytes", "detached", "staged"):
        known = {
            key.partition(":")[2]: n for key, n in totals.items() if key.startswith(f"{what}:")
        }
        yield from _differences("", f"({what})", known, counts.get((None, f"({what})"), {}))


def _pieces(truth: Truth) -> Iterator[tuple[str, int, set["Account"], set["Account"]]]:
    """Device, bytes, who has them committed and who has them staged, of each piece of memory."""
    for account, device, nbytes in truth.reported:
        yield device, nbytes, {account}, set()
    borders = [
        (one.device, at, is_start, one)
        for one in truth.stretches
        for at, is_start in ((one.start, True), (one.end, False))
    ]
    borders.sort(key=lambda border: border[:2])
    active: Counter[Stretch] = Counter()
    before: tuple[str, int] = ("", 0)
    for device, at, is_start, stretch in borders:
        if active and device == before[0] and at > before[1]:
            yield (
                device,
                at - before[1],
                {one.account for one in active if not one.is_staged},
                {one.account for one in active if one.is_staged},
            )
        active[stretch] += 1 if is_start else -1
        if not active[stretch]:
            del active[stretch]
        before = device, at
