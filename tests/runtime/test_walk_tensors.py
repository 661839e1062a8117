"""Tensors that are more than a strided storage, each against what its format needs."""

import gc
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from session_state.accounting import claims, walk
from torch.testing._internal.distributed.fake_pg import FakeStore

from .values import T, carried, held, owned

INT64, FLOAT32, FLOAT64 = 8, 4, 8


class Pair(torch.Tensor):
    """Wraps two tensors of its own, and runs code wherever a subclass can."""

    first: torch.Tensor
    second: list[torch.Tensor]

    @staticmethod
    def __new__(cls, first: torch.Tensor, second: torch.Tensor) -> "Pair":
        return torch.Tensor._make_wrapper_subclass(cls, (100,))

    def __init__(self, first: torch.Tensor, second: torch.Tensor) -> None:
        self.first, self.second = first, [second]

    def _lie(self, *_: object, **__: object) -> Any:
        raise RuntimeError("the walk ran user code")

    untyped_storage = data_ptr = __tensor_flatten__ = __hash__ = __eq__ = _lie
    layout = is_nested = is_quantized = requires_grad = grad = grad_fn = nbytes = property(_lie)
    __torch_dispatch__ = __torch_function__ = classmethod(_lie)


class Elsewhere(Pair):
    """Keeps what it wraps where nothing refers to it."""

    def __init__(self, first: torch.Tensor) -> None:
        pass

    @staticmethod
    def __new__(cls, first: torch.Tensor) -> "Elsewhere":
        return torch.Tensor._make_wrapper_subclass(cls, (100,))


class Scaled(Pair):
    """Has a storage itself, and another tensor beside it."""

    scale: torch.Tensor

    @staticmethod
    def __new__(cls, data: torch.Tensor, scale: torch.Tensor) -> "Scaled":
        return torch.Tensor._make_subclass(cls, data)

    def __init__(self, data: torch.Tensor, scale: torch.Tensor) -> None:
        self.scale = scale


class Dense(torch.Tensor):
    """Says of itself that it holds nothing."""

    def untyped_storage(self) -> Any:
        return torch.UntypedStorage(0)

    @property
    def nbytes(self) -> int:
        return 0

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("the walk ran user code")


def wrapping_itself() -> Pair:
    pair = Pair(T(60), T(40))
    pair.second.append(pair)
    return pair


def sparse_gradient() -> torch.Tensor:
    leaf = torch.zeros(10, requires_grad=True)
    leaf.grad = torch.sparse_coo_tensor(torch.tensor([[1, 7]]), torch.ones(2), (10,))
    return leaf


def gradient_without_history() -> list[torch.Tensor]:
    leaf = torch.zeros(10)
    leaf.grad = torch.ones(10)
    return [leaf, torch.zeros(10)]


def compressed(layout: torch.layout) -> torch.Tensor:
    values = torch.ones(4)
    return torch.sparse_compressed_tensor(
        torch.arange(5), torch.arange(4), values, (4, 4), layout=layout
    )


def compressed_blocks(layout: torch.layout) -> torch.Tensor:
    values = torch.ones(2, 2, 2)
    return torch.sparse_compressed_tensor(
        torch.arange(3), torch.arange(2), values, (4, 4), layout=layout
    )


def nested(layout: torch.layout) -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2), torch.ones(5)], layout=layout)


def per_channel() -> torch.Tensor:
    scales, zeros = torch.ones(3, dtype=torch.float64), torch.zeros(3, dtype=torch.int64)
    return torch.quantize_per_channel(torch.ones(3, 4), scales, zeros, 0, torch.qint8)


BY_ROW = 5 * INT64 + 4 * INT64 + 4 * FLOAT32
BY_BLOCK = 3 * INT64 + 2 * INT64 + 2 * 2 * 2 * FLOAT32

