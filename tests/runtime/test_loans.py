"""Loans: a branch in a borrower's attributes for the time of a call, taken back whole or not at all."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from session_state import NothingCaptured, SessionClosed, SessionStateManager, UnknownKey
from session_state.fields import Attr, ObjectField
from session_state.objects import EncodeOnce, LatentBuffer
from session_state.view import SessionView
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

Pair = tuple[Tensor, Tensor]


def pair() -> Pair:
    return torch.zeros(4), torch.ones(4)


class Borrower:
    """What a transformer is to a loan: attributes of its own, and one of its class."""

    cached_freqs_gen: Any = None

    def __init__(self) -> None:
        self.cached_kv: Any = "its own"


def opened() -> tuple[SessionStateManager, Cosmos3Session]:
    manager = SessionStateManager()
    return manager, Cosmos3Session("r", manager, num_layers=2)


def test_a_loan_captures_what_was_produced_and_gives_back_the_borrower() -> None:
    """An absent branch lends None, is taken by reference, and the borrower holds what it held."""
    _, session = opened()
    module, layers, tables = Borrower(), [pair(), pair()], pair()
    with session.lend_transformer(module, branch="cond"):
        assert module.cached_kv is None and module.cached_freqs_gen is None
        module.cached_kv, module.cached_freqs_gen = layers, tables
    assert {"cached_kv": "its own"} == vars(module)
    assert layers[1] is session.und_kv["cond", 1]
    assert tables is session.freqs_gen["cond"]


def test_a_complete_branch_is_lent_and_not_taken_again() -> None:
    """The borrower sees the layers in order; what it leaves behind changes nothing."""
    _, session = opened()
    module, layers, tables = Borrower(), [pair(), pair()], pair()
    session.und_kv["cond"], session.freqs_gen["cond"] = layers, tables
    with session.lend_transformer(module, branch="cond"):
        assert all(map(lambda a, b: a is b, layers, module.cached_kv))
        assert tables is module.cached_freqs_gen
        module.cached_kv, module.cached_freqs_gen = [pair()], None
    assert layers[0] is session.und_kv["cond", 0]
    assert {"cached_kv": "its own"} == vars(module)


@pytest.mark.parametrize(
    ("kv", "freqs", "error"),
    [
        (None, pair(), NothingCaptured),
        ([], pair(), NothingCaptured),
        ([pair()], None, NothingCaptured),
        (7, pair(), TypeError),
        ([pair(), None], pair(), TypeError),
    ],
)
def test_a_failed_capture_leaves_nothing_half_there(
    kv: Any, freqs: Any, error: type[Exception]
) -> None:
    """Whatever was not produced, nothing of the branch is kept and the borrower is restored."""
    _, session = opened()
    module = Borrower()
    with (
        pytest.raises(error, match="session 'r', field '"),
        session.lend_transformer(module, branch="cond"),
    ):
        module.cached_kv, module.cached_freqs_gen = kv, freqs
    assert "cond" not in session.und_kv
    assert {} == session.nbytes_by_device()
    assert {"cached_kv": "its own"} == vars(module)


def test_half_a_branch_is_lent_as_nothing_and_replaced() -> None:
    """Layers without tables read as absent, so the borrower encodes anew and both are taken."""
    _, session = opened()
    module, layers, tables = Borrower(), [pair()], pair()
    session.und_kv["cond"] = [pair(), pair()]
    with session.lend_transformer(module, branch="cond"):
        assert module.cached_kv is None
        module.cached_kv, module.cached_freqs_gen = layers, tables
    assert layers[0] is session.und_kv["cond", 0]
    assert 32 * 2 == session.nbytes_by_device()["cpu"]


@pytest.mark.parametrize("produced", [True, False])
def test_an_exception_in_the_loan_captures_nothing(produced: bool) -> None:
    """It passes through, the borrower is restored, the branch stays absent."""
    _, session = opened()
    module = Borrower()
    with pytest.raises(KeyboardInterrupt), session.lend_transformer(module, branch="cond"):
        if produced:
            module.cached_kv, module.cached_freqs_gen = [pair()], pair()
        raise KeyboardInterrupt
    assert "cond" not in session.und_kv
    assert {"cached_kv": "its own"} == vars(module)


def test_a_session_dropped_during_its_loan_captures_nothing() -> None:
    """The end of the loan raises SessionClosed, and the borrower is restored all the same."""
    manager, session = opened()
    module = Borrower()
    with (
        pytest.raises(SessionClosed, match="session 'r'"),
        session.lend_transformer(module, branch="cond"),
    ):
        module.cached_kv, module.cached_freqs_gen = [pair()], pair()
        manager.drop_session("r")
    assert {} == session.nbytes_by_device()
    assert {"cached_kv": "its own"} == vars(module)


def test_nested_loans_restore_in_turn() -> None:
    """The inner loan gives back what the outer one had lent."""
    _, session = opened()
    module, outer, inner = Borrower(), [pair()], [pair()]
    with session.lend_transformer(module, branch="cond"):
        module.cached_kv, module.cached_freqs_gen = outer, pair()
        with session.lend_transformer(module, branch="uncond"):
            assert module.cached_kv is None
            module.cached_kv, module.cached_freqs_gen = inner, pair()
        assert outer is module.cached_kv
    assert outer[0] is session.und_kv["cond", 0]
    assert inner[0] is session.und_kv["uncond", 0]


def test_an_unknown_branch_touches_nothing() -> None:
    """The key is looked at before the borrower is."""
    _, session = opened()
    module = Borrower()
    with pytest.raises(UnknownKey, match="branch has no key 'other', it has 'cond', 'uncond'"):
        session.lend_transformer(module, branch="other")
    assert {"cached_kv": "its own"} == vars(module)


class Stubborn(Borrower):
    """Refuses one attribute, for as long as it is asked to."""

    refuses = True

    def __setattr__(self, name: str, value: object) -> None:
        if name == "cached_freqs_gen" and self.refuses:
            raise RuntimeError("not this one")
        super().__setattr__(name, value)


def test_a_borrower_that_refuses_is_left_as_it_was() -> None:
    """What was set before the refusal is taken back."""
    _, session = opened()
    module = Stubborn()
    with pytest.raises(RuntimeError, match="not this one"):
        session.lend_transformer(module, branch="cond").__enter__()
    assert {"cached_kv": "its own"} == vars(module)


def test_a_module_of_torch_is_a_borrower() -> None:
    """Also attributes that it did not have before."""
    _, session = opened()
    module = torch.nn.Linear(1, 1)
    with session.lend_transformer(module, branch="cond"):
        module.cached_kv, module.cached_freqs_gen = [pair()], pair()
    assert not hasattr(module, "cached_kv") and not hasattr(module, "cached_freqs_gen")
    assert "cond" in session.und_kv


def test_a_borrower_may_delete_what_it_was_lent() -> None:
    """What it did not have before is not there afterwards, and nothing was produced."""
    _, session = opened()
    module = Borrower()
    with (
        pytest.raises(NothingCaptured, match="'cached_freqs_gen' of Borrower"),
        session.lend_transformer(module, branch="cond"),
    ):
        module.cached_kv = [pair()]
        del module.cached_freqs_gen
    assert {"cached_kv": "its own"} == vars(module)


class Whole(SessionView, schema="Whole 0123456789ab"):
    """Fields that are lent as they are."""

    text = ObjectField(EncodeOnce[Tensor])
    step = Attr[int | None](default=None)
    chunks = ObjectField(LatentBuffer[Tensor])


def test_fields_without_a_key_are_lent_whole() -> None:
    """An object that is written once stays, a carried value is taken at every clean end."""
    session = Whole("w", SessionStateManager())
    module = Borrower()
    first = torch.zeros(1)
    for step in (1, 2):
        with session.lend(module, cached_kv="text", cached_freqs_gen="step"):
            module.cached_kv = module.cached_kv if module.cached_kv is not None else first
            module.cached_freqs_gen = step
        assert first is session.text.view() and step == session.step
    assert {"cached_kv": "its own"} == vars(module)


def test_a_field_of_many_values_is_not_lent() -> None:
    """An attribute is one value, and a buffer is not."""
    session = Whole("w", SessionStateManager())
    with pytest.raises(TypeError, match="field 'chunks': a LatentBuffer holds many values"):
        session.lend(Borrower(), cached_kv="chunks")


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(["cond", "uncond"]), st.booleans()),
        max_size=12,
    )
)
def test_interleaved_sessions_over_one_module(calls: list[tuple[int, str, bool]]) -> None:
    """Each session gets back what it produced first, whatever others do and wherever one fails."""
    manager, module = SessionStateManager(), Borrower()
    sessions = [Cosmos3Session(name, manager, num_layers=1) for name in "ab"]
    produced: dict[tuple[int, str], Any] = {}
    for which, branch, fails in calls:
        known = produced.get((which, branch))
        try:
            with sessions[which].lend_transformer(module, branch=branch):
                if known is None:
                    assert module.cached_kv is None
                    module.cached_kv, module.cached_freqs_gen = [pair()], pair()
                else:
                    assert module.cached_kv[0] is known
                lent = module.cached_kv[0]
                if fails:
                    raise RuntimeError
            produced[which, branch] = lent
        except RuntimeError:
            assert fails
        assert {"cached_kv": "its own"} == vars(module)
    for (which, branch), first in produced.items():
        assert first is sessions[which].und_kv[branch, 0]
