"""One session: what it holds, and what happens when its objects misbehave."""

from typing import Any

import pytest
import torch
from session_state.accounting import SeenStorages, device_bytes
from session_state.attrs import SessionAttr
from session_state.manager import SessionState, SessionStateManager
from session_state.objects import LatentBuffer


def T(nbytes: int) -> torch.Tensor:
    return torch.zeros(nbytes, dtype=torch.uint8)


class Broken(LatentBuffer[Any]):
    """Fails to reset, and counts half of what it holds before it fails to count."""

    def reset(self) -> None:
        raise RuntimeError("cannot reset")

    def nbytes_by_device(self, seen: SeenStorages) -> dict[str, int]:
        device_bytes(self.view()[0], seen)
        raise RuntimeError("cannot count")


def filled(obj: LatentBuffer[Any], *items: object) -> LatentBuffer[Any]:
    obj.allocate()
    obj.extend(items)
    return obj


def test_names_in_the_order_of_their_arrival() -> None:
    """get, put and names are those of the reference system."""
    session = SessionState()
    second, first = filled(LatentBuffer()), filled(LatentBuffer())
    assert second is session.put("second", second)
    session.put("first", first)
    assert session.names() == ["second", "first"]
    assert first is session.get("first")
    assert session.get("third") is None


def test_get_or_create_makes_anew_what_is_of_no_use() -> None:
    """Absent, of another class, or no longer resident."""
    session = SessionState()

    def factory() -> LatentBuffer[Any]:
        return filled(LatentBuffer())

    made = session.get_or_create("x", factory, LatentBuffer)
    assert made is session.get_or_create("x", factory, LatentBuffer)
    made.reset()
    again = session.get_or_create("x", factory, LatentBuffer)
    assert made is not again
    other = session.get_or_create("x", lambda: filled(Broken()), Broken)
    assert type(other) is Broken


def test_reset_clears_objects_and_attrs() -> None:
    """Nothing stale survives, and nothing is held."""
    session = SessionState()
    session.put("x", filled(LatentBuffer(), T(10)))
    session.attrs["y"] = T(5)
    assert session.nbytes == 15
    session.reset()
    assert session.nbytes_by_device() == {}
    assert session.attrs == {}


def test_an_object_that_fails_to_reset_stops_none_of_the_others() -> None:
    """It is dropped from the session, and its error is raised at the end."""
    session = SessionState("robot-7")
    session.put("bad", filled(Broken(), T(10)))
    good = session.put("good", filled(LatentBuffer(), T(10)))
    session.attrs["y"] = 1
    with pytest.raises(RuntimeError, match="cannot reset"):
        session.reset()
    assert session.names() == ["good"]
    assert not good.resident
    assert session.attrs == {}


def test_several_failures_come_together() -> None:
    """Each error is there, in a group that names the session."""
    session = SessionState("robot-7")
    session.put("a", filled(Broken()))
    session.put("b", filled(Broken()))
    with pytest.raises(ExceptionGroup, match="robot-7") as caught:
        session.close()
    assert len(caught.value.exceptions) == 2
    assert session.names() == []


def test_one_storage_in_two_places_counts_once() -> None:
    """An alias between an object and an attr is one allocation."""
    session, shared = SessionState(), T(100)
    session.put("x", filled(LatentBuffer(), shared[5:]))
    session.attrs["y"] = shared
    assert session.nbytes_by_device() == {"cpu": 100}


def test_an_object_that_cannot_count_is_walked() -> None:
    """Also the part that it had counted before it failed is counted, once."""
    session, shared = SessionState(), T(100)
    session.put("bad", filled(Broken(), shared, T(30)))
    session.attrs["alias"] = shared
    assert session.nbytes_by_device() == {"cpu": 130}


def test_what_an_object_that_cannot_count_holds_is_named_once() -> None:
    """Not a second time for the attempt that failed."""
    session = SessionState()
    session.put("bad", filled(Broken(), torch.Generator()))
    assert session.unaccounted() == {"bad": ("torch._C.Generator",)}


def test_what_cannot_be_seen_is_named_by_field() -> None:
    """In an object as in an attr, and nothing else is named."""
    session = SessionState()
    session.put("latents", filled(LatentBuffer(), iter([]), T(3)))
    session.put("frames", filled(LatentBuffer(), T(3)))
    session.attrs |= {"noise": torch.Generator(), "count": 3}
    expected = {"latents": ("list_iterator",), "noise": ("torch._C.Generator",)}
    assert expected == session.unaccounted()
    assert session.nbytes_by_device() == {"cpu": 6}


class Adapter:
    count = SessionAttr[int](default=0, coerce=int)
    ys = SessionAttr[list[int] | None](default=None)

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        self._session = manager.get_or_create_session(session_id)


def test_session_attrs_of_an_adapter_live_in_the_session() -> None:
    """A new adapter sees the same objects, and a reset returns to the defaults."""
    manager, value = SessionStateManager(), [1]
    adapter = Adapter("a", manager)
    assert (adapter.count, adapter.ys) == (0, None)
    adapter.count, adapter.ys = "3", value
    assert Adapter("a", manager).count == 3
    assert value is Adapter("a", manager).ys
    adapter._session.reset()
    assert (adapter.count, adapter.ys) == (0, None)
    assert Adapter.count.default == 0
