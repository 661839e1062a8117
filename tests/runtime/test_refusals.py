"""What is refused is refused before anything is made, evicted or lost, and says where."""

import math
from abc import ABC
from typing import Any

import numpy as np
import pytest
import torch
from session_state import FrameRing, LatentBuffer, SessionExists, SessionStateManager, StateObject
from session_state.coercions import as_float, conforms
from session_state.fields import Attr, Param, ViewField
from session_state.view import SessionView

from generated.cosmos3 import Cosmos3Session
from generated.dreamzero import DreamZeroSession

from .values import T


def full() -> SessionStateManager:
    manager = SessionStateManager(max_sessions=2)
    DreamZeroSession("a", manager)
    DreamZeroSession("b", manager)
    return manager


@pytest.mark.parametrize("value", [0, 2.5, "4", None, True and "x", 10**30])
def test_a_generation_with_a_bad_param_makes_and_evicts_nothing(value: Any) -> None:
    """The params are looked at before the session is made."""
    manager = full()
    with (
        pytest.raises((TypeError, ValueError), match="session 'g', param 'frames_per_chunk'"),
        manager.generation(DreamZeroSession, "g", frames_per_chunk=value),
    ):
        pass
    assert "a" in manager and "b" in manager and "g" not in manager
    assert (2, 0) == (manager.misses, manager.evictions)


class Opening(DreamZeroSession):
    """A view whose constructor opens further sessions and generations."""

    others: list[str] = []

    def __init__(self, session_id: str | None, manager: SessionStateManager) -> None:
        with manager.generation(Cosmos3Session, "inner", num_layers=1) as inner:
            self.others.append(inner.session_id)
        self.others.append(DreamZeroSession("other", manager).session_id)
        super().__init__(session_id, manager)


def test_a_constructor_that_opens_others_gets_each_its_own() -> None:
    """Sessions and generations opened while a generation begins are those that were asked for."""
    manager = SessionStateManager()
    with manager.generation(Opening, "outer") as view:
        assert ["inner", "other"] == view.others
        assert "outer" == view.session_id
        assert "outer" in manager and "other" in manager and "inner" not in manager
        with pytest.raises(SessionExists), manager.generation(DreamZeroSession, "outer"):
            pass
    assert "outer" not in manager and "other" in manager


class Floating(SessionView, schema="Floating 0123456789ab"):
    scale = Param(as_float, minimum=0, maximum=1, shapes_objects=True)

    def __init__(self, session_id: str, manager: SessionStateManager, *, scale: float) -> None:
        self._open(session_id, manager, scale=scale)


def test_nan_lies_outside_of_any_bound() -> None:
    """A param that compares with nothing is refused, and nothing is recorded."""
    manager = SessionStateManager()
    with pytest.raises(ValueError, match="expected at least 0 and at most 1, got nan"):
        Floating("f", manager, scale=math.nan)
    assert 0.5 == Floating("f", manager, scale=0.5).scale


class Mixin:
    """Forgets its slots."""


class SlottedMixin:
    __slots__ = ()


def test_a_base_with_a_dict_is_refused_and_others_are_not() -> None:
    """A mistyped name must raise in every subclass, whatever it is mixed with."""
    with pytest.raises(TypeError, match="its base Mixin gives instances a __dict__"):
        type(DreamZeroSession)("Mixed", (Mixin, DreamZeroSession), {})

    class Mixed(SlottedMixin, DreamZeroSession, ABC):
        pass

    with pytest.raises(AttributeError):
        Mixed("a", SessionStateManager()).typo = 1  # type: ignore[attr-defined]


def test_declared_bytes_check_params_as_a_session_does() -> None:
    """What a view would refuse, admission cannot count on."""
    for value in (0, 2.5, "4", -1):
        with pytest.raises((TypeError, ValueError), match="param 'vae_encoder_window'"):
            DreamZeroSession.declared_nbytes(vae_encoder_window=value)  # type: ignore[arg-type]


def test_a_buffer_allocates_empty_and_stages_only_when_allocated() -> None:
    """Allocation lets go of what was staged, in a buffer as in a ring."""
    buffer: LatentBuffer[torch.Tensor] = LatentBuffer()
    with pytest.raises(RuntimeError, match="not allocated"):
        buffer.stage(T(10))
    buffer.allocate()
    buffer.stage(T(10))
    buffer.allocate()
    assert [] == buffer.view() and 0 == buffer.nbytes
    ring = FrameRing()
    ring.allocate(size=2, along=0)
    ring.stage(torch.zeros(1, 3))
    ring.allocate(size=2, along=0)
    assert ring.view() is None


def test_a_chunk_must_fit_what_is_staged() -> None:
    """An empty ring with a staged chunk takes none that the two could not be read with."""
    ring = FrameRing()
    ring.allocate(size=3, along=0)
    ring.stage(torch.zeros(1, 4))
    with pytest.raises(ValueError, match=r"the ring holds \(1, 4\)"):
        ring.append(torch.zeros(1, 5))
    ring.append(torch.zeros(1, 4))
    ring.commit()
    assert 2 == len(ring)


def test_a_staged_chunk_keeps_no_larger_storage_alive() -> None:
    """What is staged is copied out of the clip that it is a view of."""
    ring = FrameRing()
    ring.allocate(size=2, along=0)
    ring.stage(torch.zeros(100, 4)[:1])
    assert {"cpu": 16} == ring.nbytes_by_device(set())


@pytest.mark.parametrize("frames", [True, np.int64(1)])
def test_last_takes_any_index(frames: Any) -> None:
    """As Python's own slices do."""
    ring = FrameRing()
    ring.allocate(size=2, along=0)
    ring.append(torch.zeros(2, 4))
    assert (1, 4) == tuple(ring.last(frames).shape)


