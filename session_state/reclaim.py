"""Freeing memory: which fields of which sessions to let go of, in which order."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from operator import index
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from .accounting import SeenStorages, merge_bytes
from .acting import Acting, released, sources_of, view_of
from .errors import SessionStateError
from .parts import Part, parts_of

if TYPE_CHECKING:
    from .session import SessionState

Node = TypeVar("Node", bound=Hashable)


@attrs.frozen
class Reclaimed:
    """One field, or one branch of a family, that was let go of; bytes are per device.

    `held` is what it held before and `freed` what that freed: less where something else holds it
    too. `cost` is that of rebuilding it, in the unit of its schema.
    """

    session_id: str
    field: str
    held: Mapping[str, int]
    freed: Mapping[str, int]
    cost: int


class CheapestFirst(Generic[Node]):
    """What can go next: the cheapest of those behind nothing that is still there.

    `prices` are of what may go, the first of equal ones goes first; `behind` has for each node what
    must go before it. What has no price never goes, nor does what is behind it.
    """

    def __init__(self, prices: Mapping[Node, Any], behind: Mapping[Node, Iterable[Node]]) -> None:
        self._ranks = {node: (price, at) for at, (node, price) in enumerate(prices.items())}
        self._sorter = TopologicalSorter({node: behind.get(node, ()) for node in prices})
        self._sorter.prepare()
        self._ready: list[tuple[tuple[Any, int], Node]] = []

    def __iter__(self) -> Iterator[Node]:
        while True:
            for node in self._sorter.get_ready():
                if node in self._ranks:
                    heappush(self._ready, (self._ranks[node], node))
            if not self._ready:
                return
            yield heappop(self._ready)[1]

    def gone(self, node: Node) -> None:
        """`node` was let go of, so that what was behind it may be next."""
        self._sorter.done(node)


def reclaim(
    acting: Acting, sessions: "Iterable[SessionState]", device: str, nbytes: int
) -> list[Reclaimed]:
    """Let go of what is cheapest to rebuild per byte until `nbytes` more are free on `device`.

    Of equal ones, that of the session that comes first in `sessions` goes first. Nothing goes that
    the manager may not release or could not rebuild, nor before all that is rebuilt from it is
    gone. Sessions that are in use or failed are left alone. Raises ValueError for fewer than 0.
    """
    if index(nbytes) < 0:
        raise ValueError(f"reclaim() frees at least 0 bytes, got {nbytes}")
    prices: dict[Part, Fraction] = {}
    behind: dict[Part, list[Part]] = {}
    for session in sessions:
        for part in _resident(session):
            for source in sources_of(part):
                behind.setdefault(source, []).append(part)
            held = _held(part).get(device, 0)
            if held and _may_go(acting, part):
                prices[part] = Fraction(part.field.recompute_cost, held)
    order = CheapestFirst(prices, behind)
    rows: list[Reclaimed] = []
    free = 0
    for part in order:
        if free >= nbytes:
            break
        row = _let_go(acting, part)
        if row is not None:
            order.gone(part)
            rows.append(row)
            free += row.freed.get(device, 0)
    return rows


def _resident(session: "SessionState") -> list[Part]:
    """The parts that hold something of a session that a generated class opened."""
    try:
        return [part for part in parts_of(view_of(session)) if not part.is_absent]
    except SessionStateError:
        return []


def _held(part: Part) -> dict[str, int]:
    held: dict[str, int] = {}
    seen: SeenStorages = set()
    for obj in part.objects():
        merge_bytes(held, obj.nbytes_by_device(seen))
    return held


def _may_go(acting: Acting, part: Part) -> bool:
    if "release" not in part.field.manager_may or part.is_staged:
        return False
    try:
        acting.plan([part])
    except SessionStateError:
        return False
    return True


def _let_go(acting: Acting, part: Part) -> Reclaimed | None:
    """Let go of a part, unless its session is in use by now or the part would be lost."""
    session = part.view._session
    try:
        with acting.hold(session.status.session_id) as held:
            if held is not session or part.is_absent or not _may_go(acting, part):
                return None
            before = _held(part)
            return Reclaimed(
                session.status.session_id,
                part.path,
                before,
                released([part]),
                part.field.recompute_cost,
            )
    except SessionStateError:
        return None
