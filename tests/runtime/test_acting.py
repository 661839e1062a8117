"""Release and rebuild on a small graph of fields, each rebuilt from others."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from session_state import (
    FieldUnset,
    ManagerMayNot,
    NoRebuild,
    SessionBusy,
    SessionFailed,
    SessionStateManager,
)
from session_state.axes import Axis
from session_state.families import AttrFamily, ObjectFamily
from session_state.fields import Attr, ObjectField, ViewField
from session_state.objects import EncodeOnce, LatentBuffer
from session_state.view import SessionView
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

BRANCH = Axis("branch", lambda view: ("cond", "uncond"))
BOTH = ("release", "rebuild")


class Graph(SessionView, schema="Graph 0123456789ab"):
    """`language` is kept by the model; `embeds` follow from it, and `kv` from those by branch."""

    language = Attr[Tensor | None](default=None)
    embeds = ObjectField(
        EncodeOnce[Tensor],
        manager_may=BOTH,
        recompute_from=("language",),
        recompute_cost=8,
    )
    biases = AttrFamily[Tensor](per=(BRANCH,))
    kv = ObjectFamily(
        EncodeOnce[Tensor],
        per=(BRANCH,),
        manager_may=BOTH,
        recompute_from=("embeds", "biases", "elsewhere"),
        recompute_cost=2,
    )
    pinned = ObjectField(EncodeOnce[Tensor], manager_may=("rebuild",), recompute_from=("language",))
    masks = Attr[int](default=0, invalidated_by=("embeds", "kv"))
    latents = ViewField(
        LatentBuffer[Tensor],
        concat=0,
        manager_may=BOTH,
        recompute_from=("language",),
    )
    chunks = ObjectField(LatentBuffer[Tensor], manager_may=BOTH, recompute_from=("language",))


@pytest.fixture
def manager() -> SessionStateManager:
    return SessionStateManager()


@pytest.fixture
def calls(manager: SessionStateManager) -> list[str]:
    """What was rebuilt, in order; every value follows from its sources."""
    calls: list[str] = []

    def noted(name: str, function: Callable[..., Any]) -> None:
        def rebuild(view: Graph, *keys: str) -> Any:
            calls.append("/".join((name, *keys)))
            return function(view, *keys)

        manager.register_rebuild(Graph, name, rebuild)

    def language(view: Graph) -> Tensor:
        assert view.language is not None
        return view.language

    noted("embeds", lambda view: language(view) + 1)
    noted("kv", lambda view, key: view.embeds.view() * view.biases[key])
    noted("pinned", lambda view: language(view) - 1)
    noted("latents", lambda view: language(view).repeat(2))
    noted("chunks", lambda view: [language(view), language(view)])
    return calls


@pytest.fixture
def session(manager: SessionStateManager) -> Graph:
    session = Graph("robot-7", manager)
    session.language = torch.ones(4)
    for key, factor in (("cond", 2), ("uncond", 3)):
        session.biases[key] = torch.full((4,), float(factor))
    return session


def test_sources_that_are_absent_are_rebuilt_first(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Of a family every absent branch; what is there stays the object that it is."""
    manager.rebuild("robot-7", "kv/uncond")
    assert ["embeds", "kv/uncond"] == calls
    kept = session.kv["uncond"]
    manager.rebuild("robot-7", "kv")
    assert ["embeds", "kv/uncond", "kv/cond"] == calls
    assert kept is session.kv["uncond"]
    assert torch.equal(torch.full((4,), 4.0), session.kv["cond"])


