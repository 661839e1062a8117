"""How the walk reads host memory outside of torch: arrays, bytes-likes, and what C allocated."""

import array
import ctypes
import datetime
import gc
import mmap
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from .reading import Findings

CDATA: Any = ctypes.Array.__mro__[1]
"""The base class of every ctypes value, which ctypes itself does not export."""

# Attributes are read through the base class's own descriptors, so that no subclass can interfere.
_base, _dtype, _interface, _itemsize, _nbytes = (
    vars(np.ndarray)[name].__get__
    for name in ("base", "dtype", "__array_interface__", "itemsize", "nbytes")
)
_CAPSULE = type(datetime.datetime_CAPI)
_COUNTS_ITSELF = (
    *(np.ndarray, torch._C.TensorBase, bytes, bytearray, array.array),
    *(mmap.mmap, memoryview, CDATA),
)


def read_array(value: Any, found: Findings) -> Iterable[object]:
    """An array counts as the allocation behind it, and object arrays hold their items too."""
    held = gc.get_referents(value)
    base = _base(value)
    if base is None or not issubclass(type(base), _COUNTS_ITSELF):
        # Nothing that the walk reaches is counted for this memory: dlpack, or none but the array.
        _claim_extent(value, found)
    if base is not None and type(base) is not _CAPSULE:
        held.append(base)
    dtype = _dtype(value)
    if dtype.char == "T":
        found.name(type(dtype))
    elif dtype.hasobject:
        held.append(np.ndarray.tolist(value))
    return held


def _claim_extent(value: Any, found: Findings) -> None:
    nbytes = _nbytes(value)
    if not nbytes:
        return
    interface = _interface(value)
    address = interface["data"][0]
    if interface["strides"] is not None:
        shape, strides, itemsize = interface["shape"], interface["strides"], _itemsize(value)
        reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
        address += sum(step for step in reach if step < 0)
        nbytes = sum(map(abs, reach)) + itemsize
    found.claim("cpu", address, nbytes, value)


def read_void(value: Any, found: Findings) -> Iterable[object]:
    """A structured scalar refers to the array that it was taken from, or has its own memory."""
    base = vars(np.void)["base"].__get__(value)
    return read_buffer(value, found) if base is None else (base,)


def read_buffer(value: Any, found: Findings) -> Iterable[object]:
    """A bytes-like counts as its buffer."""
    with memoryview(value) as view:
        if not view.nbytes:
            return gc.get_referents(value)
    whole = np.frombuffer(value, np.uint8)
    found.claim("cpu", whole.__array_interface__["data"][0], whole.nbytes, value)
    return gc.get_referents(value)


def read_ctypes(value: Any, found: Findings) -> Iterable[object]:
    """One that does not own its memory refers to the one that does, or borrows from outside."""
    owns = vars(CDATA)["_b_needsfree_"].__get__(value)
    return read_buffer(value, found) if owns else gc.get_referents(value)
