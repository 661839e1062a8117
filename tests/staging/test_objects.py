"""The objects of staged fields, and a Value, used by hand."""

import pytest
import torch
from session_state import EncodeOnce, LatentBuffer, SessionClosed, SessionStateManager, Value
from session_state.fields import ObjectField, ValueField, ViewField
from session_state.view import SessionView
from torch import Tensor

from .chunks import chunk, opened, thumbnail


class Clips(SessionView, schema="Clips 1"):
    """A staged buffer that reads as one tensor."""

    clips = ViewField(LatentBuffer[Tensor], concat=0, manager_may=("accumulate", "stage"))


def test_a_value_by_hand_has_the_contract_of_every_object() -> None:
    """Staged beside, seen, committed or discarded; append writes past the staging."""
    value: Value[int | None] = Value()
    with pytest.raises(RuntimeError, match="an unbound Value is not allocated"):
        value.stage(1)
    value.allocate(factory=lambda: 7)
    assert 7 == value.view() and value.resident
    value.stage(1)
    value.append(2)
    assert (2, 1) == (value.view(include_staged=False), value.view())
    value.discard()
    assert 2 == value.view()
    value.stage(None)
    value.commit()
    assert value.view(include_staged=False) is None
    value.commit(3)
    assert 3 == value.view(include_staged=False)
    value.reset()
    assert value.view() is None and not value.resident


def test_what_is_assigned_replaces_and_what_is_appended_then_follows() -> None:
    """In what is staged as in what is committed; None leaves it empty."""
    session = Clips("a", SessionStateManager())
    session.clips = torch.tensor([1, 2])
    session.commit()
    session.object("clips").append(torch.tensor([3]))
    assert [1, 2, 3] == session.clips.tolist()  # type: ignore[union-attr]
    session.clips = torch.tensor([4])
    session.object("clips").append(torch.tensor([5]))
    assert [4, 5] == session.clips.tolist()  # type: ignore[union-attr]
    session.discard()
    assert [1, 2] == session.clips.tolist()  # type: ignore[union-attr]
    session.clips = None
    assert session.clips is None
    session.commit()
    assert session.clips is None


def test_no_payload_gets_past_what_is_staged() -> None:
    """Of a staged field, commit(payload) commits what was staged before it too."""
    session = opened()
    session.append_frames(chunk(1))
    ring = session.object("frames")
    ring.commit(chunk(2))
    assert [1.0, 2.0] == ring.view(include_staged=False)[0, :, 0, 0].tolist()
    assert session.frames is ring.view(include_staged=False)


def test_a_refused_commit_leaves_the_object_as_it_was() -> None:
    """What was staged is staged still."""
    session = opened()
    session.append_frames(chunk(1))
    ring = session.object("frames")
    with pytest.raises(ValueError, match="chunks may differ along dimension 1 only"):
        ring.commit(torch.zeros(1, 1, 2, 2))
    assert ring.view(include_staged=False) is None
    assert [1.0] == session.frames[0, :, 0, 0].tolist()  # type: ignore[index]


def test_a_handle_that_was_kept_refuses_after_the_end() -> None:
    """An object of a closed session stages and commits nothing."""
    manager = SessionStateManager()
    session = Clips("a", manager)
    kept = session.object("clips")
    manager.drop_session("a")
    for use in (lambda: kept.append(torch.zeros(1)), kept.commit):
        with pytest.raises(SessionClosed, match="session 'a' is closed, so field 'clips'"):
            use()


def test_reading_a_staged_ring_copies_nothing() -> None:
    """The frames were joined when they were appended, and are committed as they are."""
    session = opened()
    session.append_frames(chunk(1))
    session.append_frames(chunk(2))
    read = session.frames
    assert read is session.frames
    session.commit()
    assert read is session.frames


def test_what_was_read_does_not_change() -> None:
    """A list that was read keeps its items when more is staged or committed."""
    session = opened()
    session.append_thumbnails(thumbnail(1))
    read = session.thumbnails.view()
    session.append_thumbnails(thumbnail(2))
    session.commit()
    assert 1 == len(read)


def test_a_kind_without_two_contents_cannot_be_staged() -> None:
    """A class that asks for it does not come to be."""
    with pytest.raises(TypeError, match="a field of EncodeOnce cannot be staged"):
        ObjectField(EncodeOnce[Tensor], manager_may=("stage",))
    with pytest.raises(TypeError, match="either a default or a factory"):
        ValueField()  # type: ignore[call-overload]
