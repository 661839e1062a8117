"""`session.lend`: any field in any attribute; nested, crosswise, from two threads and two tasks."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from session_state import BorrowerBusy, NothingCaptured, SessionStateManager, UnknownKey
from session_state.axes import Axis
from session_state.families import AttrFamily
from session_state.fields import Attr, ObjectField
from session_state.objects import EncodeOnce, LatentBuffer
from session_state.view import SessionView
from torch import Tensor


class Lending(SessionView, schema="Lending 0123456789ab"):
    """A value of each kind that can be lent, and one that cannot."""

    features = Attr[list[Tensor | None] | None](default=None)
    position = Attr[int](default=0)
    shape = Attr[tuple[int, ...]](default=())
    text = ObjectField(EncodeOnce[Tensor])
    chunks = ObjectField(LatentBuffer[Tensor])
    blocks = AttrFamily[Tensor](per=(Axis("block", lambda view: range(2)),))


@pytest.fixture
def session() -> Lending:
    return Lending("robot-7", SessionStateManager())


@pytest.fixture
def module() -> Any:
    return SimpleNamespace(cache="its own")


def test_a_field_is_lent_taken_back_and_gone(session: Lending, module: Any) -> None:
    """An absent field is lent as None; what the attribute then holds becomes the field's value."""
    made = [torch.zeros(1), None]
    with session.lend(module, cache="features"):
        assert module.cache is None
        module.cache = made
    assert made is session.features
    assert {"cache": "its own"} == vars(module)


def test_an_absent_field_with_a_default_is_lent_as_that(session: Lending, module: Any) -> None:
    """A scalar and an empty tuple are values, which an unchanged attribute gives back."""
    with session.lend(module, cache="position", size="shape"):
        assert (0, ()) == (module.cache, module.size)
        module.cache += 1
    assert (1, ()) == (session.position, session.shape)
    assert {"cache": "its own"} == vars(module)


def test_a_branch_of_a_family_is_lent_by_its_name(session: Lending, module: Any) -> None:
    """Its keys are spelled as `names()` and `attrs` spell them, numbers too."""
    made = torch.zeros(1)
    with session.lend(module, cache="blocks/1"):
        module.cache = made
    assert made is session.blocks[1]
    assert 0 not in session.blocks


@pytest.mark.parametrize(
    ("lent", "error", "message"),
    [
        ({}, TypeError, r"session 'robot-7': name what to lend"),
        ({"a": "feature"}, AttributeError, "'feature' is no field of Lending"),
        ({"a": "features/0"}, AttributeError, "'features/0' is no field of Lending"),
        ({"a": "blocks"}, TypeError, "a value per key; lend one of them, blocks/<block>"),
        ({"a": "blocks/2"}, UnknownKey, "block has no key '2', it has 0, 1"),
        ({"a": "blocks/1/0"}, UnknownKey, r"is no key, it takes \[block\]"),
        ({"a": "chunks"}, TypeError, "field 'chunks': a LatentBuffer holds many values"),
        ({"a": "text", "b": "text"}, TypeError, "field 'text': it is lent as 'a' already"),
    ],
)
def test_what_cannot_be_lent_is_refused_before_the_module_is_touched(
    session: Lending, module: Any, lent: dict[str, str], error: type[Exception], message: str
) -> None:
    """Each mistake is named, with the session and the field."""
    with pytest.raises(error, match=message):
        session.lend(module, **lent)
    assert {"cache": "its own"} == vars(module)


def test_a_fresh_value_is_not_taken_back(session: Lending, module: Any) -> None:
    """It is set for the call, whatever it was changed into, and then the module's own is back."""
    made = torch.zeros(1)
    with session._lend(module, None, lent={"text": "text"}, fresh={"cache": [0], "index": 3}):
        assert ([0], 3) == (module.cache, module.index)
        module.cache.append(1)
        module.text, module.index = made, None
    assert {"cache": "its own"} == vars(module)
    assert made is session.text.view()


def test_fresh_values_are_restored_when_the_call_raises(session: Lending, module: Any) -> None:
    """As the lent ones are."""
    with (
        pytest.raises(ZeroDivisionError),
        session._lend(module, None, lent={"text": "text"}, fresh={"cache": [0]}),
    ):
        raise ZeroDivisionError
    assert {"cache": "its own"} == vars(module)


