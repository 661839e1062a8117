"""How the walk reads tensors of every layout.

Nothing here is dispatched to user code: attributes are read through the base class's own
descriptors, and operators run below autograd and below every override that is written in Python.
"""

import functools
import gc
from collections.abc import Callable, Iterable
from itertools import repeat
from operator import attrgetter, is_
from typing import Any

import numpy as np
import torch

from .reading import Findings

_Base = torch._C.TensorBase
_layout = vars(_Base)["layout"].__get__
_is_nested = vars(_Base)["is_nested"].__get__
_is_quantized = vars(_Base)["is_quantized"].__get__
_retains_grad = vars(_Base)["retains_grad"].__get__
_grad = vars(_Base)["grad"].__get__
_grad_fn = vars(_Base)["grad_fn"].__get__
storage_of: Callable[[Any], torch.UntypedStorage] = _Base.untyped_storage
nbytes_of: Callable[[torch.UntypedStorage], int] = torch.UntypedStorage.nbytes
# Reading data_ptr would un-share a copy-on-write clone.
address_of: Callable[[Any], int] = getattr(torch._C, "_data_address", torch.Tensor.data_ptr)
_cuda_has_started: Callable[[], bool] = torch.cuda.is_initialized
_MKLDNN = vars(torch)["_mkldnn"]
_device_name: Callable[[torch.device], str] = functools.cache(str)


def claim_plain(tensors: list[torch.Tensor], found: Findings) -> bool:
    """Claim the storages of `tensors`, all of the very type `torch.Tensor`, by a few calls for all.

    False, with nothing claimed, when one of them may hold more than its storage, or none: then they
    have to be read one by one.
    """
    try:
        owners = dict(zip(map(storage_of, tensors), tensors, strict=True))
        if found.storages:
            for storage in owners.keys() & found.storages:
                del owners[storage]
        addresses = [*map(address_of, owners.values())]
        sizes = [*map(nbytes_of, owners)]
        device = common_device(tensors)
        if not all(addresses) or not all(sizes) or device is None or hold_more(tensors):
            return False
    except RuntimeError:
        # One of them has no storage.
        return False
    column = found.on(device)
    column.addresses += addresses
    column.sizes += sizes
    column.owners += owners
    found.storages.update(owners)
    return True


_device_index = _Base.get_device
_ON_HOST = {-1}
_has_history, _has_nested_sizes, _has_quantizer, _gradient = map(
    attrgetter, ("requires_grad", "is_nested", "is_quantized", "grad")
)


def common_device(tensors: list[torch.Tensor]) -> str | None:
    """The device on which all of them are, or None when there are several."""
    devices = {*map(_device_index, tensors)}
    if len(devices) > 1:
        return None
    return "cpu" if devices == _ON_HOST else _device_name(tensors[0].device)


def is_page_locked(owner: object) -> bool:
    """Whether memory of the host is pinned, for copies to a device, and so cannot be paged out."""
    # Asking about it would start CUDA, which has pinned nothing before it was started.
    return isinstance(owner, torch.UntypedStorage) and _cuda_has_started() and owner.is_pinned()


def hold_more(tensors: list[torch.Tensor]) -> bool:
    """Whether one of them may hold more than its storage."""
    # The gradient comes after the history, since asking an inner node of a graph for it warns.
    return (
        any(map(_has_nested_sizes, tensors))
        or any(map(_has_quantizer, tensors))
        or any(map(_has_history, tensors))
        or not all(map(is_, map(_gradient, tensors), repeat(None)))
        # The collector sees the type of each, and attributes where there are any.
        or len(gc.get_referents(*tensors)) > len(tensors)
    )


def read_tensor(value: Any, found: Findings) -> Iterable[object]:
    """A tensor counts as its storage, and holds what its layout keeps beside it."""
    held = gc.get_referents(value)
    held += _history(value, found)
    wrapped = _wrapped(value)
    if wrapped is not None:
        held.append(wrapped)
    elif _layout(value) is _MKLDNN:
        _claim_mkldnn(value, found)
    else:
        if _layout(value) is torch.strided:
            _claim_storage(storage_of(value), value, found)
        held += _parts(value)
    return held


