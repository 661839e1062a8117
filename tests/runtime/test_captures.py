"""What a loan takes back beside what is there, and what ends with what it took."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from session_state import EncodeOnce, FieldFrozen, SessionClosed, SessionStateManager, UnknownKey
from session_state.axes import Axis, CapturedAxis
from session_state.coercions import as_int
from session_state.families import AttrFamily, ObjectFamily
from session_state.fields import Attr, ObjectField, ViewField
from session_state.objects import LatentBuffer
from session_state.view import SessionView
from torch import Tensor

from generated.cosmos3 import Cosmos3Session

Pair = tuple[Tensor, Tensor]

BRANCH = Axis("branch", lambda session: ("cond", "uncond"))
LAYER = Axis("layer", lambda session: (0, 1))


class Lending(SessionView, schema="Lending 0123456789ab"):
    """Fields of every kind that can be lent, and families that end with others."""

    feat_map = Attr[list[Tensor] | None](default=None)
    derived = Attr[int](default=0, coerce=as_int, invalidated_by=("feat_map",))
    text = ObjectField(EncodeOnce[Tensor])
    size = Attr[Any](default=None, once=True)
    count = Attr[int | None](default=None, coerce=as_int, once=True)
    latents = ViewField(LatentBuffer[Tensor], concat=0)

    kv = ObjectFamily(EncodeOnce[Tensor], per=(BRANCH, CapturedAxis("block")))
    tables = AttrFamily[int](per=(BRANCH,), invalidated_by=("kv",))
    sums = AttrFamily[int](per=(LAYER,), invalidated_by=("kv",))
    means = AttrFamily[int](per=(LAYER,), invalidated_by=("sums",))
    shares = AttrFamily[int](per=(BRANCH,), invalidated_by=("kv", "sums"))


@pytest.fixture
def lending() -> Lending:
    return Lending("robot-7", SessionStateManager())


def pair() -> Pair:
    return torch.zeros(1), torch.zeros(1)


@pytest.mark.parametrize("there", ["text", "size"])
def test_what_is_there_outlives_a_refused_capture(lending: Lending, there: str) -> None:
    """All or nothing: the absent one is not taken alone, and nothing is let go of."""
    first = torch.zeros(1)
    lending.text.append(first) if there == "text" else setattr(lending, "size", first)
    module = SimpleNamespace()
    with (
        pytest.raises(FieldFrozen, match="'robot-7', field .*written once.*clear the field"),
        lending.lend(module, size="size", text="text"),
    ):
        assert first is getattr(module, there)
        module.text, module.size = torch.zeros(1), torch.zeros(1)
    assert (first if there == "text" else None) is lending.text.view()
    assert (first if there == "size" else None) is lending.size
    assert {} == vars(module)


def test_what_is_there_is_lent_beside_what_is_not(lending: Lending) -> None:
    """So that the borrower can leave it as it is; what depends on it stays too."""
    lending.feat_map = [torch.zeros(1)]
    lending.derived = 3
    module = SimpleNamespace()
    with lending.lend(module, feat_map="feat_map", text="text"):
        assert lending.feat_map is module.feat_map
        module.text = torch.zeros(1)
    assert lending.text.resident
    assert 3 == lending.derived


@pytest.mark.parametrize("wrong", ["count", "latents"])
def test_every_value_is_looked_at_before_one_is_written(lending: Lending, wrong: str) -> None:
    """Whatever the kind of field."""
    lending.latents = torch.zeros(2)
    lending.feat_map = first = [torch.zeros(1)]
    module = SimpleNamespace()
    lent = {"m": "feat_map", "count": "count", "latents": "latents"}
    with pytest.raises(TypeError), lending.lend(module, **lent):
        module.m, module.count = [torch.zeros(1)], 4
        setattr(module, wrong, "three")
    assert first is lending.feat_map
    assert lending.count is None
    assert lending.latents is not None


def test_what_depends_on_a_lent_field_is_taken_after_it(lending: Lending) -> None:
    """In whichever order they are lent."""
    module = SimpleNamespace()
    with lending.lend(module, tables="tables/cond", kv="kv/cond"):
        module.kv, module.tables = [torch.zeros(1)], 7
    assert 7 == lending.tables["cond"]
    assert ("cond", 0) in lending.kv


@pytest.mark.parametrize("left", [5, None])
def test_a_closed_session_takes_nothing_back(left: int | None) -> None:
    """Nor does it miss what the borrower did not produce."""
    manager, module = SessionStateManager(), SimpleNamespace()
    lending = Lending("robot-7", manager)
    with pytest.raises(SessionClosed), lending.lend(module, count="derived"):
        manager.drop_session("robot-7")
        module.count = left
    assert {} == lending._session.attrs == vars(module)


def test_what_another_captured_meanwhile_stays() -> None:
    """The second capture of a branch changes nothing, and one that is left out is not missed."""
    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    module, layers = SimpleNamespace(), [pair()]
    for given in ([pair()], None):
        with session.lend_transformer(module, branch="cond"):
            session.und_kv["cond"] = layers
            session.freqs_gen["cond"] = tables = pair()
            module.cached_kv = module.cached_freqs_gen = given
        assert layers[0] is session.und_kv["cond", 0]
        assert tables is session.freqs_gen["cond"]
        session.reset_generation()


def test_an_attribute_that_is_set_and_refuses_is_restored() -> None:
    """And one that was never set is not set once more: the error is that of the loan."""

    class Refusing:
        def __init__(self, **attributes: object) -> None:
            vars(self).update(attributes)

        def __setattr__(self, name: str, value: object) -> None:
            if name not in vars(self):
                vars(self)[name] = value
            raise RuntimeError(f"{name} = {value}")

    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    for before in ({}, {"cached_kv": "its own"}):
        module = Refusing(**before)
        with pytest.raises(RuntimeError, match="cached_kv = None"):
            session.lend_transformer(module, branch="cond").__enter__()
        assert before == vars(module)


def test_a_branch_that_ends_during_its_loan_is_not_captured() -> None:
    """It was complete, so its borrower was not asked to produce it."""
    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    session.und_kv["cond"], session.freqs_gen["cond"] = [pair()], pair()
    module = SimpleNamespace()
    with session.lend_transformer(module, branch="cond"):
        session.reset_generation()
    assert {} == session.nbytes_by_device() == vars(module)


def test_a_value_that_ends_during_its_loan_is_not_missed(lending: Lending) -> None:
    """What may be assigned again is taken back beside it."""
    lending.text.append(torch.zeros(1))
    lending.feat_map = []
    module, given = SimpleNamespace(), [torch.zeros(1)]
    with lending.lend(module, text="text", m="feat_map"):
        lending._clear("text")
        module.text, module.m = None, given
    assert given is lending.feat_map
    assert not lending.text.resident


def test_a_capture_that_breaks_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written before it broke is let go."""

    def full(*given: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(AttrFamily, "store", full)
    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    module = SimpleNamespace()
    with pytest.raises(MemoryError), session.lend_transformer(module, branch="cond"):
        module.cached_kv, module.cached_freqs_gen = [pair()], pair()
    assert {} == session.nbytes_by_device() == vars(module)


def test_a_family_ends_by_every_way_there(lending: Lending) -> None:
    """By key where it shares an axis with all between, whole where one between shares none."""
    lending.kv["cond"] = [torch.zeros(1)]
    lending.tables["cond"] = lending.tables["uncond"] = 1
    lending.sums[0] = lending.means[0] = lending.shares["cond"] = lending.shares["uncond"] = 1
    del lending.kv["cond"]
    assert ["uncond"] == list(lending.tables)
    assert {"tables/uncond": 1} == lending._session.attrs


def test_a_circle_of_fields_ends() -> None:
    """Each clears the other, and keeps its own new value."""

    class Circle(SessionView, schema="Circle 0123456789ab"):
        a = Attr[int](default=0, invalidated_by=("b",))
        b = Attr[int](default=0, invalidated_by=("a",))

    view = Circle("r", SessionStateManager())
    view.b = 1
    view.a = 2
    assert (2, 0) == (view.a, view.b)


def test_an_unknown_source_is_found_when_the_class_is_made() -> None:
    """It would never end anything."""
    with pytest.raises(TypeError, match="'b' is invalidated by 'a', which is no field"):

        class Wrong(SessionView, schema="Wrong 0123456789ab"):
            b = Attr[int](default=0, invalidated_by=("a",))


def test_a_layer_beyond_an_incomplete_branch_is_unknown() -> None:
    """The captured size is known before the partner is there; no bool is a layer."""
    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    session.und_kv["cond"] = [pair(), pair()]
    for layer in (2, True):
        with pytest.raises(UnknownKey, match="it has 0 to 1"):
            session.und_kv["cond", layer]


def test_the_same_again_keeps_the_first(lending: Lending) -> None:
    """In a carried family as in an object; a scalar is compared as it would be kept."""
    session = Cosmos3Session("r", SessionStateManager(), num_layers=1)
    session.und_kv["cond"] = [pair()]
    session.freqs_gen["cond"] = first = pair()
    session.freqs_gen["cond"] = (first[0], first[1])
    assert first is session.freqs_gen["cond"]
    lending.count = 480
    lending.count = torch.tensor(480)  # type: ignore[assignment]
    with pytest.raises(FieldFrozen):
        lending.count = torch.tensor(481)  # type: ignore[assignment]


def test_an_encoded_value_is_let_go_by_allocating_and_is_never_none() -> None:
    """What is staged stays beside it."""
    made = EncodeOnce[Tensor]()
    first, second = torch.zeros(1), torch.zeros(1)
    made.append(first)
    made.allocate()
    assert made.view() is None
    made.stage(second)
    with pytest.raises(TypeError, match="expected a value, got None"):
        made.append(None)  # type: ignore[arg-type]
    assert not made.resident
    made.commit()
    assert second is made.view()
