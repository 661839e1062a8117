"""The buffer and the ring, against the plainest model of each."""

import weakref
from collections import deque
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from session_state.accounting import SeenStorages, device_bytes
from session_state.base import StateObject
from session_state.errors import FieldUnset, RingTooShort, SessionClosed
from session_state.objects import FrameRing, LatentBuffer
from session_state.status import Status


def T(nbytes: int) -> torch.Tensor:
    return torch.zeros(nbytes, dtype=torch.uint8)


def buffer(maxlen: int | None = None) -> LatentBuffer[Any]:
    made: LatentBuffer[Any] = LatentBuffer()
    made.allocate(maxlen=maxlen)
    return made


def ring(size: int, along: int = 0) -> FrameRing:
    made = FrameRing()
    made.allocate(size=size, along=along)
    return made


class Buffers(RuleBasedStateMachine):
    """A LatentBuffer beside a deque and one staged item."""

    def __init__(self) -> None:
        super().__init__()
        self.buffer = buffer(3)
        self.committed: deque[int] = deque(maxlen=3)
        self.staged: int | None = None

    @rule(item=st.integers(1))
    def append(self, item: int) -> None:
        self.buffer.append(item)
        self.committed.append(item)

    @rule(items=st.lists(st.integers(1), max_size=5))
    def extend(self, items: list[int]) -> None:
        self.buffer.extend(items)
        self.committed.extend(items)

    @rule(item=st.integers(1))
    def stage(self, item: int) -> None:
        self.buffer.stage(item)
        self.staged = item

    @rule(item=st.integers(1))
    def commit_another(self, item: int) -> None:
        self.buffer.commit(item)
        self.committed.append(item)

    @rule()
    def commit(self) -> None:
        self.buffer.commit()
        if self.staged is not None:
            self.committed.append(self.staged)
        self.staged = None

    @rule()
    def discard(self) -> None:
        self.buffer.discard()
        self.staged = None

    @rule()
    def reset(self) -> None:
        self.buffer.reset()
        self.buffer.allocate(maxlen=3)
        self.committed.clear()
        self.staged = None

    @invariant()
    def reads_as_the_model(self) -> None:
        committed = list(self.committed)
        shown = committed if self.staged is None else [*committed, self.staged][-3:]
        assert committed == self.buffer.view(include_staged=False)
        assert shown == self.buffer.view() == list(self.buffer)
        assert len(committed) == len(self.buffer)


TestBuffers = Buffers.TestCase


class Rings(RuleBasedStateMachine):
    """A FrameRing beside the full history of its chunks."""

    @rule(size=st.integers(1, 5), along=st.integers(-3, 2))
    @precondition(lambda self: not hasattr(self, "ring"))
    def start(self, size: int, along: int) -> None:
        self.ring = ring(size, along)
        self.history: list[torch.Tensor] = []
        self.kept: list[tuple[torch.Tensor, torch.Tensor]] = []

    def chunk(self, frames: int, whole: bool) -> torch.Tensor:
        shape = [2, 3, 4]
        shape[self.ring.along] = frames if whole else frames + 7
        made = torch.randn(shape)
        return made if whole else made.narrow(self.ring.along, 2, frames)

    @rule(frames=st.integers(0, 6), whole=st.booleans())
    @precondition(lambda self: hasattr(self, "ring"))
    def append(self, frames: int, whole: bool) -> None:
        chunk = self.chunk(frames, whole)
        self.ring.append(chunk)
        self.history.append(chunk)

    @rule(frames=st.integers(1, 6), whole=st.booleans())
    @precondition(lambda self: hasattr(self, "ring"))
    def stage_and_commit(self, frames: int, whole: bool) -> None:
        chunk = self.chunk(frames, whole)
        before = self.ring.view(include_staged=False)
        self.ring.stage(chunk)
        assert before is self.ring.view(include_staged=False)
        shown = self.ring.view()
        self.ring.commit()
        self.history.append(chunk)
        committed = self.ring.view()
        assert shown is not None and committed is not None and torch.equal(shown, committed)

    @rule(frames=st.integers(1, 5))
    @precondition(lambda self: hasattr(self, "ring") and len(self.ring))
    def read_the_last(self, frames: int) -> None:
        along = self.ring.along
        if frames > self.ring.size:
            with pytest.raises(RingTooShort):
                self.ring.last(frames)
            return
        whole = torch.cat(self.history, along)
        count = min(frames, whole.shape[along])
        expected = whole.narrow(along, whole.shape[along] - count, count)
        assert torch.equal(expected, self.ring.last(frames))

    @invariant()
    def equals_the_end_of_the_history(self) -> None:
        if not hasattr(self, "ring"):
            return
        along, held = self.ring.along, self.ring.view()
        total = sum(chunk.shape[along] for chunk in self.history)
        if not total:
            assert held is None
            return
        whole = torch.cat(self.history, along)
        count = min(total, self.ring.size)
        assert held is not None
        assert torch.equal(whole.narrow(along, total - count, count), held)
        assert count == len(self.ring)
        assert held.numel() * 4 == self.ring.nbytes
        self.kept.append((held, held.clone()))
        assert all(torch.equal(copy, read) for read, copy in self.kept[-5:])


