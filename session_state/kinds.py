"""How the walk reads each kind of value: one reader per kind, chosen by type and never by the value.

A type is looked up along its MRO. A class written in Python adds attributes and slots, which the
collector shows; a class written in C that is not named here may hold what nobody can see.
"""

import array
import collections
import ctypes
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
from collections.abc import Callable, Iterable, MutableSet
from typing import Any, Protocol

import numpy as np
import torch


class KeepsBooks:
    """Base of what counts its own bytes: the walk never enters a manager, a session or a view."""

    __slots__ = ()


class Sink(Protocol):
    """Where readers report what they found."""

    seen: MutableSet[Any]

    def claim(self, device: str, address: int, nbytes: int, owner: object) -> None:
        """Count `nbytes` at `address`, which live as long as `owner`."""

    def name(self, cls: type) -> None:
        """Note that a value of type `cls` could not be seen."""


Reader = Callable[[Any, Sink], Iterable[object]]


def _referents(value: Any, sink: Sink) -> Iterable[object]:
    return gc.get_referents(value)


def _exporter(value: Any, sink: Sink) -> Iterable[object]:
    # A memoryview refers to what exports its buffer, or to nothing when the memory is borrowed.
    return gc.get_referents(value)


def _sealed(value: Any, sink: Sink) -> Iterable[object]:
    return ()


def _opaque(value: Any, sink: Sink) -> Iterable[object]:
    sink.name(type(value))
    return ()


def _function(value: Any, sink: Sink) -> Iterable[object]:
    # Not its globals: they belong to the module.
    return (value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__)


# Attributes are read through the base class's own descriptors, so that no subclass can interfere.
_TENSOR: Any = vars(torch._C.TensorBase)
_ARRAY: Any = vars(np.ndarray)
_layout = _TENSOR["layout"].__get__
_is_nested = _TENSOR["is_nested"].__get__
_is_quantized = _TENSOR["is_quantized"].__get__
_retains_grad = _TENSOR["retains_grad"].__get__
_grad = _TENSOR["grad"].__get__
_grad_fn = _TENSOR["grad_fn"].__get__
# Reading data_ptr would un-share a copy-on-write clone.
_data_address: Callable[[Any], int] = getattr(torch._C, "_data_address", torch.Tensor.data_ptr)


def _tensor(value: Any, sink: Sink) -> Iterable[object]:
    if _layout(value) is not torch.strided or _is_nested(value) or _is_quantized(value):
        return _opaque(value, sink)
    storage = torch.Tensor.untyped_storage(value)
    if storage not in sink.seen:
        _claim_storage(storage, value, sink)
    held = gc.get_referents(value)
    history = _grad_fn(value)
    if history is not None:
        # What autograd saved for the backward pass lives as long as this tensor.
        sink.name(type(history))
    if history is None or _retains_grad(value):
        held.append(_grad(value))
    return held


def _storage(value: Any, sink: Sink) -> Iterable[object]:
    if value not in sink.seen:
        with torch._C._DisableTorchDispatch():
            tensor = torch.empty(0, dtype=torch.uint8, device=value.device).set_(value)
        _claim_storage(value, tensor, sink)
    return gc.get_referents(value)


def _claim_storage(storage: torch.UntypedStorage, tensor: Any, sink: Sink) -> None:
    # The storage's device, since a fake tensor names the device that it imitates.
    device = _device_name(storage.device)
    nbytes = storage.nbytes()
    if nbytes and device != "meta":
        address = _data_address(tensor)
        if not address:
            # A functional tensor imitates the storage of the one that it wraps.
            sink.name(type(tensor))
            return
        sink.claim(device, address, nbytes, storage)
        sink.seen.add(storage)


_device_name: Callable[[torch.device], str] = functools.cache(str)


def _array(value: Any, sink: Sink) -> Iterable[object]:
    held = gc.get_referents(value)
    base = _ARRAY["base"].__get__(value)
    if reader_of(type(base)) not in (_array, _tensor, _buffer, _ctypes, _exporter):
        # Nothing that the walk reaches is counted for this memory: dlpack, or none but the array.
        _claim_extent(value, sink)
    if type_name(type(base)) != "PyCapsule":
        held.append(base)
    dtype = _ARRAY["dtype"].__get__(value)
    if dtype.char == "T":
        sink.name(type(dtype))
    elif dtype.hasobject:
        held.append(np.ndarray.tolist(value))
    return held


def _claim_extent(value: Any, sink: Sink) -> None:
    interface = _ARRAY["__array_interface__"].__get__(value)
    itemsize = _ARRAY["itemsize"].__get__(value)
    strides = _ARRAY["strides"].__get__(value)
    reach = [(n - 1) * stride for n, stride in zip(interface["shape"], strides, strict=True)]
    if 0 in interface["shape"] or not itemsize:
        return
    low = sum(step for step in reach if step < 0)
    high = sum(step for step in reach if step > 0) + itemsize
    sink.claim("cpu", interface["data"][0] + low, high - low, value)


def _void(value: Any, sink: Sink) -> Iterable[object]:
    base = vars(np.void)["base"].__get__(value)
    return _buffer(value, sink) if base is None else (base,)


def _buffer(value: Any, sink: Sink) -> Iterable[object]:
    with memoryview(value) as view:
        if not view.nbytes:
            return gc.get_referents(value)
    whole = np.frombuffer(value, np.uint8)
    address, nbytes = whole.__array_interface__["data"][0], whole.nbytes
    sink.claim("cpu", address, nbytes, value)
    return gc.get_referents(value)


def _ctypes(value: Any, sink: Sink) -> Iterable[object]:
    # One that does not own its memory refers to the one that does, or borrows from outside.
    owns = vars(_CDATA)["_b_needsfree_"].__get__(value)
    return _buffer(value, sink) if owns else gc.get_referents(value)


_CDATA = ctypes.Array.__mro__[1]

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
    **{id(cls): _referents for cls in (*_LEAVES, *_CONTAINERS, _managed_buffer())},
    **{id(cls): _sealed for cls in (type, types.ModuleType, np.dtype, KeepsBooks)},
    **{id(cls): _buffer for cls in (bytes, np.bytes_, bytearray, array.array, mmap.mmap)},
    id(memoryview): _exporter,
    id(types.FunctionType): _function,
    id(_CDATA): _ctypes,
    id(np.ndarray): _array,
    id(np.void): _void,
    id(torch._C.TensorBase): _tensor,
    id(torch.UntypedStorage): _storage,
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
    if _sealed in known:
        return _sealed
    for base, reader in zip(_mro(cls), known, strict=True):
        if reader is _tensor:
            return _tensor_reader(cls)
        if reader is not None:
            return reader
        if not _adds_only_slots(base):
            return _opaque
    raise AssertionError("every MRO ends in object")


def _tensor_reader(cls: type) -> Reader:
    """A class with a `__torch_dispatch__` of its own wraps others; a fake one holds nothing."""
    for base in _mro(cls):
        if base is torch.Tensor:
            return _tensor
        if base is getattr(sys.modules.get("torch._subclasses"), "FakeTensor", None):
            return _sealed
        if "__torch_dispatch__" in _namespace(base):
            return _opaque
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


def type_name(cls: type) -> str:
    """The name under which a type is reported, such as `torch._C.Generator`."""
    module = type.__dict__["__module__"].__get__(cls)
    name: str = type.__dict__["__qualname__"].__get__(cls)
    return name if module == "builtins" or type(module) is not str else f"{module}.{name}"
