"""The surface that generated classes give to model code."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from session_state.coercions import as_bool, as_float, as_int, as_str, optional
from session_state.errors import SessionClassMismatch, SessionClosed, SessionParamsDiffer
from session_state.fields import Attr, ObjectField, Param, ViewField
from session_state.manager import SessionStateManager
from session_state.objects import FrameRing, LatentBuffer
from session_state.view import SessionView
from torch import Tensor

from generated.dreamzero import DreamZeroSession


class Every(SessionView, schema="Every 0123456789ab"):
    """One field of every kind, and params that differ in what they shape."""

    size = Param(as_int, minimum=1, maximum=9, shapes_objects=True, doc="Frames kept.")
    scale = Param(as_float, minimum=0, doc="Per view.")

    count = Attr[int](default=0, coerce=as_int, reason="A counter.")
    ready = Attr[bool](default=False, coerce=as_bool, reason="A flag.")
    label = Attr[str | None](default=None, coerce=optional(as_str), reason="A name.")
    seen = Attr[list[int]](factory=list, reason="Made anew per session.")
    latents = ViewField(LatentBuffer[Tensor], concat=1, reason="Chunks.")
    frames = ViewField(LatentBuffer[NDArray[np.float32]], stack=0, reason="Frames.")
    ring = ViewField(
        FrameRing, allocate=lambda session: {"size": session.size, "along": 0}, reason="Newest."
    )
    items = ObjectField(LatentBuffer[int], reason="Items.")

    def __init__(
        self,
        session_id: str | None,
        manager: SessionStateManager,
        *,
        size: int = 3,
        scale: float = 1.0,
    ) -> None:
        self._open(session_id, manager, size=size, scale=scale)

    def clear(self) -> None:
        self._clear("count", "seen", "latents", "ring", "items")


@pytest.fixture
def manager() -> SessionStateManager:
    return SessionStateManager()


@pytest.fixture
def view(manager: SessionStateManager) -> Iterator[Every]:
    yield Every("robot-7", manager)


def test_reading_an_attr_returns_the_very_object(view: Every, manager: SessionStateManager) -> None:
    """Through any view of the session."""
    value = [1]
    view.seen = value
    assert value is view.seen is Every("robot-7", manager).seen


def test_a_factory_makes_one_default_per_session(view: Every, manager: SessionStateManager) -> None:
    """It is kept from its first read on, so that a change to it stays."""
    view.seen.append(3)
    assert Every("robot-7", manager).seen == [3]
    assert Every("robot-8", manager).seen == []
    view.clear()
    assert view.seen == []


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("count", np.int64(4), 4),
        ("count", True, 1),
        ("ready", True, True),
        ("label", None, None),
        ("label", "x", "x"),
    ],
)
def test_assigning_coerces(view: Every, name: str, given: Any, kept: object) -> None:
    """To a value of exactly the declared type."""
    setattr(view, name, given)
    assert kept == getattr(view, name)
    assert type(kept) is type(getattr(view, name))


@pytest.mark.parametrize(
    ("name", "bad", "expected"),
    [
        ("count", 1.9, "expected int, got 1.9"),
        ("count", "3", "expected int, got '3'"),
        ("ready", 1, "expected bool, got 1"),
        ("ready", None, "expected bool, got None"),
        ("label", 3, "expected str, got 3"),
    ],
)
def test_a_value_of_another_type_is_refused(
    view: Every, name: str, bad: Any, expected: str
) -> None:
    """The message names session, field, what is expected and what came; nothing is changed."""
    before = getattr(view, name)
    with pytest.raises(TypeError, match=f"'robot-7', field '{name}': {expected}"):
        setattr(view, name, bad)
    assert before == getattr(view, name)


@pytest.mark.parametrize(("good", "kept"), [(1, 1.0), (2.5, 2.5), (np.float32(0.5), 0.5)])
def test_floats(good: Any, kept: float) -> None:
    """Ints and NumPy floats become plain floats; bools and texts do not."""
    assert kept == as_float(good)
    assert type(as_float(good)) is float
    for bad in (True, "1.0", None):
        with pytest.raises(TypeError, match="expected float"):
            as_float(bad)


def test_unknown_names_cannot_be_set(view: Every) -> None:
    """In the class as in a subclass of it, and without a __setattr__."""

    class Own(Every):
        extra = Attr[int](default=5)

    own = Own("other", SessionStateManager())
    own.extra = 6
    assert own.extra == 6
    for target in (view, own):
        with pytest.raises(AttributeError):
            target.cuont = 3
    assert "__setattr__" not in vars(SessionView) | vars(Every) | vars(Own)


def test_a_class_gives_its_descriptors() -> None:
    """With the reason that the schema records."""
    assert "A counter." == Every.count.reason == Every.count.__doc__
    assert isinstance(Every.items, ObjectField)
    assert isinstance(Every.latents, ViewField)
    assert Every.size.__doc__ == "Frames kept."


def test_params_are_read_and_never_assigned(view: Every) -> None:
    """They are fixed when the view is made."""
    assert (view.size, view.scale) == (3, 1.0)
    with pytest.raises(AttributeError, match="'robot-7': param 'size'.*pass size= to Every"):
        view.size = 4


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"size": 0}, ValueError, "'a', param 'size': expected at least 1 and at most 9, got 0"),
        ({"size": 10}, ValueError, "got 10"),
        ({"size": 2.0}, TypeError, "'a', param 'size': expected int, got 2.0"),
        ({"scale": -1.0}, ValueError, "param 'scale': expected at least 0, got -1.0"),
    ],
)
def test_bad_params_create_nothing(
    manager: SessionStateManager, params: Any, error: type[Exception], message: str
) -> None:
    """They are checked before the session is opened."""
    with pytest.raises(error, match=message):
        Every("a", manager, **params)
    assert (len(manager), manager.misses) == (0, 0)


def test_params_that_shape_objects_belong_to_the_session(manager: SessionStateManager) -> None:
    """The first view records them; the others are each view's own."""
    first = Every("a", manager, size=2, scale=3.0)
    assert (first.size, Every("a", manager, size=2, scale=4.0).scale) == (2, 4.0)
    with pytest.raises(SessionParamsDiffer, match="'a' was opened with size=2, got 3"):
        Every("a", manager, size=3)
    manager.drop_session("a")
    assert Every("a", manager, size=3).size == 3