TestRings = Rings.TestCase


def test_reading_a_ring_makes_no_tensor() -> None:
    """Every read returns the one tensor that the ring keeps."""
    made = ring(3)
    made.append(torch.arange(2))
    made.append(torch.arange(2))
    assert made.view() is made.view()


def test_a_chunk_of_its_own_storage_is_kept_as_it_is() -> None:
    """Nothing is copied where nothing more would be kept alive."""
    made, chunk = ring(3), torch.arange(3)
    made.append(chunk)
    assert chunk is made.view()


def test_a_ring_keeps_no_autograd_history() -> None:
    """Frames older than the ring must not live on in a backward graph."""
    made, chunk = ring(2), torch.ones(1, requires_grad=True)
    for _ in range(3):
        made.append(chunk * 2)
    held = made.view()
    assert held is not None and not held.requires_grad
    assert held.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("chunk", "error"),
    [
        (torch.zeros(1, 2), ValueError),
        (torch.zeros(1, 2, 4), ValueError),
        (torch.zeros(1, 2, 3, dtype=torch.float64), ValueError),
        (torch.zeros(1, 2, 3, device="meta"), ValueError),
        (torch.tensor(3.0), ValueError),
        ([1.0], TypeError),
    ],
)
def test_a_chunk_that_does_not_fit_loses_nothing(chunk: Any, error: type[Exception]) -> None:
    """The error names what the ring holds and what came, and the ring is as it was."""
    made, held = ring(4), torch.randn(2, 2, 3)
    made.append(held)
    for write in (made.append, made.commit, made.stage):
        with pytest.raises(error, match="unbound FrameRing"):
            write(chunk)
    assert held is made.view()


def test_a_chunk_without_frames_changes_nothing() -> None:
    """Neither appended nor staged; a ring that held nothing still reads as None."""
    made = ring(3)
    made.append(torch.zeros(0, 2))
    made.stage(torch.zeros(0, 2))
    assert made.view() is None
    made.commit()
    assert made.view() is None


def test_the_last_frames_of_an_empty_ring() -> None:
    """Nothing was written, which is not the same as a ring that is too short."""
    with pytest.raises(FieldUnset, match="append a chunk first"):
        ring(2).last(1)
    with pytest.raises(ValueError, match="at least 1"):
        ring(2).last(0)
    with pytest.raises(RingTooShort, match="keeps 2"):
        ring(2).last(3)


