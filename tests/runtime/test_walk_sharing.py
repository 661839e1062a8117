"""What shares an allocation counts once, whoever meets it first."""

import gc
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from session_state.accounting import claims, device_bytes, merge_bytes, walk
from session_state.coverage import Coverage

from .values import Plain, Slotted, T, closure, held


def lazy_clone(tensor: torch.Tensor) -> torch.Tensor:
    clone: torch.Tensor = torch._lazy_clone(tensor)
    return clone


def from_numpy_twice() -> list[object]:
    source = np.zeros(100, np.uint8)
    return [source[10:], torch.from_numpy(source), torch.from_numpy(source)[4:]]


def overlapping() -> list[object]:
    source = np.zeros(100, np.uint8)
    return [torch.from_numpy(source[:60]), torch.from_numpy(source[40:]), source]


@pytest.mark.parametrize(
    "make",
    [
        lambda: [t := T(100), t[3:], t.detach(), t.numpy(), t.untyped_storage()],
        from_numpy_twice,
        overlapping,
        lambda: [t := T(100), np.from_dlpack(t), torch.from_dlpack(t)],
        lambda: [b := bytearray(100), memoryview(b), torch.frombuffer(b, dtype=torch.uint8)],
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
def test_one_allocation_counts_once(make: Any, reverse: bool) -> None:
    """However many tensors, arrays and views lie on it, and in whatever order they are met."""
    values = make()
    assert held(values[::-1] if reverse else values) == {"cpu": 100}
    seen: set[Any] = set()
    total: dict[str, int] = {}
    for value in values:
        merge_bytes(total, device_bytes(value, seen))
    assert total == {"cpu": 100}


def test_a_copy_on_write_clone_counts_once_and_stays_shared() -> None:
    """Counting reads no data pointer, which would un-share the clone."""
    source = T(100)
    clone = lazy_clone(source)
    assert held([source, clone, clone.untyped_storage()]) == {"cpu": 100}
    assert torch._C._is_cow_tensor(clone)


def test_addresses_are_not_reused_while_seen_lives() -> None:
    """Values that were counted and dropped do not hide later ones at the same address."""
    seen: set[Any] = set()
    sizes = [device_bytes(kind(4096), seen) for kind in (T, bytearray, T, bytes) * 25]
    assert sizes == [{"cpu": 4096}] * 100


def test_seen_holds_storages() -> None:
    """The caller's plain set, which then knows any tensor on the same storage."""
    tensor, seen = T(100), set[Any]()
    device_bytes([tensor], seen)
    assert tensor.untyped_storage() in seen
    assert device_bytes(tensor[3:], seen) == {}


def test_an_exported_buffer_is_let_go() -> None:
    """A bytearray can grow after it was counted."""
    payload = bytearray(100)
    seen: set[Any] = set()
    device_bytes(payload, seen)
    payload.extend(b"more")
    assert len(payload) == 104


def test_a_list_of_a_million_ints_holds_nothing_and_is_quick() -> None:
    """Leaves are passed over by type; the time is bounded by the suite, the answer here."""
    assert held(list(range(1_000_000))) == {}


def test_containers_may_change_during_the_walk() -> None:
    """Another thread that adds and removes keys stops no walk."""
    shared: dict[int, object] = {}
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            for key in range(100):
                shared[key] = [key]
            shared.clear()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        assert {()} == {walk(shared, set()).unaccounted for _ in range(300)}
    finally:
        done.set()
        thread.join()


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=25)


@given(SPANS)
def test_overlapping_slices_count_as_the_set_of_their_bytes(
    spans: list[tuple[int, int]],
) -> None:
    """For any slices of one array, what is counted is the number of distinct bytes."""
    source = np.zeros(100, np.uint8)
    seen: set[Any] = set()
    covered: set[int] = set()
    for start, length in spans:
        before = len(covered)
        covered |= set(range(start, start + length))
        piece = torch.from_numpy(source[start : start + length])
        assert len(covered) - before == device_bytes(piece, seen).get("cpu", 0)


@given(st.lists(SPANS, max_size=4))
def test_slices_that_come_in_batches_count_as_the_set_of_their_bytes(
    batches: list[list[tuple[int, int]]],
) -> None:
    """However the slices of one array are spread over walks, and wherever they lie."""
    source = np.zeros(100, np.uint8)
    seen: set[Any] = set()
    covered: set[int] = set()
    for spans in batches:
        before = len(covered)
        covered |= {byte for start, length in spans for byte in range(start, start + length)}
        pieces = [torch.from_numpy(source[start : start + length]) for start, length in spans]
        assert len(covered) - before == device_bytes(pieces, seen).get("cpu", 0)


@given(SPANS, SPANS)
def test_what_is_taken_back_counts_again(
    kept: list[tuple[int, int]], undone: list[tuple[int, int]]
) -> None:
    """After a rollback, the set knows what it knew before and no more."""
    source = np.zeros(100, np.uint8)
    before, after = (
        [torch.from_numpy(source[start : start + length]) for start, length in spans]
        for spans in (kept, undone)
    )
    after += before[:1]
    seen: set[Any] = set()
    device_bytes(before, seen)
    mark, storages = Coverage.of(seen).mark, set(seen)
    counted = device_bytes(after, seen)
    Coverage.of(seen).rollback(mark, seen)
    assert storages == seen
    assert counted == device_bytes(after, seen)


VALUES = st.recursive(
    st.sampled_from([3, None, "x"]) | st.integers(0, 40).map(T),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(max_size=2), inner)
        | st.builds(Slotted, inner, inner)
        | inner.map(closure)
        | st.builds(Plain, inner)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_nesting_holds_what_its_tensors_hold(value: object) -> None:
    """For any nesting, the walk finds exactly the storages that live because of it."""
    storages = {
        id(storage): storage.nbytes()
        for item in _reachable(value)
        if isinstance(item, torch.Tensor)
        for storage in [item.untyped_storage()]
    }
    assert sum(storages.values()) == sum(held(value).values())
    expected = sorted(nbytes for nbytes in storages.values() if nbytes)
    assert expected == sorted(claim.nbytes for claim in claims(value).claims)


def _reachable(value: object) -> list[object]:
    if isinstance(value, types.FunctionType):
        value = [cell.cell_contents for cell in value.__closure__ or ()]
    if isinstance(value, Slotted):
        value = [value.first, value.second]
    if isinstance(value, Plain):
        value = [value.first]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [found for item in value for found in _reachable(item)]
    return [value]


def test_nothing_is_kept_alive_by_a_walk_that_is_over() -> None:
    """With the caller's set gone, the storages die by reference count alone."""
    tensor = T(100)
    storage = weakref.ref(tensor.untyped_storage())
    gc.disable()
    try:
        walk([tensor], set())
        del tensor
        assert storage() is None
    finally:
        gc.enable()