KINDS = {
    "coo": (lambda: torch.eye(3).to_sparse(), 2 * 3 * INT64 + 3 * FLOAT32),
    "coo, not coalesced": (
        lambda: torch.sparse_coo_tensor(torch.tensor([[0, 0]]), torch.ones(2), (3,)),
        2 * INT64 + 2 * FLOAT32,
    ),
    "coo of rows": (
        lambda: torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.ones(2, 5), (3, 5)),
        2 * INT64 + 2 * 5 * FLOAT32,
    ),
    "coo that requires gradients": (
        lambda: torch.eye(3).to_sparse().requires_grad_(),
        2 * 3 * INT64 + 3 * FLOAT32,
    ),
    "csr": (lambda: compressed(torch.sparse_csr), BY_ROW),
    "csc": (lambda: compressed(torch.sparse_csc), BY_ROW),
    "bsr": (lambda: compressed_blocks(torch.sparse_bsr), BY_BLOCK),
    "bsc": (lambda: compressed_blocks(torch.sparse_bsc), BY_BLOCK),
    # Made from the coordinates, whose rows and columns are one storage.
    "csr made from coo": (lambda: torch.eye(4).to_sparse_csr(), BY_ROW + 4 * INT64),
    "sparse gradient": (sparse_gradient, 10 * FLOAT32 + 2 * INT64 + 2 * FLOAT32),
    "gradient without history": (gradient_without_history, 3 * 10 * FLOAT32),
    "mkldnn": (lambda: torch.ones(3, 3).to_mkldnn(), 9 * FLOAT32),
    "quantised": (lambda: torch.quantize_per_tensor(torch.ones(30), 0.1, 0, torch.quint8), 30),
    "quantised by channel": (per_channel, 3 * 4 + 3 * FLOAT64 + 3 * INT64),
    # Sizes, strides and offsets, for two tensors of one dimension.
    "nested": (lambda: nested(torch.strided), 7 * FLOAT32 + 3 * 2 * INT64),
    "jagged": (lambda: nested(torch.jagged), 7 * FLOAT32 + 3 * INT64),
    "wrapper": (lambda: Pair(T(60), T(40)), 100),
    "wrapper of a sparse one": (lambda: Pair(torch.eye(3).to_sparse(), T(40)), 60 + 40),
    "wrapper of a wrapper": (lambda: Pair(Pair(T(50), T(10)), T(40)), 100),
    "wrapper of itself": (wrapping_itself, 100),
    "storage and wrapper in one": (lambda: Scaled(T(60), T(40)), 100),
    "subclass that lies": (lambda: T(100).as_subclass(Dense), 100),
    "negative": (lambda: torch.zeros(10, dtype=torch.complex64).conj().imag, 80),
    "copy on write": (lambda: torch._lazy_clone(T(100)), 100),
    "no elements": (lambda: torch.empty(0, 5), 0),
    "not initialised": (lambda: torch.nn.parameter.UninitializedParameter(), 0),
    "parameter list": (lambda: torch.nn.ParameterList([torch.zeros(25)]), 100),
    # Weight, bias, mean and variance, and the number of batches.
    "buffers of a module": (lambda: torch.nn.BatchNorm1d(5), 4 * 5 * FLOAT32 + INT64),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("placed", [carried, owned])
def test_every_kind_of_tensor_counts_all_that_its_format_keeps(placed: Any, kind: str) -> None:
    """Indices, scales and sizes count beside the values, and no code of a subclass runs."""
    make, nbytes = KINDS[kind]
    with warnings.catch_warnings():
        # Several of these layouts are announced as experimental.
        warnings.simplefilter("ignore")
        session = placed(make())
    assert {} == session.unaccounted()
    assert ({"cpu": nbytes} if nbytes else {}) == session.nbytes_by_device()


def test_a_wrapper_that_refers_to_no_tensor_is_named() -> None:
    """Its bytes are out of sight, and never 0."""
    found = walk([T(10), Elsewhere(T(100))], set())
    assert ({"cpu": 10}, (f"{__name__}.Elsewhere",)) == (found.nbytes, found.unaccounted)


@pytest.mark.parametrize("transform", [torch.func.vmap, torch.func.grad, torch.func.functionalize])
def test_a_tensor_inside_a_transform_counts_as_the_one_below(transform: Any) -> None:
    """It stands for the tensor that has the storage."""
    found = []

    def inspect(value: torch.Tensor) -> torch.Tensor:
        found.append(held([value]))
        return value.sum()

    transform(inspect)(torch.ones(3))
    assert [{"cpu": 3 * FLOAT32}] == found


@pytest.fixture
def one_process() -> Iterator[None]:
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.usefixtures("one_process")
def test_a_distributed_tensor_counts_as_its_local_one() -> None:
    """The mesh belongs to the process and not to the tensor."""
    from torch.distributed.tensor import DTensor, Shard, init_device_mesh

    local = DTensor.from_local(T(100), init_device_mesh("cpu", (1,)), [Shard(0)])
    assert {"cpu": 100} == held(local)


@pytest.mark.parametrize("kind", KINDS)
def test_a_special_tensor_among_plain_ones_changes_neither(kind: str) -> None:
    """A list is read at once where all are plain, and one by one otherwise."""
    make, nbytes = KINDS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = make()
    assert {"cpu": 20 + nbytes + 30} == held([T(20), value, T(30)])


def test_each_storage_is_claimed_once() -> None:
    """However many tensors lie on it, and wherever they are met."""
    tensor = T(100)
    found = claims([tensor, tensor[10:], {"a": [tensor.view(10, 10)]}, tensor.untyped_storage()])
    (claim,) = found.claims
    assert ("cpu", tensor.data_ptr(), 100) == claim[:3]
    assert claim.owner is tensor.untyped_storage()


def test_nothing_is_claimed_for_no_bytes() -> None:
    """Also where a storage of 0 bytes has an address."""
    empty = torch.from_numpy(np.zeros(10, np.uint8)[4:4])
    (claim,) = claims([empty, T(3)]).claims
    assert 3 == claim.nbytes


@pytest.mark.parametrize("kind", KINDS)
def test_the_owners_of_claims_die_with_the_value(kind: str) -> None:
    """So that who holds a weak reference to each knows when the bytes are gone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = KINDS[kind][0]()
    owners = [weakref.ref(claim.owner) for claim in claims(value).claims]
    assert all(owner() is not None for owner in owners)
    del value
    gc.collect()
    assert all(owner() is None for owner in owners)
