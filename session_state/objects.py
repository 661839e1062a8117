"""The kinds of state object that every model can use."""

from collections import deque
from collections.abc import Iterable, Iterator
from operator import index
from typing import Any, TypeVar

import torch
from torch import Tensor

from .accounting import SeenStorages, device_bytes
from .base import StateObject
from .errors import FieldFrozen, FieldUnset, RingTooShort
from .stageable import Stageable, Staged

Item = TypeVar("Item")
Store = TypeVar("Store")
Value = TypeVar("Value")

_SCALARS = (bool, int, float, str)


class LatentBuffer(Stageable[Item, list[Item], tuple[Item, ...]]):
    """Items in the order of their arrival; with `maxlen`, the newest so many of them.

    Items are kept as they are, never copied. `len()` counts what is committed, `view()` and
    iteration include what is staged; so does `len()` where every write is staged.
    """

    def __init__(self) -> None:
        self._items: deque[Item] | None = None

    def allocate(self, *, maxlen: int | None = None) -> None:
        """Start empty; `maxlen` counts items, None keeps all of them."""
        self._require_open()
        try:
            self._items = deque(maxlen=maxlen)
        except (OverflowError, ValueError) as error:
            raise ValueError(f"{self._place}: maxlen={maxlen!r} is no length ({error})") from None
        self.discard()

    def stage(self, payload: Item) -> None:
        """Hold one item beside the buffer, in place of what is staged. Raises as `append` does."""
        self._writable()
        self._stage((payload,), replaces=False)

    def append(self, payload: Item) -> None:
        """Append one item. Raises SessionClosed, and RuntimeError when not allocated."""
        if self._stages:
            self.extend((payload,))
        else:
            self._writable().append(payload)
            self._touched()

    def extend(self, payloads: Iterable[Item]) -> None:
        """Append several items in order. Raises as `append` does."""
        items = self._writable()
        if self._stages:
            staged = self._pending or Staged((), replaces=False)
            newest = deque((*staged.content, *payloads), items.maxlen)
            self._stage(tuple(newest), replaces=staged.replaces)
        else:
            items.extend(payloads)
            self._touched()

    def view(self, *, include_staged: bool = True) -> list[Item]:
        """The items, oldest first, as a new list; a staged one is the last."""
        self._touched()
        items = self._items
        if items is None:
            if self._is_bound:
                return []
            items = _allocated(items, self._place)
        return list(self._after(items) if include_staged else items)

    def __len__(self) -> int:
        if self._items is None:
            return 0
        return len(self._after(self._items) if self._stages else self._items)

    def __iter__(self) -> Iterator[Item]:
        return iter(self.view())

    def reset(self) -> None:
        """Drop the items, what is staged, and the allocation."""
        self._items = None
        self.discard()

    @property
    def resident(self) -> bool:
        """Whether the buffer is allocated."""
        return self._items is not None

    def _after(self, items: deque[Item]) -> deque[Item]:
        """The items as a commit would leave them."""
        staged = self._pending
        if staged is None:
            return items
        return deque((*(() if staged.replaces else items), *staged.content), items.maxlen)

    def _settle(self) -> None:
        self._items, self._pending = self._after(self._writable()), None

    def _stage_empty(self) -> None:
        self._stage((), replaces=True)

    def _contents(self) -> tuple[object, object]:
        return self._items, self._waiting

    def _saved(self) -> tuple[Any, ...]:
        return self._items, self._pending

    def _put_back(self, saved: tuple[Any, ...]) -> None:
        self._items, self._pending = saved

    def _writable(self) -> deque[Item]:
        self._require_open()
        return _allocated(self._items, self._place)


