"""What is published when a lease ends, and what is left of it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from session_state.manager import SessionStateManager

from generated.dreamzero import DreamZeroSession


def floats(count: int) -> torch.Tensor:
    return torch.zeros(count)


def test_nothing_piles_up_for_a_stats_that_nobody_calls() -> None:
    """A lease publishes what it touched, so that afterwards nothing waits to be published."""
    manager = SessionStateManager()
    for index in range(20):
        with manager.session(DreamZeroSession, f"robot-{index % 2}") as session:
            session.call_count += 1
    manager.close("robot-0")
    assert [] == [*manager.ledger._touched]


def test_a_touched_session_that_died_is_forgotten() -> None:
    """Also one that was evicted and touched after that."""
    manager = SessionStateManager(max_sessions=1)
    evicted = DreamZeroSession("first", manager)
    DreamZeroSession("second", manager)
    evicted.call_count = 1
    manager.stats()
    evicted.ys = floats(2)
    del evicted
    assert 0 == manager.stats().get("detached:cpu", 0)
    assert [] == [*manager.ledger._touched]


@pytest.mark.parametrize("before", [[8], [8, 8], [8, 4, 2]])
@pytest.mark.parametrize("after", [[], [8], [4, 8], [2, 2, 2], [8, 4, 2, 1]])
def test_a_list_is_counted_after_its_items_were_replaced(
    before: list[int], after: list[int]
) -> None:
    """Bytes are those of the tensors that are there, whichever stayed, moved, or came twice."""
    manager = SessionStateManager()
    tensors = {count: floats(count) for count in {*before, *after}}
    with manager.session(DreamZeroSession, "robot") as session:
        session.vae_enc_feat_map = [tensors[count] for count in before]
    with manager.session(DreamZeroSession, "robot") as session:
        assert session.vae_enc_feat_map is not None
        session.vae_enc_feat_map[:] = [tensors[count] for count in after]
    assert 4 * sum({*after}) == manager.stats()["total_nbytes"]
    assert [] == manager.audit()


def test_a_storage_that_moved_leaves_its_address_to_others() -> None:
    """What takes the place of a storage that was freed and made anew counts beside it."""
    # More than the C library ever keeps for itself, so that the system gives the same pages again.
    nbytes = 40 << 20
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "robot") as session:
        session.ys = torch.empty(nbytes, dtype=torch.uint8)
    with manager.session(DreamZeroSession, "robot") as session:
        assert session.ys is not None
        address, storage = session.ys.data_ptr(), session.ys.untyped_storage()
        storage.resize_(0)
        session.clip_feas = torch.empty(nbytes, dtype=torch.uint8)
        if session.clip_feas.data_ptr() != address:
            pytest.skip("this C library placed the new tensor elsewhere")
        storage.resize_(nbytes)
    assert 2 * nbytes == manager.stats()["total_nbytes"]
    assert [] == manager.audit()


def test_a_gradient_that_came_later_is_counted() -> None:
    """A known storage does not make the rest of its tensor known."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "robot") as session:
        session.ys = floats(8)
    with manager.session(DreamZeroSession, "robot") as session:
        assert session.ys is not None
        session.ys.grad = floats(8)
    assert 64 == manager.stats()["total_nbytes"]


def test_tensors_on_several_devices_and_arrays_that_hold_objects_are_walked() -> None:
    """What the glance cannot tell apart is left to the walk."""
    manager = SessionStateManager()
    session = DreamZeroSession("robot", manager)
    session.vae_enc_feat_map = [floats(2), torch.zeros(2, device="meta"), None]
    objects = np.array([floats(4), None], dtype=object)
    session.stitched_buffer.append(objects)
    assert 8 + 16 + objects.nbytes == manager.stats()["total_nbytes"]


class Queue(dict[Any, None]):
    """Counts how often it is listed: an emptied dict is as slow to list as it once was large."""

    listed = 0

    def __iter__(self) -> Iterator[Any]:
        self.listed += 1
        return super().__iter__()


def test_stats_lists_no_queue_that_is_empty() -> None:
    """What once was touched costs nothing: after 10,000 touched sessions as after one."""
    manager = SessionStateManager()
    queue = manager.ledger._touched = Queue()
    manager.get_or_create_session("robot").attrs["count"] = 1
    assert [1, 1] == [len(queue), manager.stats()["sessions"]]
    assert [0, 1] == [len(queue), queue.listed]
    manager.stats()
    assert 1 == queue.listed