def test_a_sparse_chunk_is_refused() -> None:
    """A ring holds dense frames, and says so before it tries."""
    ring = FrameRing()
    ring.allocate(size=2, along=0)
    with pytest.raises(TypeError, match="expected a dense tensor"):
        ring.append(torch.zeros(2, 4).to_sparse())


class Reporting(StateObject[Any, Any]):
    """Says whatever it is told to about its bytes."""

    def __init__(self, said: Any) -> None:
        self.said, self.held = said, T(100)

    def allocate(self) -> None: ...
    def commit(self, payload: Any = None) -> None: ...
    def view(self, *, include_staged: bool = True) -> Any: ...
    def reset(self) -> None: ...
    def nbytes_by_device(self, seen: Any) -> Any:
        return {"cpu": self.said}

    @property
    def resident(self) -> bool:
        return True


@pytest.mark.parametrize("said", [-50, "12", 1.9, None])
def test_an_object_that_reports_no_number_of_bytes_is_walked(said: Any) -> None:
    """Totals never go below what is held."""
    manager = SessionStateManager()
    manager.get_or_create_session("a").put("x", Reporting(said))
    assert 100 == manager.stats()["total_nbytes"]


def test_what_an_object_and_a_value_of_one_name_hide_is_both_named() -> None:
    """Neither takes the other's place."""
    session = SessionStateManager().get_or_create_session("a")
    buffer: LatentBuffer[Any] = LatentBuffer()
    buffer.allocate()
    buffer.append(torch.Generator())
    session.put("x", buffer)
    session.attrs["x"] = iter([])
    assert {"x": ("torch._C.Generator", "list_iterator")} == session.unaccounted()


class Interrupted(Reporting):
    def reset(self) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_while_dropping_still_releases_the_rest() -> None:
    """Ctrl-C comes through, after everything else was let go of."""
    manager = SessionStateManager()
    session = manager.get_or_create_session("a")
    session.put("x", Interrupted(0))
    session.attrs["y"] = T(10)
    with pytest.raises(KeyboardInterrupt):
        manager.drop_session("a")
    assert {} == session.attrs and [] == session.names()


class Ending:
    """An int-like whose reading ends the session."""

    def __init__(self, manager: SessionStateManager) -> None:
        self.manager = manager

    def __index__(self) -> int:
        self.manager.drop_session("a")
        return 5


def test_a_write_whose_coercion_ends_the_session_is_refused() -> None:
    """The session is looked at last, so nothing lands in a closed one."""
    manager = SessionStateManager()
    session = DreamZeroSession("a", manager)
    with pytest.raises(RuntimeError, match="session 'a' is closed"):
        session.call_count = Ending(manager)  # type: ignore[assignment]
    assert {} == session._session.attrs


def test_a_message_does_not_show_a_tensor() -> None:
    """A wrong value is named by its type: showing it may be large, or wait for a device."""
    session = DreamZeroSession("a", SessionStateManager())
    with pytest.raises(
        TypeError, match=r"session 'a', field 'call_count': expected int, got Tensor$"
    ):
        session.call_count = torch.zeros(100, 100)  # type: ignore[assignment]


class Sized(SessionView, schema="Sized 0123456789ab"):
    """Its ring cannot be made with the size that it is opened with."""

    size = Param(lambda value: value, shapes_objects=True)
    ring = ViewField(FrameRing, allocate=lambda session: {"size": session.size, "along": 0})
    note = Attr[int](default=0)

    def __init__(self, session_id: str, manager: SessionStateManager, *, size: int) -> None:
        self._open(session_id, manager, size=size)


def test_an_opening_that_fails_is_not_recorded() -> None:
    """The next view opens the session with params of its own."""
    manager = SessionStateManager()
    with pytest.raises(ValueError, match="at least 1 frame, got size 0"):
        Sized("s", manager, size=0)
    assert 2 == Sized("s", manager, size=2).object("ring").size


def test_items_that_do_not_join_name_their_field() -> None:
    """Reading them as one value says which field of which session holds them."""
    session = DreamZeroSession("a", SessionStateManager())
    session.append_video_latents(torch.zeros(1, 2, 1, 4, 4))
    session.append_video_latents(torch.zeros(1, 2, 1, 5, 5))
    with pytest.raises(ValueError, match="session 'a', field 'video_latents': its items do not"):
        session.video_latents  # noqa: B018


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        [(T(1), T(1)), (T(1),)],
        [(T(1), 1)],
        [[T(1), T(1)]],
    ],
)
def test_a_family_takes_values_of_its_type_only(value: Any) -> None:
    """What a schema declares as a pair of tensors is never anything else."""
    session = Cosmos3Session("r", SessionStateManager(), num_layers=2)
    with pytest.raises(
        TypeError, match=r"field 'und_kv/cond/\d': expected tuple\[Tensor, Tensor\]"
    ):
        session.und_kv["cond"] = value
    with pytest.raises(
        TypeError, match=r"field 'freqs_gen/cond': expected tuple\[Tensor, Tensor\]"
    ):
        session.freqs_gen["cond"] = value[-1]
    assert {} == session.nbytes_by_device()


def test_conforms_knows_the_types_of_the_language() -> None:
    """Unions, tuples of any length, lists and scalars; an unknown annotation refuses nothing."""
    tensor = T(1)
    assert conforms(None, int | None) and conforms(1, int | None) and not conforms("x", int | None)
    assert conforms((1, 2, 3), tuple[int, ...]) and not conforms((1, "x"), tuple[int, ...])
    assert conforms([tensor, None], list[torch.Tensor | None]) and not conforms([1], list[str])
    assert conforms({"a": 1}, dict[str, int]) and not conforms([1], dict[str, int])
    assert conforms(object(), Any)