class FrameRing(Stageable[Tensor, Tensor | None, Tensor | None]):
    """The newest `size` frames along dimension `along`, however the chunks were cut.

    One tensor is kept, and reading returns that tensor. It equals
    `torch.cat(every chunk so far, along)` narrowed to its last `size` frames, bit for bit, without
    its autograd history. A write never changes what was read before: it makes a new tensor. A chunk
    that is a view of a larger storage is copied, so that held bytes never exceed `size` frames;
    what is staged is held besides.
    """

    size: int
    along: int

    def __init__(self) -> None:
        self._allocated = False
        self._frames: Tensor | None = None

    def allocate(self, *, size: int, along: int) -> None:
        """Start empty, for at most `size` frames. Raises ValueError for a size below 1."""
        self._require_open()
        if index(size) < 1:
            raise ValueError(f"{self._place}: a ring holds at least 1 frame, got size {size}")
        self.size, self.along = index(size), index(along)
        self._frames = None
        self.discard()
        self._allocated = True

    def stage(self, payload: Tensor) -> None:
        """Hold a chunk beside the ring, in place of what is staged. Raises as `append` does."""
        self._vet_next(payload)
        if payload.shape[self.along]:
            self._stage(self._newest(None, payload), replaces=False)

    def append(self, payload: Tensor) -> None:
        """Append the frames of one chunk.

        Raises SessionClosed, RuntimeError when not allocated, TypeError for what is no tensor, and
        ValueError when rank, shape beside `along`, dtype or device differ from what the ring holds.
        The ring is then as it was.
        """
        self._vet_next(payload)
        if not payload.shape[self.along]:
            return
        if self._stages:
            # Joined now, so that reading and committing what is staged copy nothing.
            self._stage(self._newest(self._after(), payload), replaces=True)
        else:
            self._frames = self._newest(self._frames, payload)
            self._touched()

    def view(self, *, include_staged: bool = True) -> Tensor | None:
        """The frames held, oldest first, or None when there are none."""
        self._touched()
        if not self._is_bound:
            self._require_allocated()
        return self._after() if include_staged else self._frames

    def last(self, frames: int) -> Tensor:
        """The newest `frames` frames, or fewer while the stream is young; a view of the ring.

        Raises ValueError below 1, RingTooShort above `size`, and FieldUnset when it is empty.
        """
        frames = int(index(frames))
        if frames < 1:
            raise ValueError(f"{self._place}: ask for at least 1 frame, got {frames}")
        held = self.view()
        if self._allocated and frames > self.size:
            raise RingTooShort(
                f"{self._place}: {frames} frames were asked for and the ring keeps {self.size}; "
                "allocate a larger ring"
            )
        if held is None:
            raise FieldUnset(f"{self._place}: the ring is empty; append a chunk first")
        count = min(frames, held.shape[self.along])
        return held.narrow(self.along, held.shape[self.along] - count, count)

    def __len__(self) -> int:
        frames = self._after() if self._stages else self._frames
        return 0 if frames is None else frames.shape[self.along]

    def reset(self) -> None:
        """Drop the frames, what is staged, and the allocation."""
        self._allocated = False
        self._frames = None
        self.discard()

    @property
    def resident(self) -> bool:
        """Whether the ring is allocated."""
        return self._allocated

    def _vet(self, payload: Tensor) -> None:
        if not isinstance(payload, Tensor):
            raise TypeError(f"{self._place}: expected a tensor, got {type(payload).__name__}")
        if payload.layout is not torch.strided:
            raise TypeError(f"{self._place}: expected a dense tensor, got {payload.layout}")
        if not -payload.ndim <= self.along < payload.ndim:
            raise ValueError(
                f"{self._place}: a chunk of shape {tuple(payload.shape)} has no dimension "
                f"{self.along} to count frames along"
            )

    def _vet_next(self, payload: Tensor) -> None:
        self._require_open()
        self._require_allocated()
        self._vet(payload)
        # A chunk must fit what is staged too, since the two are read together.
        staged = self._pending
        if staged is not None and (staged.replaces or self._frames is None):
            held = staged.content
        else:
            held = self._frames
        if held is not None and self._traits(payload) != self._traits(held):
            raise ValueError(
                f"{self._place}: the ring holds {_described(held)}, got "
                f"{_described(payload)}; chunks may differ along dimension {self.along} only"
            )

    def _traits(self, chunk: Tensor) -> tuple[list[int], torch.dtype, torch.device]:
        shape = list(chunk.shape)
        shape[self.along] = 0
        return shape, chunk.dtype, chunk.device

    def _newest(self, held: Tensor | None, chunk: Tensor) -> Tensor:
        chunk = chunk.detach() if chunk.requires_grad else chunk
        count = chunk.shape[self.along]
        kept = 0 if held is None else min(held.shape[self.along], self.size - count)
        if held is not None and kept > 0:
            start = held.shape[self.along] - kept
            return torch.cat([held.narrow(self.along, start, kept), chunk], self.along)
        if count > self.size:
            chunk = chunk.narrow(self.along, count - self.size, self.size)
        owned = chunk.untyped_storage().nbytes() <= chunk.numel() * chunk.element_size()
        return chunk if owned else chunk.clone()

    def _after(self) -> Tensor | None:
        """The frames as a commit would leave them."""
        staged = self._pending
        if staged is None:
            return self._frames
        if staged.replaces or staged.content is None:
            return staged.content
        return self._newest(self._frames, staged.content)

    def _settle(self) -> None:
        self._require_allocated()
        self._frames, self._pending = self._after(), None

    def _stage_empty(self) -> None:
        self._stage(None, replaces=True)

    def _contents(self) -> tuple[object, object]:
        return self._frames, self._waiting

    def _saved(self) -> tuple[Any, ...]:
        return self._allocated, self._frames, self._pending

    def _put_back(self, saved: tuple[Any, ...]) -> None:
        self._allocated, self._frames, self._pending = saved

    def _require_allocated(self) -> None:
        _allocated(self._allocated or None, self._place)