def test_a_session_is_open_under_one_schema(manager: SessionStateManager) -> None:
    """A subclass is the same schema; another class, or another version, is not."""

    class Own(Every):
        pass

    class Changed(Every, schema="Every ba9876543210"):
        pass

    view = Every("a", manager)
    view.count = 3
    assert Own("a", manager).count == 3
    for other in (Changed, DreamZeroSession):
        with pytest.raises(SessionClassMismatch, match="'a' is open as 'Every 0123456789ab'"):
            other("a", manager)
    assert SessionView("a", manager).nbytes_by_device().get("cpu", 0) == 0


def test_a_view_field_reads_as_one_value(view: Every) -> None:
    """None when empty; concatenated or stacked; one item with concat as it is."""
    assert (view.latents, view.frames, view.ring) == (None, None, None)
    first, second = torch.randn(2, 1), torch.randn(2, 3)
    view.object("latents").append(first)
    assert first is view.latents
    view.object("latents").append(second)
    assert torch.equal(torch.cat([first, second], 1), view.latents)
    frames = [np.ones(2, np.float32), np.zeros(2, np.float32)]
    view.object("frames").extend(frames)
    assert np.array_equal(np.stack(frames), view.frames)


def test_assigning_a_view_field_clears_and_seeds(view: Every) -> None:
    """A ring keeps the newest, a stack reads back as it was, None clears."""
    ring, latents = view.object("ring"), view.object("latents")
    for _ in range(2):
        view.ring = torch.arange(5)
        view.latents = torch.ones(2, 2)
        view.frames = np.eye(3, dtype=np.float32)
        assert view.ring.tolist() == [2, 3, 4]
        assert view.latents.shape == (2, 2)
        assert np.array_equal(np.eye(3), view.frames)
    assert (ring, latents) == (view.object("ring"), view.object("latents"))
    view.ring = view.latents = view.frames = None
    assert (view.ring, view.latents, view.frames) == (None, None, None)


@pytest.mark.parametrize(("bad", "error"), [([1], TypeError), (torch.tensor(1), ValueError)])
def test_a_bad_seed_loses_nothing(view: Every, bad: Any, error: type[Exception]) -> None:
    """It is refused before the field is cleared."""
    view.ring = torch.arange(2)
    with pytest.raises(error, match="'robot-7', field 'ring'"):
        view.ring = bad
    assert view.ring.tolist() == [0, 1]


def test_an_object_field_is_not_assigned(view: Every) -> None:
    """The message says what to call instead."""
    with pytest.raises(AttributeError, match="'items'.*append_items"):
        view.items = 3
    assert view._session.names() == ["latents", "frames", "ring", "items"]


@pytest.mark.parametrize(("name", "says"), [("count", "is carried"), ("nonsense", "is no field")])
def test_only_objects_have_an_object(view: Every, name: str, says: str) -> None:
    """The message says which of the two mistakes it is."""
    with pytest.raises(AttributeError, match=f"'robot-7': '{name}' {says}.*of Every"):
        view.object(name)


def test_a_reset_keeps_the_objects_and_their_sizes(view: Every) -> None:
    """Handles stay valid and read empty; what is not named survives."""
    items = view.items
    view.ring = torch.arange(3)
    items.append(1)
    view.count, view.ready = 5, True
    view.clear()
    assert items is view.items
    assert (items.view(), view.ring, view.count, view.ready) == ([], None, 0, True)
    items.append(2)
    view.ring = torch.arange(9)
    assert (view.items.view(), view.ring.tolist()) == ([2], [6, 7, 8])


