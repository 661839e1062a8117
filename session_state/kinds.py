"""How the walk reads each kind of value: one reader per kind, chosen by type and never by the value.

A type is looked up along its MRO. A class written in Python adds attributes and slots, which the
collector shows; a class written in C that is not named here may hold what nobody can see.
"""

import array
import collections
import datetime
import decimal
import functools
import gc
import mmap
import re
import sys
import threading
import types
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from .arrays import CDATA, read_array, read_buffer, read_ctypes, read_void
from .reading import Findings, KeepsBooks, Reader, each
from .tensors import read_storage, read_tensor, read_wrapper, refers_to_data


def _referents(values: list[Any], found: Findings) -> Iterable[object]:
    return gc.get_referents(*values)


def _sealed(values: list[Any], found: Findings) -> Iterable[object]:
    return ()


@each
def _opaque(value: Any, found: Findings) -> Iterable[object]:
    found.name(type(value))
    return ()


@each
def _exporter(value: Any, found: Findings) -> Iterable[object]:
    # It hands out memory, which is its own unless it refers to what it hands out.
    held = gc.get_referents(value)
    if not refers_to_data(held):
        found.name(type(value))
    return held


@each
def _function(value: Any, found: Findings) -> Iterable[object]:
    # Not its globals: they belong to the module.
    return (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__)


_buffer, _tensor, _wrapper = each(read_buffer), each(read_tensor), each(read_wrapper)

_SCALARS: set[Any] = set(np.sctypeDict.values()) - {np.bytes_, np.void}

_LEAVES: tuple[type, ...] = (
    *(bool, int, float, complex, str, range, type(None), type(Ellipsis), type(NotImplemented)),
    *(
        type,
        type(torch.Tensor),
        types.ModuleType,
        types.CodeType,
        types.GenericAlias,
        types.UnionType,
        re.Pattern,
    ),
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(decimal.Decimal, type(threading.Lock()), type(threading.RLock())),
    *(np.dtype, np.ufunc, *_SCALARS),
    *(
        torch.finfo,
        torch.iinfo,
        torch.dtype,
        torch.device,
        torch.layout,
        torch.memory_format,
        torch.Size,
    ),
)
LEAF_IDS = frozenset(map(id, _LEAVES))
"""The ids of the types whose values never hold bytes; ids, since a metaclass may define a hash."""

_CONTAINERS: tuple[type, ...] = (
    *(object, list, tuple, dict, set, frozenset, collections.deque, collections.OrderedDict),
    *(collections.defaultdict, types.MappingProxyType, types.SimpleNamespace, types.CellType),
    *(type({}.keys()), type({}.values()), type({}.items()), slice, functools.partial),
    *(types.MethodType, types.BuiltinMethodType, types.MethodWrapperType, property),
    *(staticmethod, classmethod, weakref.ReferenceType, weakref.ProxyType),
    *(weakref.CallableProxyType, BaseException),
)


def _managed_buffer() -> type:
    (buffer,) = gc.get_referents(view := memoryview(b""))
    view.release()
    return type(buffer)


_READERS: dict[int, Reader] = {
    # A memoryview refers to what exports its buffer, or to nothing when the memory is borrowed.
    **{id(cls): _referents for cls in (*_LEAVES, *_CONTAINERS, memoryview, _managed_buffer())},
    **{id(cls): _sealed for cls in (type, types.ModuleType, np.dtype, KeepsBooks)},
    **{id(cls): _buffer for cls in (bytes, np.bytes_, bytearray, array.array, mmap.mmap)},
    id(types.FunctionType): _function,
    id(CDATA): each(read_ctypes),
    id(np.ndarray): each(read_array),
    id(np.void): each(read_void),
    id(torch._C.TensorBase): _tensor,
    id(torch.UntypedStorage): each(read_storage),
}

_mro = type.__dict__["__mro__"].__get__
_base = type.__dict__["__base__"].__get__
_flags = type.__dict__["__flags__"].__get__
_size = type.__dict__["__basicsize__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_WRITTEN_IN_PYTHON, _IMMUTABLE, _POINTER = 1 << 9, 1 << 8, 8


def _adds_only_slots(cls: type) -> bool:
    """Whether instances hold no more than their base's do, apart from what the collector shows."""
    own = _namespace(cls)
    slots = 0
    if _flags(cls) & _WRITTEN_IN_PYTHON and not _flags(cls) & _IMMUTABLE:
        slots = sum(type(value) is types.MemberDescriptorType for value in own.values())
        slots += ("__dict__" in own) + ("__weakref__" in own)
    return bool(_size(cls) - _size(_base(cls)) <= slots * _POINTER)


def _choose(cls: type) -> Reader:
    known = [_READERS.get(id(base)) for base in _mro(cls)]
    if _sealed in known or any(_is_of_the_process(base) for base in _mro(cls)):
        return _sealed
    for base, reader in zip(_mro(cls), known, strict=True):
        if reader is _tensor:
            return _tensor_reader(cls)
        if reader is _referents and _exports_memory(cls):
            return _exporter
        if reader is not None:
            return reader
        if not _adds_only_slots(base):
            return _opaque
    raise AssertionError("every MRO ends in object")


def _is_of_the_process(cls: type) -> bool:
    return any(
        cls is vars(sys.modules[module]).get(name)
        for module, name in _OF_THE_PROCESS
        if module in sys.modules
    )


_OF_THE_PROCESS = (
    # A fake tensor holds nothing, and its mode is shared by all.
    ("torch._subclasses.fake_tensor", "FakeTensor"),
    # Where a distributed tensor lies: its mesh and the process groups below.
    ("torch.distributed.tensor._dtensor_spec", "DTensorSpec"),
)


def _exports_memory(cls: type) -> bool:
    return any(name in _namespace(base) for base in _mro(cls) for name in _EXPORTS)


_EXPORTS = ("__cuda_array_interface__", "__array_interface__", "__dlpack__")


def _tensor_reader(cls: type) -> Reader:
    """A class with a `__torch_dispatch__` of its own may wrap others."""
    for base in _mro(cls):
        if base is torch.Tensor:
            return _tensor
        if "__torch_dispatch__" in _namespace(base):
            return _wrapper
    return _tensor


_chosen: dict[int, tuple[weakref.ref[type], Reader]] = {}


def reader_of(cls: type) -> Reader:
    """The reader for values whose type is `cls`."""
    # By id and not by hash or equality, which a metaclass may define.
    known = _chosen.get(id(cls))
    if known is not None and known[0]() is cls:
        return known[1]
    reader = _choose(cls)
    _chosen[id(cls)] = (weakref.ref(cls), reader)
    return reader
