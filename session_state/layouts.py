"""Plain values at a glance: a tensor or an array, or a list of them, beside what was there before.

A session holds hundreds of tensors, of which a step replaces some. All of a field are compared with
the last survey by a few calls in C, and only those that are new are looked at one by one.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import compress, count
from operator import attrgetter, call, is_, is_not
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch

from .extents import Owner, Unowned
from .tensors import address_of, common_device, hold_more, nbytes_of, storage_of

if TYPE_CHECKING:
    from .survey import Key, Sheet

Row: TypeAlias = tuple[int, int, int]
"""Address, bytes, and the id of what the bytes live with."""


class Column(NamedTuple):
    """Values of one type, and of each what its bytes live with, how many these are, and where."""

    values: list[Any]
    holders: list[Any]
    sizes: list[int]
    addresses: list[int]


class Layout:
    """The allocations behind the values of a field, in their order; one held twice is there twice."""

    __slots__ = ("addresses", "device", "keys", "owners", "sizes")

    def __init__(self, device: str) -> None:
        self.device = device
        self.owners: list[Any] = []
        self.keys: list[Key] = []
        self.sizes: list[int] = []
        self.addresses: list[int] = []

    def sheet(self) -> "Sheet":
        """The owners, and what each of them claims."""
        return dict(zip(self.owners, self.keys, strict=True))

    def is_of(self, value: object) -> bool:
        """Whether `value` has these very storages or arrays, of the same sizes."""
        with torch._C.DisableTorchFunction():
            found = _holders(value)
        if found is None or len(found[1]) != len(self.owners):
            return False
        values, holders = found
        return all(map(is_, map(call, self.owners), holders)) and (
            _sizes(values, holders) == self.sizes
        )

    def reread(
        self, column: Column, reference: Callable[[object], Owner | Unowned]
    ) -> "Layout | None":
        """The layout of `column`: this one when nothing changed, None when devices differ."""
        held = [*map(call, self.owners)]
        differs = map(is_not, held, column.holders)
        kept = next(compress(count(), differs), min(len(held), len(column.holders)))
        if column.addresses[:kept] != self.addresses[:kept]:
            kept = 0
        if column.sizes[:kept] != self.sizes[:kept]:
            kept = 0
        if kept == len(held) == len(column.holders):
            return self
        known = {row: at for at, row in enumerate(self._rows(held, kept), kept)}
        return self._with(column, kept, known, reference)

    def _rows(self, held: list[object], first: int) -> Iterator[Row]:
        return zip(self.addresses[first:], self.sizes[first:], map(id, held[first:]), strict=True)

    def _with(
        self,
        column: Column,
        kept: int,
        known: dict[Row, int],
        reference: Callable[[object], Owner | Unowned],
    ) -> "Layout | None":
        """The first `kept` as they are, and those after them by where they are `known` from."""
        after, owners, keys = Layout(self.device), self.owners, self.keys
        after.owners, after.keys = owners[:kept], keys[:kept]
        after.sizes, after.addresses = column.sizes, column.addresses
        made: dict[Row, tuple[Any, Key]] = {}
        fresh: list[Any] = []
        rest = zip(*(part[kept:] for part in column), strict=True)
        for value, holder, nbytes, address in rest:
            row = address, nbytes, id(holder)
            at = known.get(row)
            if at is not None:
                owner, key = owners[at], keys[at]
            elif row in made:
                owner, key = made[row]
            else:
                fresh.append(value)
                owner, key = made[row] = reference(holder), (self.device, *row)
            after.owners.append(owner)
            after.keys.append(key)
        return after if not fresh or _device(fresh) == self.device else None


def laid_out(
    value: object, before: Layout | None, reference: Callable[[object], Owner | Unowned]
) -> Layout | None:
    """The layout of `value`, which is `before` itself where nothing changed.

    None unless each value holds its one storage, or an array its own memory, and nothing else.
    """
    with torch._C.DisableTorchFunction():
        column = _column(value)
        if column is None:
            return None
        if before is None:
            device = _device(column.values)
            return None if device is None else Layout(device).reread(column, reference)
        return before.reread(column, reference)


def _column(value: object) -> Column | None:
    found = _holders(value)
    if found is None or not found[0]:
        return None
    values, holders = found
    sizes = _sizes(values, holders)
    if type(values[0]) is np.ndarray:
        if any(map(_may_hold_objects, values)):
            return None
        addresses = [array.__array_interface__["data"][0] for array in values]
    elif hold_more(values):
        return None
    else:
        addresses = [*map(address_of, values)]
    return Column(values, holders, sizes, addresses) if all(sizes) and all(addresses) else None


def _holders(value: object) -> tuple[list[Any], list[Any]] | None:
    """Plain values and what their bytes live with; None for other values."""
    values: list[Any] = [*value] if type(value) in _LISTS else [value]  # type: ignore[misc]
    types = {*map(type, values)}
    if type(None) in types:
        types.discard(type(None))
        values = [one for one in values if one is not None]
    if types == _TENSORS:
        try:
            return values, [*map(storage_of, values)]
        except RuntimeError:
            # One of them has no storage.
            return None
    if types == _ARRAYS and not any(map(_has_base, values)):
        return values, values
    return None


def _sizes(values: list[Any], holders: list[Any]) -> list[int]:
    return [*map(nbytes_of if values is not holders else _array_nbytes, holders)]


def _device(values: list[Any]) -> str | None:
    return "cpu" if type(values[0]) is np.ndarray else common_device(values)


def _has_base(array: Any) -> bool:
    return array.base is not None


def _may_hold_objects(array: Any) -> bool:
    return bool(array.dtype.hasobject) or array.dtype.char == "T"


_LISTS = (list, tuple, deque)
_TENSORS, _ARRAYS = {torch.Tensor}, {np.ndarray}
_array_nbytes = attrgetter("nbytes")