def test_a_raw_reset_is_mended_at_the_next_read(view: Every) -> None:
    """The same object is allocated again, while the session is open."""
    items = view.items
    items.append(1)
    view._session.reset()
    assert not items.resident
    assert items is view.items
    assert view.items.view() == []


class Stubborn(LatentBuffer[int]):
    def reset(self) -> None:
        raise RuntimeError("cannot reset")


class Fragile(SessionView, schema="Fragile 0123456789ab"):
    first = ObjectField(Stubborn)
    second = ObjectField(LatentBuffer[int])
    count = Attr[int](default=0)


def test_a_reset_goes_on_when_an_object_fails(manager: SessionStateManager) -> None:
    """The others are cleared, the broken one is replaced, and its error is raised."""
    view = Fragile("a", manager)
    broken = view.first
    view.second.append(1)
    view.count = 3
    with pytest.raises(RuntimeError, match="cannot reset"):
        view._clear("first", "second", "count")
    assert (view.second.view(), view.count) == ([], 0)
    assert broken is not view.first


WRITES: dict[str, Any] = {
    "count": lambda view: setattr(view, "count", 1),
    "seen": lambda view: setattr(view, "seen", []),
    "ring": lambda view: setattr(view, "ring", torch.arange(2)),
    "latents": lambda view: setattr(view, "latents", None),
    "items": lambda view: view.object("items").append(1),
    "count, by a reset": lambda view: view.clear(),
}


@pytest.mark.parametrize("write", WRITES)
def test_writing_to_a_closed_session_raises(
    view: Every, manager: SessionStateManager, write: str
) -> None:
    """The message names the session, the field and what to do; nothing is stored."""
    manager.drop_session("robot-7")
    field = write.split(",")[0]
    with pytest.raises(SessionClosed, match=f"'robot-7' is closed.*'{field}'.*new view"):
        WRITES[write](view)
    assert view._session.attrs == {}


@pytest.mark.parametrize("raw_put", [False, True])
def test_reading_a_closed_session_gives_defaults(
    view: Every, manager: SessionStateManager, raw_put: bool
) -> None:
    """Nothing is allocated or stored, also where an adapter has put an object of its own."""
    view.count, view.label, view.ring = 3, "x", torch.arange(2)
    view.items.append(1)
    if raw_put:
        view._session.put("items", LatentBuffer[int]()).allocate()
        assert view.items.view() == []
    manager.drop_session("robot-7")
    assert (view.count, view.label, view.seen) == (0, None, [])
    assert (view.ring, view.latents, view.frames) == (None, None, None)
    assert (view.items.view(), len(view.items)) == ([], 0)
    assert not view.items.resident
    assert {} == view._session.attrs == view.nbytes_by_device()
    assert repr(view) == "<Every 'robot-7' closed>"


def test_a_view_made_again_after_eviction_opens_beside_the_old_one() -> None:
    """The old view keeps the detached session; `drop_session` closes the one in the table."""
    manager = SessionStateManager(max_sessions=1)
    old = Every("a", manager)
    old.count = 1
    Every("b", manager)
    new = Every("a", manager)
    assert (old.count, new.count) == (1, 0)
    manager.drop_session("a")
    old.count = 2
    assert old.count == 2
    with pytest.raises(SessionClosed):
        new.count = 1


def test_the_session_counts_both_placements(view: Every) -> None:
    """Objects and attrs, each storage once."""
    tensor = torch.zeros(2, 4)
    view.latents = tensor
    view.seen = [tensor]
    assert view.nbytes_by_device() == {"cpu": 32}
    assert repr(view) == "<Every 'robot-7' open>"


def test_the_sample_works_as_it_is_spelled(manager: SessionStateManager) -> None:
    """Appends, both resets with their survivors, and the ring that counts latent frames."""
    session = DreamZeroSession("a", manager, vae_encoder_window=2)
    for number in range(6):
        session.append_stitched_buffer(np.full((2, 2, 3), number, np.uint8))
        session.append_video_latents(torch.full((1, 1, 1), float(number)))
        session.append_vae_encoder_out(torch.full((1, 1, 1), float(number)))
    session.ys = torch.ones(1)
    assert [int(frame.max()) for frame in session.stitched_buffer] == [2, 3, 4, 5]
    session.reset_inference()
    assert session.ys is None
    assert session.vae_encoder_out.flatten().tolist() == [4.0, 5.0]
    assert session.video_latents.flatten().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert session.stitched_buffer.view() == []
    session.reset_session()
    assert (session.vae_encoder_out, session.video_latents) == (None, None)


def test_an_attr_takes_one_default() -> None:
    """Neither none nor both."""
    for options in ({}, {"default": 1, "factory": int}):
        with pytest.raises(TypeError, match="either a default or a factory"):
            Attr(**options)
