"""What the walk counts, each kind against the allocation itself."""

import array
import collections
import ctypes
import enum
import functools
import mmap
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from session_state.accounting import walk
from session_state.manager import SessionState, SessionStateManager
from session_state.view import SessionView
from torch._subclasses import FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .values import Plain, Slotted, T, carried, closure, held, owned


class Node:
    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


class Hostile:
    """Every way in which user code could run."""

    def __init__(self, held: object) -> None:
        object.__setattr__(self, "held", held)

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("the walk ran user code")

    __len__ = __iter__ = __hash__ = __eq__ = __repr__ = __getattribute__


class HostileDict(dict[Any, Any]):
    def items(self) -> Any:
        raise RuntimeError("the walk ran user code")

    __iter__ = keys = values = __len__ = __getitem__ = items


class Number(int):
    pass


class Colour(enum.Enum):
    RED = 1


def cycle() -> Node:
    node = Node(payload=T(100))
    node.itself = [node]
    return node


def deep(value: object, depth: int) -> object:
    for _ in range(depth):
        value = [value]
    return value


def numbered(value: object) -> Number:
    number = Number(3)
    number.note = value
    return number


def noted_tensor() -> torch.Tensor:
    tensor = T(100)
    tensor.note = [T(50)]
    return tensor


def with_grad() -> torch.Tensor:
    leaf = torch.zeros(10, requires_grad=True)
    leaf.grad = torch.ones(10)
    return leaf


def object_array(*items: object) -> Any:
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


class Frame(np.ndarray[Any, Any]):
    pass


def frame(nbytes: int) -> Frame:
    made = np.zeros(nbytes, np.uint8).view(Frame)
    made.note = T(10)
    return made


class WithSlot(torch.Tensor):
    __slots__ = ("note",)

    @property
    def layout(self) -> Any:
        raise RuntimeError("the walk ran user code")


def slotted_tensor() -> torch.Tensor:
    tensor = T(60).as_subclass(WithSlot)
    tensor.note = T(40)
    return tensor


class HostileMeta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise RuntimeError("the walk ran user code")

    __hash__ = __eq__ = __getattribute__


def hostile_class() -> object:
    class Held(metaclass=HostileMeta):
        pass

    held = Held()
    held.__dict__["a"] = T(100)
    return held


KINDS = {
    "tensor": (lambda: T(100), 100),
    "view of a larger storage": (lambda: T(100)[10:20], 100),
    "empty view": (lambda: T(100)[:0], 100),
    "expanded": (lambda: T(1).expand(100), 1),
    "parameter": (lambda: torch.nn.Parameter(torch.zeros(25)), 100),
    "bfloat16": (lambda: torch.zeros(50, dtype=torch.bfloat16), 100),
    "conjugate": (lambda: torch.zeros(10, dtype=torch.complex64).conj(), 80),
    "untyped storage": (lambda: T(100).untyped_storage(), 100),
    "typed storage": (lambda: Node(storage=T(100).untyped_storage()), 100),
    "gradient": (with_grad, 80),
    "attribute of a tensor": (noted_tensor, 150),
    "meta": (lambda: torch.empty(100, device="meta"), 0),
    "dict": (lambda: {"a": T(60), "b": [T(40)]}, 100),
    "key": (lambda: {(T(100), 1): None}, 100),
    "tuple": (lambda: (T(60), None, T(40)), 100),
    "set": (lambda: {T(60), T(40)}, 100),
    "frozenset": (lambda: frozenset([T(60), T(40)]), 100),
    "deque": (lambda: collections.deque([T(60), T(40)], maxlen=5), 100),
    "mappingproxy": (lambda: types.MappingProxyType({"a": T(100)}), 100),
    "OrderedDict": (lambda: collections.OrderedDict(a=T(100)), 100),
    "defaultdict": (lambda: collections.defaultdict(closure(T(60)), {1: T(40)}), 100),
    "ChainMap": (lambda: collections.ChainMap({"a": T(100)}), 100),
    "dict values": (lambda: {"a": T(100)}.values(), 100),
    "named tuple": (lambda: torch.max(torch.zeros(2, 5), 1), 2 * 4 + 2 * 8),
    "attrs record": (lambda: Slotted(T(60), T(40)), 100),
    "dataclass": (lambda: Plain([T(100)]), 100),
    "object": (lambda: Node(a=T(100)), 100),
    "object whose class runs code": (lambda: Hostile(T(100)), 100),
    "dict whose class runs code": (lambda: HostileDict(a=T(100)), 100),
    "int with attributes": (lambda: numbered(T(100)), 100),
    "namespace": (lambda: types.SimpleNamespace(a=T(100)), 100),
    "module": (lambda: torch.nn.Sequential(torch.nn.Linear(4, 5)), 4 * (4 * 5 + 5)),
    "closure": (lambda: closure(T(100)), 100),
    "default argument": (lambda: lambda value=T(100): value, 100),  # noqa: B008
    "partial": (lambda: functools.partial(closure(T(60)), T(40)), 100),
    "method": (lambda: Node(a=T(100)).__init__, 100),
    "builtin method": (lambda: [T(100)].append, 100),
    "weak reference": (lambda: weakref.ref(Node()), 0),
    "cycle": (cycle, 100),
    "ten thousand deep": (lambda: deep(T(100), 10_000), 100),
    "bytes": (lambda: b"x" * 100, 100),
    "bytearray": (lambda: bytearray(100), 100),
    "memoryview": (lambda: memoryview(bytearray(100))[10:20], 100),
    "strided memoryview": (lambda: memoryview(bytes(100))[::2], 100),
    "array": (lambda: array.array("d", [0.0] * 10), 80),
    "mmap": (lambda: mmap.mmap(-1, 100), 100),
    "ctypes": (lambda: (ctypes.c_double * 10)(), 80),
    "ctypes over a bytearray": (lambda: (ctypes.c_char * 10).from_buffer(bytearray(100), 5), 100),
    "ndarray": (lambda: np.zeros(100, np.uint8), 100),
    "ndarray, Fortran order": (lambda: np.zeros((5, 20), np.uint8, order="F"), 100),
    "ndarray view": (lambda: np.zeros(100, np.uint8)[::-3][:4], 100),
    "ndarray without elements": (lambda: np.zeros((0, 5)), 0),
    "ndarray subclass": (lambda: frame(100), 110),
    "view of a subclass": (lambda: np.asarray(frame(100)[3:5]), 110),
    "ndarray over bytes": (lambda: np.frombuffer(bytes(100), np.uint8)[3:5], 100),
    "ndarray over a memoryview": (lambda: np.frombuffer(memoryview(bytearray(100)), "u1"), 100),
    "ndarray over an mmap": (lambda: np.frombuffer(mmap.mmap(-1, 100), np.uint8, 10), 100),
    "ndarray of a tensor": (lambda: T(100)[40:].numpy(), 100),
    "ndarray by dlpack": (lambda: np.from_dlpack(T(100)), 100),
    "as_strided": (
        lambda: np.lib.stride_tricks.sliding_window_view(np.zeros(100, np.uint8), 10),
        100,
    ),
    "array of objects": (lambda: object_array(T(60), [T(40)]), 100 + 2 * 8),
    "structured": (lambda: np.zeros(10, dtype=[("a", "f4"), ("b", "u1")]), 50),
    "structured scalar": (lambda: np.zeros(10, dtype=[("a", "f4"), ("b", "u1")])[2], 50),
    "structured scalar of its own": (lambda: np.void(b"1234"), 4),
    "NumPy bytes": (lambda: np.bytes_(b"1234"), 4),
    "slot of a tensor subclass": (slotted_tensor, 100),
    "object whose metaclass runs code": (hostile_class, 100),
    "masked": (lambda: np.ma.masked_array(np.zeros(100, "u1"), np.zeros(100, bool)), 200),
}

