"""What reclaim lets go of, and in which order, against every order that there is."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import attrs
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from session_state import SessionStateManager
from session_state.fields import Attr, ObjectField
from session_state.objects import EncodeOnce
from session_state.view import SessionView
from torch import Tensor

SESSIONS = ("first", "second")


@attrs.frozen
class Node:
    """A field of a drawn graph: what it is rebuilt from, and whether it can be."""

    sources: tuple[int, ...]
    cost: int
    floats: int
    may: tuple[str, ...]
    has_callable: bool
    is_present: tuple[bool, bool]

    @property
    def price(self) -> Fraction:
        return Fraction(self.cost, 4 * self.floats)


@st.composite
def graphs(draw: st.DrawFn) -> list[Node]:
    """Up to four fields, each rebuilt from some of those before it."""
    nodes: list[Node] = []
    for at in range(draw(st.integers(1, 4))):
        sources = draw(st.sets(st.integers(0, at - 1))) if at else set()
        may = draw(st.sampled_from([("release", "rebuild"), ("release", "rebuild"), ("rebuild",)]))
        node = Node(
            tuple(sorted(sources)),
            draw(st.integers(0, 9)),
            draw(st.integers(1, 5)),
            may,
            draw(st.integers(0, 4)) > 0,
            (draw(st.booleans()), draw(st.booleans())),
        )
        nodes.append(node)
    return nodes


def open_sessions(nodes: Sequence[Node]) -> tuple[SessionStateManager, list[Any]]:
    """Two sessions of a class with these fields, each holding what it is said to."""
    fields = {
        f"f{at}": ObjectField(
            EncodeOnce[Tensor],
            manager_may=node.may,
            recompute_from=("others", *(f"f{source}" for source in node.sources)),
            recompute_cost=node.cost,
        )
        for at, node in enumerate(nodes)
    }
    cls: Any = type(SessionView)("Drawn", (SessionView,), fields, schema="Drawn 0123456789ab")
    manager = SessionStateManager()
    for at, node in enumerate(nodes):
        if node.has_callable:
            made = torch.full((node.floats,), float(at))
            manager.register_rebuild(cls, f"f{at}", lambda view, made=made: made.clone())
    views = [cls(name, manager) for name in SESSIONS]
    for which, view in enumerate(views):
        for at, node in enumerate(nodes):
            if node.is_present[which]:
                view.object(f"f{at}").append(torch.full((node.floats,), float(at)))
    return manager, views


Place = tuple[int, int]
"""Which session, and which of its fields."""


def can_be_rebuilt(nodes: Sequence[Node], here: set[Place], which: int, at: int) -> bool:
    return nodes[at].has_callable and all(
        (which, source) in here or can_be_rebuilt(nodes, here, which, source)
        for source in nodes[at].sources
    )


def may_go(nodes: Sequence[Node], here: set[Place]) -> Iterator[Place]:
    """What holds something, is releasable and rebuildable, and no source of what is there."""
    for which, at in here:
        needed = any((which, on) in here and at in node.sources for on, node in enumerate(nodes))
        permitted = "release" in nodes[at].may
        if permitted and not needed and can_be_rebuilt(nodes, here, which, at):
            yield which, at


def orders(nodes: Sequence[Node], here: set[Place], goal: int) -> Iterator[list[Place]]:
    """Every order in which fields may go until `goal` bytes are free, or no more can."""
    places = [*may_go(nodes, here)] if goal > 0 else []
    if not places:
        yield []
    for place in places:
        for rest in orders(nodes, here - {place}, goal - 4 * nodes[place[1]].floats):
            yield [place, *rest]


def apart(cost: int, floats: int) -> Node:
    return Node((), cost, floats, ("release", "rebuild"), True, (True, True))


@settings(deadline=None)
@example(nodes=[apart(2, 1), apart(3, 3)], goal=60)
@given(nodes=graphs(), goal=st.integers(0, 60))
def test_of_all_orders_the_cheapest_at_every_step_is_taken(nodes: list[Node], goal: int) -> None:
    """By cost per byte, then the session longest unused, then the field declared first."""
    manager, _ = open_sessions(nodes)
    here = {
        (which, at) for at, node in enumerate(nodes) for which in (0, 1) if node.is_present[which]
    }
    rows = manager.reclaim("cpu", goal)
    expected = min(
        orders(nodes, here, goal),
        key=lambda order: [(nodes[at].price, which, at) for which, at in order],
    )
    assert [(SESSIONS[which], f"f{at}") for which, at in expected] == [
        (row.session_id, row.field) for row in rows
    ]
    for (_, at), row in zip(expected, rows, strict=True):
        nbytes = {"cpu": 4 * nodes[at].floats}
        assert (nbytes, nbytes, nodes[at].cost) == (row.held, row.freed, row.cost)


@settings(deadline=None)
@given(nodes=graphs(), goal=st.integers(0, 60))
def test_all_that_was_taken_can_be_rebuilt_as_it_was(nodes: list[Node], goal: int) -> None:
    """In whatever order that is asked for."""
    manager, views = open_sessions(nodes)
    before = manager.nbytes_by_device()
    rows = manager.reclaim("cpu", goal)
    for row in rows:
        manager.rebuild(row.session_id, row.field)
        view = views[SESSIONS.index(row.session_id)]
        at = int(row.field[1:])
        assert torch.equal(
            torch.full((nodes[at].floats,), float(at)), view.object(row.field).view()
        )
    assert sum(before.values()) <= sum(manager.nbytes_by_device().values())


class Two(SessionView, schema="Two 0123456789ab"):
    """One field that can be rebuilt, and its source, which cannot."""

    text = Attr[Tensor | None](default=None)
    kv = ObjectField(
        EncodeOnce[Tensor],
        manager_may=("release", "rebuild"),
        recompute_from=("text",),
        recompute_cost=3,
    )


def opened(manager: SessionStateManager, name: str) -> Two:
    view = Two(name, manager)
    view.text = torch.ones(4)
    view.kv.append(torch.ones(8))
    return view


@pytest.fixture
def manager() -> SessionStateManager:
    manager = SessionStateManager()
    manager.register_rebuild(Two, "kv", lambda view: view.text.repeat(2))
    return manager


def test_the_session_longest_unused_goes_first(manager: SessionStateManager) -> None:
    """Where what is held is alike, and no further than was asked for."""
    for name in ("a", "b", "c"):
        opened(manager, name)
    manager.get_or_create_session("a")
    rows = manager.reclaim("cpu", 33)
    assert [("b", "kv"), ("c", "kv")] == [(row.session_id, row.field) for row in rows]
    assert 3 * 16 + 32 == manager.nbytes_by_device()["cpu"]


def test_what_could_not_be_rebuilt_stays(manager: SessionStateManager) -> None:
    """Its source is absent and is no field that the manager may rebuild."""
    view = opened(manager, "a")
    view.text = None
    assert [] == manager.reclaim("cpu", 1)
    assert view.kv.view() is not None


def test_an_alias_frees_nothing_and_the_row_says_so(manager: SessionStateManager) -> None:
    """So that the next field goes too."""
    view, other = opened(manager, "a"), opened(manager, "b")
    alias = view.kv.view()
    first, second = manager.reclaim("cpu", 32)
    assert ({"cpu": 32}, {"cpu": 0}) == (first.held, first.freed)
    assert ({"cpu": 32}, {"cpu": 32}) == (second.held, second.freed)
    assert 32 == alias.nbytes
    assert other.kv.view() is None


@pytest.mark.parametrize("goal", [-1, 1.5, None])
def test_a_goal_is_a_number_of_bytes(manager: SessionStateManager, goal: Any) -> None:
    """Of zero or more, and nothing is freed for zero, or on another device."""
    opened(manager, "a")
    with pytest.raises((ValueError, TypeError)):
        manager.reclaim("cpu", goal)
    assert [] == manager.reclaim("cpu", 0)
    assert [] == manager.reclaim("cuda:0", 1)
