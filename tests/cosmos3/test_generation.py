"""One generation's session: how it ends, and what a loan leaves behind."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
from session_state.errors import FieldUnset, NothingCaptured, SessionClosed, SessionExists
from session_state.manager import SessionStateManager

from generated.cosmos3 import Cosmos3Session

from .branches import LAYER_NBYTES, TABLES_NBYTES, capture, module, tables, text_kv

every_ending = pytest.mark.parametrize(
    "ending", [None, RuntimeError, KeyboardInterrupt, GeneratorExit]
)
Ending = type[BaseException] | None


def ended_by(ending: Ending) -> AbstractContextManager[Any]:
    return nullcontext() if ending is None else pytest.raises(ending)


def finish(ending: Ending) -> None:
    if ending is not None:
        raise ending


def opened(manager: SessionStateManager) -> AbstractContextManager[Cosmos3Session]:
    return manager.generation(Cosmos3Session, "request-1", num_layers=2)


@every_ending
def test_it_is_dropped_at_its_end(ending: Ending) -> None:
    """Whatever ends its block, the id is free, the branches are absent and the bytes are gone."""
    manager = SessionStateManager()
    with ended_by(ending), opened(manager) as session:
        capture(session, "cond", text_kv(2), tables())
        assert "request-1" in manager
        assert {"cpu": 2 * LAYER_NBYTES + TABLES_NBYTES} == session.nbytes_by_device()
        finish(ending)
    assert_ended(session, manager)


@every_ending
def test_it_ends_though_it_was_evicted(ending: Ending) -> None:
    """A generation that left the table goes on, is released at its end, and nobody else is."""
    manager = SessionStateManager(max_sessions=1)
    with ended_by(ending), opened(manager) as session:
        capture(session, "cond", text_kv(2), tables())
        other = Cosmos3Session("request-2", manager, num_layers=2)
        capture(other, "cond", text_kv(1), tables())
        assert "request-1" not in manager
        assert ["cond"] == [*session.und_kv]
        finish(ending)
    assert_ended(session, manager)
    assert {"cpu": LAYER_NBYTES + TABLES_NBYTES} == other.nbytes_by_device()


@every_ending
@pytest.mark.parametrize("taking", ["evicted", "dropped"])
def test_it_leaves_whoever_took_its_id(ending: Ending, taking: str) -> None:
    """A session that has the id by then is another's, and stays as it is."""
    manager = SessionStateManager(max_sessions=1)
    with ended_by(ending), opened(manager) as session:
        capture(session, "cond", text_kv(2), tables())
        if taking == "evicted":
            manager.get_or_create_session("request-2")
        else:
            manager.drop_session("request-1")
        successor = Cosmos3Session("request-1", manager, num_layers=2)
        capture(successor, "uncond", text_kv(1), tables())
        finish(ending)
    assert "request-1" in manager
    assert {} == session.nbytes_by_device()
    assert ["uncond"] == [*successor.und_kv]
    assert {"cpu": LAYER_NBYTES + TABLES_NBYTES} == manager.nbytes_by_device()


def test_an_id_in_the_table_is_refused() -> None:
    """A second generation under a live id is refused by name, and the first keeps its branches."""
    manager = SessionStateManager()
    with opened(manager) as session:
        capture(session, "cond", text_kv(2), tables())
        with pytest.raises(SessionExists, match="'request-1'"), opened(manager):
            pass
        assert ["cond"] == [*session.und_kv]


def test_a_loan_of_a_session_that_was_dropped_captures_nothing() -> None:
    """A forward that outlives its session raises SessionClosed, and the module is restored."""
    manager = SessionStateManager()
    borrower = module()
    with (
        opened(manager) as session,
        pytest.raises(SessionClosed, match="request-1"),
        session.lend_transformer(borrower, branch="cond"),
    ):
        manager.drop_session("request-1")
        borrower.cached_kv, borrower.cached_freqs_gen = text_kv(2), tables()
    assert (None, None) == (borrower.cached_kv, borrower.cached_freqs_gen)
    assert {} == session.nbytes_by_device()


@pytest.mark.parametrize("is_captured", [False, True], ids=["first call", "later call"])
@pytest.mark.parametrize("outcome", ["clean", "nothing produced", "raises"])
def test_the_module_gets_back_what_it_held(outcome: str, is_captured: bool) -> None:
    """Whatever becomes of the call, the attributes are the objects that they were before."""
    before = [text_kv(1), tables()]
    borrower = module()
    borrower.cached_kv, borrower.cached_freqs_gen = before
    with opened(SessionStateManager()) as session:
        if is_captured:
            capture(session, "cond", text_kv(2), tables())
        try:
            with session.lend_transformer(borrower, branch="cond"):
                if outcome == "raises":
                    raise ZeroDivisionError
                made = outcome == "clean"
                borrower.cached_kv = text_kv(2) if made else None
                borrower.cached_freqs_gen = tables() if made else None
        except (ZeroDivisionError, NothingCaptured):
            assert outcome != "clean"
    after = [borrower.cached_kv, borrower.cached_freqs_gen]
    assert all(left is right for left, right in zip(before, after, strict=True))