LEAVES = [
    *(1, 2.5, True, None, "text", range(10**9), Colour.RED, torch.float32, torch.Size([3])),
    *(int, Node, torch, threading.Lock(), np.float32(3), np.int64(3), np.dtype("f4"), b""),
    *(torch.device("cpu"), Ellipsis, slice(3), len, threading.Event()),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("placed", [carried, owned])
def test_every_kind_counts_the_allocations_that_it_keeps_alive(placed: Any, kind: str) -> None:
    """The bytes of a field are those of the allocations made for its value."""
    make, nbytes = KINDS[kind]
    session = placed(make())
    assert {} == session.unaccounted()
    assert ({"cpu": nbytes} if nbytes else {}) == session.nbytes_by_device()


@pytest.mark.parametrize("leaf", LEAVES, ids=repr)
def test_leaves_hold_nothing(leaf: object) -> None:
    """Plain values hold no bytes, and are not reported either."""
    assert held(leaf) == {}


def test_a_fake_tensor_holds_nothing() -> None:
    """A fake tensor says cpu, and its storage says meta."""
    with FakeTensorMode():
        fake = torch.empty(100)
    assert held(fake) == {}


def _generator() -> Any:
    yield T(100)


class Exporter:
    """Hands out device memory that it does not refer to."""

    @property
    def __cuda_array_interface__(self) -> Any:
        raise RuntimeError("the walk ran user code")


UNSEEN = {
    "generator": _generator,
    "list_iterator": lambda: iter([T(100)]),
    "torch._C.Generator": lambda: torch.Generator(),
    "numpy.random._generator.Generator": lambda: np.random.default_rng(0),
    "MulBackward0": lambda: torch.ones(3, requires_grad=True) * 2,
    f"{__name__}.Exporter": Exporter,
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_seen_is_named_by_type(name: str) -> None:
    """A kind whose bytes are out of sight is reported, and stops nothing beside it."""
    found = walk([T(10), UNSEEN[name](), T(20)], set())
    assert (name,) == found.unaccounted
    assert found.nbytes["cpu"] >= 30


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("the walk ran user code")


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("the walk ran user code")


@pytest.mark.parametrize("mode", [FunctionMode, DispatchMode])
def test_active_modes_are_not_asked(mode: Any) -> None:
    """Neither for a tensor nor for a bare storage."""
    values = [T(60), T(40).untyped_storage()]
    with mode():
        found = walk(values, set())
    assert (found.nbytes, found.unaccounted) == ({"cpu": 100}, ())


def test_the_manager_the_session_and_the_view_are_not_entered() -> None:
    """They count for themselves, so a value that refers to one does not hold its bytes."""
    manager = SessionStateManager()
    session = manager.get_or_create_session("a")
    session.attrs["x"] = T(100)
    assert held([manager, session, SessionView("a", manager), manager.stats]) == {}
    assert held(SessionState()) == {}