def test_a_rebuild_of_what_is_there_calls_nothing(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Also when its own sources are away."""
    manager.rebuild("robot-7", "kv")
    manager.release("robot-7", "embeds")
    calls.clear()
    manager.rebuild("robot-7", "kv")
    assert [] == calls
    assert session.embeds.view() is None


@pytest.mark.parametrize(("name", "expected"), [("latents", [1.0] * 8), ("chunks", [1.0] * 8)])
def test_buffers_are_rebuilt_from_their_items(
    manager: SessionStateManager, session: Graph, calls: list[str], name: str, expected: list[float]
) -> None:
    """A field with a view by the value that is assigned, one without by the items themselves."""
    manager.rebuild("robot-7", name)
    assert expected == torch.cat(session.object(name).view()).tolist()
    manager.release("robot-7", name)
    assert 0 == len(session.object(name))


def test_what_ends_with_a_field_stays_while_it_is_away(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Its value comes back equal, so that nothing which followed from it is wrong."""
    manager.rebuild("robot-7", "kv")
    session.masks = 5
    for name in ("embeds", "kv"):
        manager.release("robot-7", name)
        manager.rebuild("robot-7", name)
    assert 5 == session.masks


def test_a_handle_of_a_released_object_stays_valid(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """It reads as empty, and as the value again once that was rebuilt."""
    manager.rebuild("robot-7", "kv")
    held = session.object("kv/cond")
    assert {"cpu": 16} == manager.release("robot-7", "kv/cond")
    assert held.view() is None
    manager.rebuild("robot-7", "kv/cond")
    assert held is session.object("kv/cond")
    assert [4.0] * 4 == held.view().tolist()


def test_a_source_that_nothing_brings_back_is_named(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Before anything was rebuilt."""
    session.language = None
    with pytest.raises(FieldUnset, match="'embeds': it is rebuilt from 'language', which holds n"):
        manager.rebuild("robot-7", "kv")
    del session.biases["cond"]
    session.language = torch.ones(4)
    with pytest.raises(FieldUnset, match="'kv/cond': it is rebuilt from 'biases/cond'"):
        manager.rebuild("robot-7", "kv")
    assert [] == calls


def test_a_callable_that_is_missing_is_named_before_anything_is_rebuilt(
    manager: SessionStateManager, session: Graph
) -> None:
    """The message spells the call that registers it."""
    manager.register_rebuild(Graph, "kv", lambda view, key: view.embeds.view())
    with pytest.raises(NoRebuild, match=r"register_rebuild\(Graph, 'embeds', function\).*\(view\)"):
        manager.rebuild("robot-7", "kv")


@pytest.mark.parametrize(
    ("name", "made"), [("kv/cond", None), ("kv/cond", "a text"), ("pinned", None)]
)
def test_a_callable_that_makes_no_value_changes_nothing(
    manager: SessionStateManager, session: Graph, calls: list[str], name: str, made: object
) -> None:
    """None, and in a family a value of another type, are refused by name."""
    manager.register_rebuild(Graph, name.partition("/")[0], lambda view, *keys: made)
    with pytest.raises(TypeError, match=f"session 'robot-7', field '{name}'"):
        manager.rebuild("robot-7", name)
    assert session.object(name).view() is None


def test_a_callable_that_raises_leaves_its_field_absent(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Its error passes through; sources that were rebuilt before it stay, and the next call works."""

    def fail(view: Graph, key: str) -> Tensor:
        raise ZeroDivisionError

    manager.register_rebuild(Graph, "kv", fail)
    with pytest.raises(ZeroDivisionError):
        manager.rebuild("robot-7", "kv/cond")
    assert "cond" not in session.kv
    assert session.embeds.view() is not None


def test_permissions_are_those_of_the_schema(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """What may be rebuilt may not therefore be released, and what is carried may neither."""
    manager.rebuild("robot-7", "pinned")
    with pytest.raises(
        ManagerMayNot,
        match="session 'robot-7', field 'pinned': the manager may not release it; its schema "
        "lets it rebuild$",
    ):
        manager.release("robot-7", "pinned")
    for act in (manager.release, manager.rebuild):
        with pytest.raises(ManagerMayNot, match="field 'language': .* it only carries the value"):
            act("robot-7", "language")
    assert session.pinned.view() is not None


def test_what_is_staged_is_not_let_go_of(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Neither by a release, nor by a rebuild, which would put another value in its place."""
    session.chunks.append(torch.ones(4))
    session.chunks.stage(staged := torch.zeros(4))
    for act in (manager.release, manager.rebuild):
        with pytest.raises(ManagerMayNot, match="field 'chunks': something is staged in it"):
            act("robot-7", "chunks")
    assert [] == manager.reclaim("cpu", 1)
    assert staged is session.chunks.view()[-1]


def test_nothing_is_rebuilt_from_what_is_staged(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """It may be discarded, and then what was made from it would be wrong."""
    session.embeds.stage(torch.zeros(4))
    with pytest.raises(ManagerMayNot, match="field 'embeds': something is staged in it"):
        manager.rebuild("robot-7", "kv")
    assert [] == calls


def test_a_session_that_another_thread_leases_is_left_alone(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """Its own thread may act on it, and nobody takes anything of it for others."""
    manager.rebuild("robot-7", "embeds")
    refused: list[str] = []

    def attempt() -> None:
        for act in (manager.release, manager.rebuild):
            with pytest.raises(SessionBusy) as error:
                act("robot-7", "embeds")
            refused.append(str(error.value))

    with manager.session(Graph, "robot-7"):
        in_a_thread(attempt)
        assert [] == manager.reclaim("cpu", 1)
        assert {"cpu": 16} == manager.release("robot-7", "embeds")
        manager.rebuild("robot-7", "embeds")
    assert 2 == len(refused)
    assert "session 'robot-7' is leased by another thread" in refused[0]
    assert ["embeds"] == [row.field for row in manager.reclaim("cpu", 1)]


def test_nobody_leases_a_session_while_it_is_rebuilt(
    manager: SessionStateManager, session: Graph
) -> None:
    """A model that opened it meanwhile would read half of it."""
    refused: list[type[Exception]] = []

    def attempt() -> None:
        try:
            with manager.session(Graph, "robot-7"):
                pass
        except SessionBusy as error:
            refused.append(type(error))

    def rebuild(view: Graph) -> Tensor:
        in_a_thread(attempt)
        return torch.ones(4)

    manager.register_rebuild(Graph, "embeds", rebuild)
    manager.rebuild("robot-7", "embeds")
    in_a_thread(attempt)
    assert [SessionBusy] == refused


def in_a_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_books_follow_what_the_manager_did(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """The next `stats()` has the bytes without what was released, and with what was rebuilt."""
    before = manager.stats()["total_nbytes"]
    manager.rebuild("robot-7", "kv")
    assert before + 3 * 16 == manager.stats()["total_nbytes"]
    manager.release("robot-7", "kv")
    assert before + 16 == manager.stats()["total_nbytes"]
    manager.reclaim("cpu", 1)
    assert before == manager.stats()["total_nbytes"]
    assert [] == manager.audit()


def test_a_session_that_no_generated_class_opened_is_not_acted_on(
    manager: SessionStateManager,
) -> None:
    """Nothing says what the manager may do to its objects."""
    state = manager.get_or_create_session("raw")
    state.put("kv", EncodeOnce()).append(torch.zeros(4))
    with pytest.raises(ManagerMayNot, match="session 'raw': no generated class opened it"):
        manager.release("raw", "kv")
    assert [] == manager.reclaim("cpu", 1)
    assert 16 == state.nbytes


def test_a_failed_session_is_not_acted_on(
    manager: SessionStateManager, session: Graph, calls: list[str]
) -> None:
    """What may be half written is neither released from nor a source."""
    manager.rebuild("robot-7", "kv")
    session._status.fail("language")
    for act in (manager.release, manager.rebuild):
        with pytest.raises(SessionFailed, match="'language' may be half written"):
            act("robot-7", "kv")
    assert [] == manager.reclaim("cpu", 1)
    assert session.object("kv/cond").view() is not None


def test_acting_makes_no_session_recent_and_counts_no_hit(calls: list[str]) -> None:
    """The least recently used leaves first, whatever the manager did to it."""
    manager = SessionStateManager(max_sessions=2)
    manager.register_rebuild(Graph, "embeds", lambda view: torch.ones(1))
    for name in ("old", "new"):
        Graph(name, manager).language = torch.ones(1)
    hits = manager.hits
    manager.rebuild("old", "embeds")
    manager.release("old", "embeds")
    assert hits == manager.hits
    Graph("newest", manager)
    assert "old" not in manager


def test_a_rebuild_sees_the_params_of_the_first_view(manager: SessionStateManager) -> None:
    """Those too that shape no object, since no view is there to ask."""
    seen: list[object] = []

    def rebuild(view: Cosmos3Session, branch: str) -> Any:
        seen.append((view.session_id, view.branches, view.num_layers, branch))
        return [(torch.ones(1), torch.ones(1))] * view.num_layers

    manager.register_rebuild(Cosmos3Session, "und_kv", rebuild)
    Cosmos3Session("request-1", manager, branches=("cond",), num_layers=3)
    Cosmos3Session("request-1", manager, branches=("cond",), num_layers=5)
    manager.rebuild("request-1", "und_kv")
    assert [("request-1", ("cond",), 3, "cond")] == seen