@pytest.mark.parametrize("size", [0, -1])
def test_a_ring_holds_at_least_one_frame(size: int) -> None:
    """A ring without room is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least 1 frame"):
        ring(size)


@pytest.mark.parametrize("make", [LatentBuffer, FrameRing])
def test_an_unbound_object_wants_to_be_allocated(make: Any) -> None:
    """The reference's meaning: used before allocate() or after reset(), it raises."""
    made = make()
    for use in (made.view, lambda: made.append(T(3)), lambda: made.commit(T(3))):
        with pytest.raises(RuntimeError, match="call allocate"):
            use()
    assert not made.resident
    assert 0 == len(made) == made.nbytes


@pytest.mark.parametrize(
    ("make", "sizes"), [(LatentBuffer, {}), (FrameRing, {"size": 2, "along": 0})]
)
def test_a_bound_object_of_a_closed_session_reads_empty(make: Any, sizes: Any) -> None:
    """Every write raises SessionClosed, and nothing is allocated."""
    made = make()
    made._join(Status("robot-7"), "frames", is_bound=True)
    made.allocate(**sizes)
    made._cell.closed = True
    made.reset()
    writes = [made.append, made.commit, made.stage, lambda _: made.allocate(**sizes)]
    for write in writes:
        with pytest.raises(SessionClosed, match=r"'robot-7'.*'frames'.*new view"):
            write(T(3))
    with pytest.raises(SessionClosed):
        made.commit()
    assert not made.view()
    assert 0 == len(made) == made.nbytes


@pytest.mark.parametrize("made", [buffer(), ring(100)])
def test_staged_bytes_count_and_reset_drops_them(made: Any) -> None:
    """What is staged is held, until commit makes it part of the rest or reset lets it go."""
    made.append(T(60))
    made.stage(T(9))
    assert made.nbytes == 60 + 9
    made.reset()
    assert made.nbytes == 0


def test_evict_reports_what_was_truly_freed() -> None:
    """Bytes that an alias outside still holds are not freed."""
    made, alias = buffer(), T(100)
    made.extend([alias, T(50), bytes(30), np.zeros(20, np.uint8)])
    assert made.nbytes == 200
    assert made.evict() == 100
    assert not made.resident
    assert alias.numel() == 100


def test_evict_knows_which_bytes_objects_live_on() -> None:
    """Objects without weak references are judged by their reference counts."""
    made, kept = buffer(), bytearray(70)
    made.extend([kept, bytearray(30), np.frombuffer(kept, np.uint8)])
    assert made.evict() == 30


class Pool(StateObject[int, int]):
    """A handle: its bytes lie with another component, and it calls no super().__init__()."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks

    def allocate(self) -> None:
        self.blocks = 0

    def commit(self, payload: int | None = None) -> None:
        self.blocks += self._staged or 0 if payload is None else payload

    def view(self, *, include_staged: bool = True) -> int:
        return self.blocks

    def reset(self) -> None:
        self.blocks = 0

    def nbytes_by_device(self, seen: SeenStorages) -> dict[str, int]:
        return {"cuda:0": 16 * self.blocks} if self.blocks else {}

    @property
    def resident(self) -> bool:
        return self.blocks > 0


def test_evict_of_a_handle_reports_its_own_count() -> None:
    """What the walk cannot see is freed as the object says."""
    assert Pool(3).evict() == 16 * 3


def test_the_inert_half_of_the_contract() -> None:
    """Staging records, append writes through, and a rebuild needs a resident source."""
    made, source = Pool(0), Pool(1)
    made.stage(2)
    made.append(3)
    assert made.view() == 3
    made.commit()
    assert made.view() == 5
    made.discard()
    assert not made.recomputable
    made.recompute_source = source
    assert made.recomputable
    source.reset()
    assert not made.recomputable


@given(st.integers(1, 6))
def test_a_small_cut_does_not_keep_its_parent(frames: int) -> None:
    """The parent's storage dies with its last alias, whatever the ring took from it."""
    parent, made = torch.zeros(50, 4), ring(4)
    storage = weakref.ref(parent.untyped_storage())
    made.append(parent[:frames])
    assert {"cpu": min(frames, 4) * 16} == device_bytes(made.view(), set())
    del parent
    assert storage() is None