def test_loans_nest_over_one_attribute_and_beside_each_other(module: Any) -> None:
    """The innermost loan has the attribute, and its end brings the outer one's value back."""
    manager = SessionStateManager()
    one, other = Lending("one", manager), Lending("other", manager)
    with one.lend(module, cache="features"), one.lend(module, position="position"):
        module.cache, module.position = [None], 1
        with other.lend(module, cache="features"):
            assert module.cache is None
            module.cache = []
        assert [None] == module.cache
    assert ([None], 1, []) == (one.features, one.position, other.features)
    assert {"cache": "its own"} == vars(module)


def test_a_second_thread_is_refused_an_attribute_that_is_lent(module: Any) -> None:
    """It touches nothing, may have another attribute, and this one after the loan."""
    manager = SessionStateManager()
    one, other = Lending("one", manager), Lending("other", manager)
    outcomes: list[Any] = []

    def attempt() -> None:
        try:
            with other.lend(module, position="position"), other.lend(module, cache="features"):
                module.cache = []
        except BorrowerBusy as error:
            outcomes.append(str(error))
        else:
            outcomes.append(other.features)

    with one.lend(module, cache="features"):
        module.cache = [None]
        in_a_thread(attempt)
        assert [None] == module.cache
    in_a_thread(attempt)
    refused, taken = outcomes
    assert refused.startswith("'cache' of SimpleNamespace is lent to another thread or task")
    assert [] == taken
    assert [None] == one.features
    assert {"cache": "its own"} == vars(module)


def in_a_thread(function: Any) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_a_second_task_is_refused_an_attribute_that_is_lent(module: Any) -> None:
    """Tasks of one thread interleave at every await, so that they are told apart as threads are."""
    manager = SessionStateManager()
    one, other = Lending("one", manager), Lending("other", manager)

    async def hold(lent: asyncio.Event, refused: asyncio.Event) -> None:
        with one.lend(module, cache="features"):
            lent.set()
            await refused.wait()
            module.cache = [None]

    async def main() -> None:
        lent, refused = asyncio.Event(), asyncio.Event()
        holding = asyncio.create_task(hold(lent, refused))
        await lent.wait()
        with pytest.raises(BorrowerBusy), other.lend(module, cache="features"):
            pass
        refused.set()
        await holding

    asyncio.run(main())
    assert ([None], None) == (one.features, other.features)
    assert {"cache": "its own"} == vars(module)


class Crossing(RuleBasedStateMachine):
    """Loans of one thread over one attribute that begin and end in any order."""

    def __init__(self) -> None:
        super().__init__()
        manager = SessionStateManager()
        self.sessions = [Lending(str(which), manager) for which in range(3)]
        self.module: Any = SimpleNamespace(cache="its own")
        self.loans: list[tuple[int, Any, bool]] = []
        self.expected: dict[int, object] = {}
        self.made = 0

    @rule(which=st.integers(0, 2))
    def begin(self, which: int) -> None:
        loan = self.sessions[which].lend(self.module, cache="features")
        loan.__enter__()
        assert self.expected.get(which) is self.module.cache
        self.loans.append((which, loan, False))

    @precondition(lambda self: self.loans)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        at = data.draw(st.integers(0, len(self.loans) - 1))
        which, loan, was_crossed = self.loans.pop(at)
        crosses = at < len(self.loans)
        made = [None] * self.made
        self.made += 1
        if not crosses:
            self.module.cache = made
        self.loans[at:] = [(one, other, True) for one, other, _ in self.loans[at:]]
        if crosses or was_crossed:
            with pytest.raises(BorrowerBusy, match="end crosswise"):
                loan.__exit__(None, None, None)
        else:
            loan.__exit__(None, None, None)
            self.expected[which] = made

    @invariant()
    def only_clean_ends_were_taken(self) -> None:
        for which, session in enumerate(self.sessions):
            assert self.expected.get(which) is session.features
        if not self.loans:
            assert {"cache": "its own"} == vars(self.module)


Crossing.TestCase.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)
test_loans_that_cross_take_nothing_and_leave_nothing = Crossing.TestCase


def test_an_attribute_that_was_deleted_holds_nothing(session: Lending, module: Any) -> None:
    """The loan raises NothingCaptured, the field and the module are as they were."""
    session.features = before = [None]
    with (
        pytest.raises(NothingCaptured, match="field 'features': .* 'cache' of SimpleNamespace"),
        session.lend(module, cache="features"),
    ):
        del module.cache
    assert before is session.features
    assert {"cache": "its own"} == vars(module)
