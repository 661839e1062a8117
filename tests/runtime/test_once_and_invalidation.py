"""Values that are written once, and values that end with others."""

import pytest
import torch
from session_state import EncodeOnce, FieldFrozen, SessionStateManager
from session_state.axes import Axis, CapturedAxis
from session_state.coercions import as_int
from session_state.families import AttrFamily, ObjectFamily
from session_state.fields import Attr, ObjectField, ViewField
from session_state.objects import FrameRing
from session_state.view import SessionView
from torch import Tensor


def test_encode_once_keeps_the_first_value_by_reference() -> None:
    """The same tensors again are the same value; others are refused until a reset."""
    held: EncodeOnce[tuple[Tensor, Tensor]] = EncodeOnce()
    held.allocate()
    assert held.view() is None and not held.resident
    value = (torch.zeros(4), torch.ones(4))
    held.append(value)
    held.append((value[0], value[1]))
    assert value is held.view() and held.resident
    assert {"cpu": 32} == held.nbytes_by_device(set())
    with pytest.raises(FieldFrozen, match="an unbound EncodeOnce.*reset it"):
        held.commit((value[0], torch.ones(4)))
    held.reset()
    held.commit((torch.zeros(1), torch.zeros(1)))
    assert {"cpu": 8} == held.nbytes_by_device(set())


def test_encode_once_stages_beside_and_commits() -> None:
    """What is staged counts and is seen; it becomes the value, or is discarded with a reset."""
    held: EncodeOnce[Tensor] = EncodeOnce()
    value = torch.zeros(4)
    held.stage(value)
    assert value is held.view() and held.view(include_staged=False) is None
    assert {"cpu": 16} == held.nbytes_by_device(set()) and not held.resident
    held.commit()
    assert value is held.view(include_staged=False)
    with pytest.raises(FieldFrozen):
        held.stage(torch.zeros(1))
    held.reset()
    held.stage(torch.zeros(1))
    held.reset()
    held.commit()
    assert held.view() is None


def test_evicting_frees_what_no_alias_holds() -> None:
    """The bytes reported are those that are gone, and it can be written again: rebuilt."""
    held: EncodeOnce[Tensor] = EncodeOnce()
    alias = torch.zeros(4)
    held.commit(alias)
    assert 0 == held.evict() and not held.resident
    held.commit(torch.zeros(4))
    assert 16 == held.evict()
    held.commit(alias)


class Chain(SessionView, schema="Chain 0123456789ab"):
    """language -> embeds -> index, and families, buffers and objects that end with their sources."""

    language = Attr[Tensor | None](default=None)
    count = Attr[int](default=0, coerce=as_int)
    embeds = Attr[Tensor | None](default=None, invalidated_by=("language",))
    index = Attr[list[int]](factory=list, invalidated_by=("embeds",))
    counted = Attr[int | None](default=None, invalidated_by=("count",))
    frames = ViewField(FrameRing, allocate=lambda session: {"size": 4, "along": 0})
    newest = Attr[Tensor | None](default=None, invalidated_by=("frames",))
    text = ObjectField(EncodeOnce[Tensor], invalidated_by=("language",))
    layers = ObjectFamily(
        EncodeOnce[Tensor],
        per=(Axis("branch", lambda session: ("a", "b")), CapturedAxis("layer")),
        invalidated_by=("language",),
    )
    marks = AttrFamily[int](per=(Axis("branch", lambda session: ("a", "b")),))
    total = Attr[int | None](default=None, invalidated_by=("marks",))
    notes = AttrFamily[str](
        per=(Axis("branch", lambda session: ("a", "b")), Axis("n", lambda session: range(2))),
        invalidated_by=("marks",),
    )
    once = Attr[Tensor | None](default=None, once=True)
    name = Attr[str | None](default=None, once=True)


def filled() -> Chain:
    session = Chain("c", SessionStateManager())
    session.language = torch.zeros(3)
    session.embeds = torch.zeros(3)
    session.index = [1]
    session.text.append(torch.zeros(3))
    session.layers["a"] = [torch.zeros(3)]
    return session


def cleared(session: Chain) -> list[bool]:
    return [
        session.embeds is None,
        session.index == [],
        session.text.view() is None,
        "a" not in session.layers,
    ]


