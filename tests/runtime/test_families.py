"""Fields with one value per key: written by the branch, read by the key."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from session_state import FieldFrozen, FieldUnset, SessionClosed, SessionStateManager, UnknownKey
from session_state.axes import Axis, CapturedAxis
from session_state.coercions import as_int
from session_state.families import AttrFamily, ObjectFamily
from session_state.fields import Param
from session_state.objects import EncodeOnce
from session_state.view import SessionView
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

Pair = tuple[Tensor, Tensor]


def pair(nbytes: int = 8) -> Pair:
    return torch.zeros(nbytes, dtype=torch.uint8), torch.ones(nbytes, dtype=torch.uint8)


def opened(**params: Any) -> Cosmos3Session:
    return Cosmos3Session("r", SessionStateManager(), num_layers=2, **params)


def test_a_branch_is_there_when_its_layers_and_its_tables_are() -> None:
    """Each half alone reads as absent, and its bytes count all the same."""
    session = opened()
    layers = [pair(), pair(), pair()]
    session.und_kv["cond"] = layers
    assert "cond" not in session.und_kv
    assert ("cond", 0) not in session.und_kv
    assert {"cpu": 48} == session.nbytes_by_device()
    with pytest.raises(FieldUnset, match=r"und_kv/cond/1.*until freqs_gen\['cond'\] is written"):
        session.und_kv["cond", 1]
    tables = pair()
    session.freqs_gen["cond"] = tables
    assert "cond" in session.und_kv and "cond" in session.freqs_gen
    assert all(layers[index] is session.und_kv["cond", index] for index in range(3))
    assert tables is session.freqs_gen["cond"]
    assert "uncond" not in session.und_kv


def test_names_of_a_family() -> None:
    """In the session every value is named by field and keys."""
    session = opened()
    session.und_kv["uncond"] = [pair(), pair()]
    session.freqs_gen["uncond"] = pair()
    assert ["und_kv/uncond/0", "und_kv/uncond/1"] == session._session.names()
    assert ["freqs_gen/uncond"] == list(session._session.attrs)
    assert session.object("und_kv/uncond/1").resident
    with pytest.raises(AttributeError, match="und_kv/<branch>/<layer>"):
        session.object("und_kv")
    with pytest.raises(AttributeError, match="carried and has no object"):
        session.object("freqs_gen")


@pytest.mark.parametrize(
    "key",
    ["other", ("cond", 2), ("cond", -1), ("cond", "0"), ("cond", True), ("cond", 0, 0), 0, ()],
)
def test_a_key_outside_its_axis_is_unknown(key: Any) -> None:
    """It is no member, and reading it says what the keys are."""
    session = opened()
    session.und_kv["cond"] = [pair(), pair()]
    session.freqs_gen["cond"] = pair()
    assert key not in session.und_kv
    with pytest.raises(UnknownKey, match="it has|it takes"):
        session.und_kv[key]


def test_branches_learn_their_sizes_by_themselves() -> None:
    """What one branch captured says nothing about another, nor what the params declare."""
    session = opened(branches=("a", "b", "c"))
    for branch, count in (("a", 1), ("c", 5)):
        session.und_kv[branch] = [pair() for _ in range(count)]
        session.freqs_gen[branch] = pair()
    assert ["a", "c"] == list(session.und_kv)
    assert 2 == len(session.und_kv)
    with pytest.raises(UnknownKey, match="it has 0 to 0"):
        session.und_kv["a", 1]
    assert session.und_kv["c", 4]


def test_written_once_is_the_same_tensors_or_frozen() -> None:
    """A new list of the same tensors changes nothing; other tensors or another count are refused."""
    session = opened()
    layers = [pair(), pair()]
    session.und_kv["cond"] = layers
    session.freqs_gen["cond"] = tables = pair()
    session.und_kv["cond"] = [(k, v) for k, v in layers]
    session.freqs_gen["cond"] = (tables[0], tables[1])
    for other in ([pair(), pair()], layers[:1], [*layers, pair()]):
        with pytest.raises(FieldFrozen, match=r"'r', field 'und_kv/cond'.*del session\.und_kv\["):
            session.und_kv["cond"] = other
    with pytest.raises(FieldFrozen, match="freqs_gen/cond"):
        session.freqs_gen["cond"] = pair()
    assert layers[0] is session.und_kv["cond", 0]


def test_written_once_goes_item_by_item() -> None:
    """A layer that was released takes the same tensors again; those that stayed take no others."""
    session = opened()
    layers = [pair(), pair()]
    session.und_kv["cond"] = layers
    session.freqs_gen["cond"] = pair()
    session.object("und_kv/cond/1").evict()
    assert "cond" not in session.und_kv
    for other in ([pair(), pair()], layers[:1]):
        with pytest.raises(FieldFrozen):
            session.und_kv["cond"] = other
    rebuilt = pair()
    session.und_kv["cond"] = [layers[0], rebuilt]
    assert rebuilt is session.und_kv["cond", 1]


def test_a_layer_written_by_its_handle_is_not_replaced() -> None:
    """A branch that would, is refused before any of it is written."""
    session = opened()
    session.und_kv["cond"] = [pair(), pair()]
    handle = session.object("und_kv/cond/1")
    del session.und_kv["cond"]
    handle.append(pair())
    with pytest.raises(FieldFrozen):
        session.und_kv["cond"] = [pair(), pair()]
    assert not session.object("und_kv/cond/0").resident


def test_keys_are_any_integers() -> None:
    """As an index of Python is; a bool is none."""
    session = opened()
    session.und_kv["cond"] = [pair(), pair()]
    session.freqs_gen["cond"] = pair()
    assert session.und_kv["cond", np.int64(1)] is session.und_kv["cond", 1]
    assert ("cond", True) not in session.und_kv


@pytest.mark.parametrize("per", [(CapturedAxis("a"),), (CapturedAxis("a"), Axis("b", list))])
def test_a_captured_axis_is_the_last_of_several(per: Any) -> None:
    """Anything else is found when the class is made."""
    with pytest.raises(TypeError, match="last at most a captured one"):
        ObjectFamily(EncodeOnce[Tensor], per=per)


@pytest.mark.parametrize(
    ("value", "error"), [([], ValueError), (None, TypeError), (3, TypeError), ([None], TypeError)]
)
def test_a_refused_write_leaves_nothing(value: Any, error: type[Exception]) -> None:
    """A branch that cannot be written is as it was: absent and without bytes."""
    session = opened()
    with pytest.raises(error, match="session 'r', field 'und_kv/cond"):
        session.und_kv["cond"] = value
    assert {} == session.nbytes_by_device()
    session.und_kv["cond"] = [pair()]


def test_a_write_that_breaks_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """When an object refuses its value, those before it let go of theirs."""
    session = opened()
    commit = EncodeOnce.commit
    calls = itertools.count()

    def breaking(self: EncodeOnce[Any], payload: Any = None) -> None:
        if next(calls) == 1:
            raise MemoryError
        commit(self, payload)

    monkeypatch.setattr(EncodeOnce, "commit", breaking)
    with pytest.raises(MemoryError):
        session.und_kv["cond"] = [pair(), pair()]
    assert {} == session.nbytes_by_device()
    session.und_kv["cond"] = [pair()]


def test_clearing_a_branch_forgets_its_size_and_keeps_its_handles() -> None:
    """A handle reads empty and goes on; an object that a smaller capture needs no more leaves."""
    session = opened()
    session.und_kv["cond"] = [pair(), pair()]
    handle = session.object("und_kv/cond/0")
    del session.und_kv["cond"]
    assert handle.view() is None
    session.und_kv["cond"] = [pair()]
    assert handle is session.object("und_kv/cond/0") and handle.resident
    assert ["und_kv/cond/0"] == session._session.names()


def test_a_reset_clears_every_branch() -> None:
    """Nothing is there afterwards, of any branch, and new captures are free in their size."""
    session = opened()
    for branch in ("cond", "uncond"):
        session.und_kv[branch] = [pair(), pair()]
        session.freqs_gen[branch] = pair()
    session.reset_generation()
    assert [] == list(session.und_kv) == list(session.freqs_gen)
    assert {} == session.nbytes_by_device() == session._session.captured
    session.und_kv["cond"] = [pair()]


def test_a_branch_whose_name_begins_another_is_its_own() -> None:
    """Clearing one, or writing fewer layers to it, leaves those that only begin with its name."""
    session = opened(branches=("c", "c_x"))
    for branch in session.branches:
        session.und_kv[branch] = [pair() for _ in range(12)]
        session.freqs_gen[branch] = pair()
    del session.und_kv["c"]
    del session.freqs_gen["c"]
    assert ["c_x"] == list(session.und_kv) == list(session.freqs_gen)
    grid = Grid("g", SessionStateManager(), count=12)
    for number in range(12):
        grid.marks[number] = number
    del grid.marks[1]
    assert 11 == grid.marks[11] and 10 == grid.marks[10] and 1 not in grid.marks


def test_a_number_is_no_bool_and_no_text() -> None:
    """An axis of numbers has no key that only equals one."""
    grid = Grid("g", SessionStateManager(), count=3)
    grid.marks[1] = 5
    for key in (True, "1", 1.0):
        assert key not in grid.marks
        with pytest.raises(UnknownKey):
            grid.marks[key] = 6


def test_the_family_itself_is_not_assigned() -> None:
    """Assigning it says how a key is written."""
    session = opened()
    with pytest.raises(AttributeError, match=r"session\.und_kv\[branch\]"):
        session.und_kv = {}  # type: ignore[assignment]


def test_a_closed_session_has_no_keys_and_takes_none() -> None:
    """After a drop reads give absence and allocate nothing, writes raise."""
    manager = SessionStateManager()
    session = Cosmos3Session("r", manager, num_layers=1)
    session.und_kv["cond"] = [pair()]
    session.freqs_gen["cond"] = pair()
    manager.drop_session("r")
    assert "cond" not in session.und_kv
    with pytest.raises(FieldUnset):
        session.und_kv["cond", 0]
    for write in (
        lambda: session.und_kv.__setitem__("cond", [pair()]),
        lambda: session.freqs_gen.__setitem__("cond", pair()),
        lambda: session.und_kv.__delitem__("cond"),
        session.reset_generation,
    ):
        with pytest.raises(SessionClosed, match="session 'r'"):
            write()
    assert {} == session.nbytes_by_device()


def test_a_new_view_sees_the_same_branches() -> None:
    """Sizes and values lie in the session, not in the view."""
    manager = SessionStateManager()
    first = Cosmos3Session("r", manager, num_layers=1)
    first.und_kv["cond"] = [pair(), pair()]
    first.freqs_gen["cond"] = pair()
    second = Cosmos3Session("r", manager, num_layers=9)
    assert second.und_kv["cond", 1] is first.und_kv["cond", 1]


def test_bytes_are_those_of_the_storages() -> None:
    """Trimmed views count the padded storage that they keep alive, each storage once."""
    session = opened()
    padded = [torch.zeros(1, 16, 2, 4) for _ in range(4)]
    tables = [torch.zeros(1, 32, 4) for _ in range(2)]
    layers = [(k[:, :5], v[:, :5]) for k, v in (padded[:2], padded[2:])]
    session.und_kv["cond"] = layers
    session.freqs_gen["cond"] = (tables[0], tables[1])
    storages = sum(one.untyped_storage().nbytes() for one in (*padded, *tables))
    assert {"cpu": storages} == session.nbytes_by_device()
    declared = Cosmos3Session.declared_nbytes(
        accelerator="cpu",
        dtype="float32",
        branches=("cond",),
        num_layers=2,
        S=16,
        kv_heads=2,
        head_dim=4,
        media_tokens=32,
    )
    assert {"cpu": storages} == declared


class Grid(SessionView, schema="Grid 0123456789ab"):
    """Families whose keys are all known: by name, by number, by a condition."""

    count = Param(as_int, minimum=0, shapes_objects=True, doc="How many.")
    even = ObjectFamily(
        EncodeOnce[Tensor],
        per=(
            Axis("side", lambda session: ("left", "right")),
            Axis("number", lambda session: [n for n in range(session.count) if n % 2 == 0]),
        ),
    )
    marks = AttrFamily[int](coerce=as_int, per=(Axis("n", lambda session: range(session.count)),))

    def __init__(self, session_id: str, manager: SessionStateManager, *, count: int) -> None:
        self._open(session_id, manager, count=count)


def test_families_whose_keys_are_known() -> None:
    """Objects are there from the opening; a key counts as complete with all that is below it."""
    grid = Grid("g", SessionStateManager(), count=4)
    assert ["even/left/0", "even/left/2", "even/right/0", "even/right/2"] == grid._session.names()
    grid.even["left", 0] = torch.zeros(1)
    assert ("left", 0) in grid.even and "left" not in grid.even
    grid.even["left", 2] = torch.zeros(1)
    assert ["left"] == list(grid.even)
    with pytest.raises(UnknownKey, match="number has no key 1, it has 0, 2"):
        grid.even["left", 1]
    with pytest.raises(UnknownKey, match=r"takes \[side, number\]"):
        grid.even["left"] = torch.zeros(1)
    grid.marks[3] = 1
    grid.marks[3] = 2
    with pytest.raises(TypeError, match="field 'marks/3': expected int"):
        grid.marks[3] = "x"
    assert [3] == list(grid.marks) and 2 == grid.marks[3]
    del grid.even["left"]
    assert [] == list(grid.even)