def _history(value: Any, found: Findings) -> Iterable[object]:
    history = _grad_fn(value)
    if history is None:
        return (_grad(value),)
    # What autograd saved for the backward pass lives as long as this tensor. Unpacking it may run
    # hooks, so it is not counted.
    found.name(type(history))
    return (_grad(value),) if _retains_grad(value) else ()


def read_wrapper(value: Any, found: Findings) -> Iterable[object]:
    """A subclass that dispatches for itself is seen through the tensors that it refers to.

    Its `__tensor_flatten__` is not asked: what the collector sees cannot raise, lie or recurse.
    """
    held = gc.get_referents(value)
    if _has_memory(value) or not refers_to_data(held):
        _claim_storage(storage_of(value), value, found)
    held += _history(value, found)
    return held


def _has_memory(tensor: Any) -> bool:
    try:
        return address_of(tensor) != 0
    except RuntimeError:
        return False


def read_storage(value: torch.UntypedStorage, found: Findings) -> Iterable[object]:
    """A bare storage counts as itself."""
    with torch._C._DisableTorchDispatch():
        tensor = torch.empty(0, dtype=torch.uint8, device=value.device).set_(value)
    _claim_storage(value, tensor, found)
    return gc.get_referents(value)


def refers_to_data(held: Iterable[object]) -> bool:
    """Whether a tensor or an array is among `held`, or in a plain container among them."""
    containers = [value for value in held if id(type(value)) in _CONTAINER_IDS]
    near = (*held, *gc.get_referents(*containers))
    return any(issubclass(type(value), _DATA) for value in near)


_CONTAINER_IDS = frozenset(map(id, (dict, list, tuple)))
_DATA = (_Base, np.ndarray, torch.UntypedStorage)


def _claim_storage(storage: torch.UntypedStorage, tensor: Any, found: Findings) -> None:
    if storage in found.storages:
        return
    # The storage's device, since a fake tensor names the device that it imitates.
    device, nbytes = _device_name(storage.device), nbytes_of(storage)
    if not nbytes or device == "meta":
        return
    address = address_of(tensor)
    if address:
        found.storages.add(storage)
        found.claim(device, address, nbytes, storage)
    else:
        found.name(type(tensor))


def _claim_mkldnn(tensor: Any, found: Findings) -> None:
    # Its memory is oneDNN's and belongs to no storage, so the tensor stands for it.
    with torch._C._DisableTorchDispatch():
        address = torch.ops.mkldnn.data_ptr(tensor)
        nbytes = torch.ops.mkldnn._nbytes(tensor)
    if nbytes:
        found.claim("cpu", address, nbytes, tensor)


def _wrapped(value: Any) -> torch.Tensor | None:
    """The tensor below a function transform or functionalization, when `value` stands for one."""
    inner: torch.Tensor | None = None
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        inner = torch._C._functorch.get_unwrapped(value)
    elif torch._is_functional_tensor(value):
        inner = torch._from_functional_tensor(value)
    return inner


_COMPRESSED_BY_ROW = ("crow_indices", "col_indices", "values")
_COMPRESSED_BY_COLUMN = ("ccol_indices", "row_indices", "values")
_SPARSE_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: _COMPRESSED_BY_ROW,
    torch.sparse_bsr: _COMPRESSED_BY_ROW,
    torch.sparse_csc: _COMPRESSED_BY_COLUMN,
    torch.sparse_bsc: _COMPRESSED_BY_COLUMN,
}
_NESTED_PARTS = ("_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets")
_PER_CHANNEL_PARTS = ("q_per_channel_scales", "q_per_channel_zero_points")
_PER_CHANNEL = (torch.per_channel_affine, torch.per_channel_affine_float_qparams)


def _parts(value: Any) -> list[torch.Tensor]:
    """The tensors that the layout of `value` keeps, apart from a strided one's own storage."""
    names: tuple[str, ...] = ()
    if _layout(value) is not torch.strided:
        names = _SPARSE_PARTS[_layout(value)]
    elif _is_nested(value):
        names = _NESTED_PARTS
    elif _is_quantized(value) and _Base.qscheme(value) in _PER_CHANNEL:
        names = _PER_CHANNEL_PARTS
    if not names:
        return []
    with torch._C._AutoDispatchBelowAutograd(), torch._C._DisableTorchDispatch():
        return [getattr(_Base, name)(value) for name in names]