def test_a_replaced_source_takes_its_dependents_along() -> None:
    """Through any chain and for every way of keeping; an equal tensor is another object."""
    session = filled()
    assert not any(cleared(session))
    session.language = torch.zeros(3)
    assert all(cleared(session))


def test_the_same_object_replaces_nothing() -> None:
    """Assigning what is there, or an equal scalar, keeps the dependents."""
    session = filled()
    session.language = session.language
    assert not any(cleared(session))
    session.count = 1000
    session.counted = 1
    session.count = 500 + 500
    assert 1 == session.counted
    session.count = 7
    assert session.counted is None


def test_the_default_is_what_an_unset_source_holds() -> None:
    """Assigning it replaces nothing."""
    session = filled()
    session.counted = 1
    session.count = 0
    assert 1 == session.counted


class Longer(Chain, schema="Longer 0123456789ab"):
    """A subclass whose own field ends with a field of its base."""

    route = Attr[int | None](default=None, invalidated_by=("language", "count"))


def test_a_subclass_may_depend_on_its_base() -> None:
    """Its views clear what it adds, and those of the base know nothing of it."""
    longer = Longer("l", SessionStateManager())
    longer.route = 1
    longer.count = 5
    assert longer.route is None
    longer.route = 1
    longer._clear("language")
    assert longer.route is None
    base = filled()
    base.language = None
    base.count = 5
    assert all(cleared(base))


def test_what_is_written_once_defaults_to_none() -> None:
    """Another default would be a first value that nobody wrote."""
    with pytest.raises(TypeError, match="written once defaults to None"):
        Attr[list[int]](factory=list, once=True)


def test_a_new_list_of_the_same_tensors_is_another_object() -> None:
    """What is carried is compared by identity alone, whatever it holds."""
    session = filled()
    session.index = indices = [1, 2]
    session.once = session.embeds
    embeds = session.embeds
    session.embeds = embeds
    assert indices is session.index
    assert embeds is not None
    session.embeds = embeds.view(embeds.shape)
    assert [] == session.index


def test_clearing_a_source_clears_its_dependents() -> None:
    """By assignment, by a reset that names the source alone, or half way down the chain."""
    session = filled()
    session.language = None
    assert all(cleared(session))
    session = filled()
    session._clear("language")
    assert all(cleared(session))
    session = filled()
    session._clear("embeds")
    assert [True, True, False, False] == cleared(session)


def test_appending_is_no_replacement() -> None:
    """A buffer that grows keeps its dependents; one that is assigned does not."""
    session = filled()
    session.newest = torch.zeros(1)
    session.object("frames").append(torch.zeros(1, 2))
    assert session.newest is not None
    session.frames = torch.zeros(1, 2)
    assert session.newest is None


def test_writing_or_deleting_a_key_takes_the_dependents_of_its_family_along() -> None:
    """What is derived from a family ends with any change of it."""
    session = filled()
    session.total = 3
    session.marks["a"] = 1
    assert session.total is None
    session.total = 3
    del session.marks["a"]
    assert session.total is None


def test_writing_the_same_value_of_a_key_keeps_its_dependents() -> None:
    """Nothing was replaced, so nothing ends."""
    session = filled()
    session.marks["a"] = 1
    session.notes["a", 0] = "x"
    session.total = 3
    session.marks["a"] = 1
    assert 3 == session.total and "x" == session.notes["a", 0]


def test_families_that_share_an_axis_end_key_by_key() -> None:
    """A change of one branch leaves what depends on another branch alone."""
    session = filled()
    for branch in ("a", "b"):
        session.marks[branch] = 1
        for number in range(2):
            session.notes[branch, number] = "x"
    session.marks["a"] = 2
    assert ["b"] == list(session.notes)
    del session.marks["b"]
    assert [] == list(session.notes)


def test_a_carried_value_written_once() -> None:
    """The first value stays until a reset; the same object and an equal scalar pass."""
    session = filled()
    session.once = None
    first = session.once = torch.zeros(1)
    session.once = first
    session.name = "a"
    session.name = "".join(["a"])
    for name, value in (("once", torch.zeros(1)), ("once", None), ("name", "b")):
        with pytest.raises(FieldFrozen, match=f"session 'c', field '{name}'.*reset it"):
            setattr(session, name, value)
    assert first is session.once
    session._clear("once", "name")
    session.once = torch.ones(1)