class EncodeOnce(StateObject[Value, Value | None]):
    """A value that is encoded once, reread, and rebuilt when it was let go of.

    It is kept by reference, never cloned. Writing the same value again changes nothing, where a new
    tuple or list of the same tensors is the same.
    """

    def __init__(self) -> None:
        self._value: Value | None = None

    def allocate(self) -> None:
        """Be ready for a value, with none written; what is staged stays. Raises SessionClosed."""
        self._require_open()
        self._value = None
        self._touched()

    def stage(self, payload: Value) -> None:
        """Hold a value beside what is committed. Raises as `commit` does."""
        self._vet_next(payload)
        super().stage(payload)

    def commit(self, payload: Value | None = None) -> None:
        """Write `payload` and leave what is staged; without one, write what is staged.

        Raises SessionClosed, and FieldFrozen when it holds another value.
        """
        value = self._staged if payload is None else payload
        if value is None:
            return
        self._vet_next(value)
        if self._value is None:
            self._value = value
        self._touched()
        if payload is None:
            self.discard()

    def append(self, payload: Value) -> None:
        """Write `payload`. Raises as `commit` does, and TypeError for None, which is no value."""
        if payload is None:
            raise TypeError(f"{self._place}: expected a value, got None; reset() clears")
        self.commit(payload)

    def view(self, *, include_staged: bool = True) -> Value | None:
        """The value, or None while there is none."""
        self._touched()
        if self._value is None and include_staged:
            return self._staged
        return self._value

    def reset(self) -> None:
        """Let go of the value and of what is staged."""
        self._value = None
        self.discard()

    @property
    def resident(self) -> bool:
        """Whether it was written."""
        return self._value is not None

    def nbytes_by_device(self, seen: SeenStorages) -> dict[str, int]:
        """Bytes behind the value and the staged one, per device."""
        return device_bytes(self._contents(), seen)

    def _contents(self) -> tuple[object, object]:
        return self._value, self._staged

    def _vet_next(self, payload: Value) -> None:
        self._require_open()
        if self._value is not None and not has_same_items(self._value, payload):
            raise FieldFrozen(
                f"{self._place}: it is written once and holds a value; reset it before writing "
                "another"
            )


def is_same(held: object, value: object) -> bool:
    """Whether `value` is the very object `held`, or an equal scalar of its type."""
    return held is value or (
        type(held) is type(value) and isinstance(value, _SCALARS) and held == value
    )


def has_same_items(held: object, value: object) -> bool:
    """Whether the two are the same, or tuples or lists whose items are, in new containers too."""
    if isinstance(held, (tuple, list)) and isinstance(value, (tuple, list)):
        return len(held) == len(value) and all(map(has_same_items, held, value))
    return is_same(held, value)


def _allocated(store: Store | None, place: str) -> Store:
    if store is None:
        raise RuntimeError(f"{place} is not allocated; call allocate() first")
    return store


def _described(chunk: Tensor) -> str:
    return f"{tuple(chunk.shape)} {chunk.dtype} on {chunk.device}"
