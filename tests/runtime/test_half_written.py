"""Values that a borrower writes in place: after an exception nobody reads what may be half of them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from session_state import NothingCaptured, SessionFailed, SessionState, SessionStateManager
from session_state.attrs import SessionAttr
from session_state.axes import Axis, CapturedAxis
from session_state.families import AttrFamily
from session_state.fields import Attr, ObjectField, ViewField
from session_state.objects import LatentBuffer
from session_state.view import SessionView
from torch import Tensor

BRANCH = Axis("branch", lambda view: ("cond", "uncond"))
LAYER = CapturedAxis("layer")


class Streaming(SessionView, schema="Streaming 0123456789ab"):
    """One field that is written in place, a family that is, and fields beside them."""

    feat_map = Attr[list[Any] | None](default=None, in_place=True)
    states = AttrFamily[list[int]](per=(BRANCH,), in_place=True)
    layers = AttrFamily[Tensor](per=(BRANCH, LAYER), in_place=True)
    counted = Attr[int](default=0)
    notes = Attr[list[int]](factory=list)
    latents = ViewField(LatentBuffer[Tensor], concat=0)
    frames = ObjectField(LatentBuffer[Tensor])

    def reset_stream(self) -> None:
        self._clear("feat_map", "counted")

    def reset_rest(self) -> None:
        self._clear("counted", "latents", "frames", "states")


@pytest.fixture
def manager() -> SessionStateManager:
    return SessionStateManager()


@pytest.fixture
def session(manager: SessionStateManager) -> Streaming:
    session = Streaming("robot-7", manager)
    session.feat_map = [1, 2]
    session.counted = 3
    session.latents = torch.zeros(2)
    return session


def fail(session: Streaming, **lent: str) -> None:
    """End a loan by an exception, half way through writing."""
    module = SimpleNamespace()
    with (
        pytest.raises(ZeroDivisionError),
        session.lend(module, **(lent or {"feat_cache": "feat_map"})),
    ):
        for value in vars(module).values():
            value[0] = "new"
        raise ZeroDivisionError


def test_an_exception_in_a_loan_fails_the_session(
    manager: SessionStateManager, session: Streaming
) -> None:
    """Reads and writes of every field, by every view, name the one that may be half written."""
    frames = session.frames
    fail(session)
    other = Streaming("robot-7", manager)
    refused = [
        lambda: other.feat_map,
        lambda: session.counted,
        lambda: session.notes,
        lambda: session.latents,
        lambda: session.frames,
        lambda: session.states["cond"],
        lambda: setattr(session, "counted", 4),
        lambda: setattr(session, "latents", None),
        lambda: session.states.__setitem__("cond", [1]),
        lambda: session.states.__delitem__("cond"),
        lambda: frames.append(torch.zeros(1)),
        lambda: session.lend(SimpleNamespace(), a="counted").__enter__(),
        session.reset_rest,
    ]
    for use in refused:
        with pytest.raises(
            SessionFailed, match=r"session 'robot-7': field 'feat_map' may be half written"
        ):
            use()
    assert {"cpu": 8} == session.nbytes_by_device()


def test_a_failed_session_is_not_leased(manager: SessionStateManager, session: Streaming) -> None:
    """Until it is reset, which a lease of its own is not needed for."""
    fail(session)
    with pytest.raises(SessionFailed, match="'feat_map'"), manager.session(Streaming, "robot-7"):
        pass
    manager.reset("robot-7")
    with manager.session(Streaming, "robot-7") as leased:
        assert leased.feat_map is None


def test_bytes_of_a_failed_session_are_published(
    manager: SessionStateManager, session: Streaming
) -> None:
    """What was touched before the failure, and what is repaired after it."""
    session.feat_map = [torch.zeros(4)]
    fail(session)
    # The borrower put a text in the place of the tensor.
    assert {"cpu": 8} == session.nbytes_by_device()
    assert 8 == manager.stats()["total_nbytes"]
    session.feat_map = [torch.zeros(2)]
    session.counted = 4
    assert 8 + 8 == manager.stats()["total_nbytes"]
    assert [] == manager.audit()


def test_a_field_that_is_assigned_anew_is_whole(session: Streaming) -> None:
    """The session goes on as it was, apart from that field."""
    fail(session)
    session.feat_map = [5]
    assert [5] == session.feat_map
    assert 3 == session.counted
    assert session.latents is not None


def test_a_reset_of_the_field_makes_it_whole(session: Streaming) -> None:
    """One that does not clear it is refused and clears nothing."""
    fail(session)
    with pytest.raises(SessionFailed):
        session.reset_rest()
    session.reset_stream()
    assert session.feat_map is None
    assert session.latents is not None


def test_a_reset_of_the_session_makes_it_whole(
    manager: SessionStateManager, session: Streaming
) -> None:
    """All of it is as in a new session."""
    fail(session)
    manager.get_or_create_session("robot-7").reset()
    assert session.feat_map is None
    assert 0 == session.counted


@pytest.mark.parametrize("clears", [False, True])
def test_a_branch_that_failed_is_made_whole_by_itself(session: Streaming, clears: bool) -> None:
    """Assigning or deleting another branch does not do."""
    session.states["cond"], session.states["uncond"] = [1], [2]
    fail(session, cache="states/cond")
    with pytest.raises(SessionFailed, match="field 'states/cond'"):
        session.states["uncond"] = [3]
    with pytest.raises(SessionFailed):
        del session.states["uncond"]
    if clears:
        del session.states["cond"]
    else:
        session.states["cond"] = [4]
    assert (not clears) == ("cond" in session.states)
    assert [2] == session.states["uncond"]


def test_a_captured_branch_is_made_whole_by_all_of_it(session: Streaming) -> None:
    """Its values are written one after the other."""
    session.layers["cond"] = [torch.zeros(1), torch.zeros(1)]
    fail(session, cache="layers/cond")
    with pytest.raises(SessionFailed, match="field 'layers/cond'"):
        session.layers["uncond"] = [torch.zeros(1)]
    session.layers["cond"] = [torch.ones(1), torch.ones(1)]
    assert 1 == session.layers["cond", 1].item()


def test_a_reset_of_a_family_makes_its_branch_whole(session: Streaming) -> None:
    """Wherever the family stands among what the reset clears."""
    session.states["cond"] = [1]
    fail(session, cache="states/cond")
    session.reset_rest()
    assert 0 == session.counted
    assert "cond" not in session.states


class Adapter:
    """Code written by hand over the same session."""

    counted = SessionAttr(default=0)

    def __init__(self, session: SessionState) -> None:
        self._session = session


def test_a_use_by_hand_does_not_let_a_view_read_on(
    manager: SessionStateManager, session: Streaming
) -> None:
    """Adapters keep the meaning that they have, and what they touch is published."""
    fail(session)
    adapter = Adapter(manager.get_or_create_session("robot-7"))
    adapter.counted = 5
    with pytest.raises(SessionFailed):
        session.counted += 1
    session.feat_map = None
    assert 5 == session.counted


def test_a_value_that_is_replaced_and_not_written_keeps_its_old_value(session: Streaming) -> None:
    """Only a field that says `written: in_place` can be half written."""
    session.notes = [7]
    module = SimpleNamespace()
    with pytest.raises(ZeroDivisionError), session.lend(module, notes="notes"):
        module.notes = [8]
        raise ZeroDivisionError
    assert [7] == session.notes


def test_an_absent_field_cannot_be_half_written(session: Streaming) -> None:
    """What the borrower made before it failed never belonged to the session."""
    session.feat_map = None
    module = SimpleNamespace()
    with pytest.raises(ZeroDivisionError), session.lend(module, feat_cache="feat_map"):
        module.feat_cache = [1]
        raise ZeroDivisionError
    assert session.feat_map is None


def test_a_loan_that_captures_nothing_did_not_end_cleanly(session: Streaming) -> None:
    """The borrower wrote into what the session holds and then left nothing to take."""
    module = SimpleNamespace()
    with pytest.raises(NothingCaptured), session.lend(module, feat_cache="feat_map"):
        module.feat_cache[0] = 9
        module.feat_cache = None
    with pytest.raises(SessionFailed):
        print(session.feat_map)


def test_a_clean_end_is_no_failure(session: Streaming) -> None:
    """Whether the borrower left the same list or another."""
    module = SimpleNamespace()
    for made in (None, [9]):
        with session.lend(module, feat_cache="feat_map"):
            module.feat_cache = made or module.feat_cache
    assert [9] == session.feat_map


def test_what_was_replaced_during_its_loan_is_whole(session: Streaming) -> None:
    """The borrower writes into a value that the session no longer has."""
    module = SimpleNamespace()
    with pytest.raises(ZeroDivisionError), session.lend(module, feat_cache="feat_map"):
        session.feat_map = [5]
        raise ZeroDivisionError
    assert [5] == session.feat_map


def test_an_outer_loan_takes_nothing_back_into_a_failed_session(session: Streaming) -> None:
    """An exception that is caught between two loans is not forgotten by the outer one."""
    outer: Any = SimpleNamespace()
    with pytest.raises(SessionFailed), session.lend(outer, counted="counted"):
        fail(session)
        outer.counted = 9
    session.feat_map = [5]
    assert 3 == session.counted
    assert {} == vars(outer)


def test_a_closed_session_stays_closed(manager: SessionStateManager, session: Streaming) -> None:
    """Dropped during the loan, it reads as its defaults and has nothing that is half written."""
    module = SimpleNamespace()
    with pytest.raises(ZeroDivisionError), session.lend(module, feat_cache="feat_map"):
        manager.drop_session("robot-7")
        raise ZeroDivisionError
    assert session.feat_map is None