def test_what_is_lent_is_what_was_captured() -> None:
    """The first call borrows None, each later one the very tensors, of its own branch alone."""
    kv, freqs = text_kv(3), tables()
    borrower = module()
    with opened(SessionStateManager()) as session:
        with session.lend_transformer(borrower, branch="cond"):
            assert (None, None) == (borrower.cached_kv, borrower.cached_freqs_gen)
            borrower.cached_kv, borrower.cached_freqs_gen = kv, freqs
        for _ in range(2):
            with session.lend_transformer(borrower, branch="cond"):
                assert ids(kv) == ids(borrower.cached_kv)
                assert [*map(id, freqs)] == [*map(id, borrower.cached_freqs_gen)]
        capture(session, "uncond", text_kv(3), tables())
        assert ids(kv) == ids([session.und_kv["cond", layer] for layer in range(3)])


@pytest.mark.parametrize(
    ("error", "kv", "freqs"),
    [
        pytest.param(NothingCaptured, None, tables(), id="no K and V"),
        pytest.param(NothingCaptured, [], tables(), id="no layers"),
        pytest.param(NothingCaptured, text_kv(2), None, id="no tables"),
        pytest.param(NothingCaptured, None, None, id="neither"),
        pytest.param(TypeError, [*text_kv(1), None], tables(), id="a layer of nothing"),
        pytest.param(TypeError, tables()[0], tables(), id="K and V not by layer"),
    ],
)
def test_a_failed_capture_leaves_nothing(error: type[Exception], kv: Any, freqs: Any) -> None:
    """Where the module produced less than a branch, no layer is there, and the next call captures."""
    with opened(SessionStateManager()) as session:
        with pytest.raises(error, match="request-1"):
            capture(session, "cond", kv, freqs)
        assert "cond" not in session.und_kv
        assert {} == session.nbytes_by_device()
        capture(session, "cond", text_kv(1), tables())
        assert ["cond"] == [*session.und_kv]


def test_a_call_that_raises_captures_nothing() -> None:
    """What a forward had already cached when it failed is not taken for a branch."""
    borrower = module()
    with opened(SessionStateManager()) as session:
        with pytest.raises(ZeroDivisionError), session.lend_transformer(borrower, branch="cond"):
            borrower.cached_kv, borrower.cached_freqs_gen = text_kv(2), tables()
            raise ZeroDivisionError
        assert "cond" not in session.und_kv
        assert {} == session.nbytes_by_device()


def test_a_second_capture_changes_nothing() -> None:
    """What a module leaves of a branch that is whole is not taken, be it more, less or None."""
    kv, freqs = text_kv(2), tables()
    with opened(SessionStateManager()) as session:
        capture(session, "cond", kv, freqs)
        for produced in [(text_kv(3), tables()), (text_kv(1), None), (None, None)]:
            capture(session, "cond", *produced)
            assert ids(kv) == ids([session.und_kv["cond", layer] for layer in range(2)])
            assert [*map(id, freqs)] == [*map(id, session.freqs_gen["cond"])]
        assert {"cpu": 2 * LAYER_NBYTES + TABLES_NBYTES} == session.nbytes_by_device()


def test_half_a_branch_is_absent_and_counts() -> None:
    """Without its tables a branch reads as absent while its K and V are held."""
    with opened(SessionStateManager()) as session:
        session.und_kv["cond"] = text_kv(2)
        assert "cond" not in session.und_kv
        with pytest.raises(FieldUnset, match="cond"):
            session.und_kv["cond", 0]
        assert {"cpu": 2 * LAYER_NBYTES} == session.nbytes_by_device()
        session.freqs_gen["cond"] = tables()
        assert "cond" in session.und_kv


def ids(layers: list[Any]) -> list[list[int]]:
    return [[*map(id, pair)] for pair in layers]


def assert_ended(session: Cosmos3Session, manager: SessionStateManager) -> None:
    assert "request-1" not in manager
    assert [] == [*session.und_kv]
    assert {} == session.nbytes_by_device()
    with pytest.raises(SessionClosed, match="request-1"):
        session.freqs_gen["cond"] = tables()
