"""What the readers of the walk share: where they report, and what a claim is."""

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple

import torch


class KeepsBooks:
    """Base of what counts its own bytes: the walk never enters a manager, a session or a view."""

    __slots__ = ()


class Claim(NamedTuple):
    """`nbytes` bytes at `address` of `device`, which are there for as long as `owner` lives.

    For a tensor, the owner is its storage, one Python object per storage. Other owners are the
    array, the buffer or the tensor itself; bytes and bytearray take no weak references.
    """

    device: str
    address: int
    nbytes: int
    owner: object


class Column:
    """The allocations on one device, in the order in which they were met."""

    __slots__ = ("addresses", "sizes", "owners")

    def __init__(self) -> None:
        self.addresses: list[int] = []
        self.sizes: list[int] = []
        self.owners: list[object] = []


class Findings:
    """What one walk has found so far; readers report here.

    Allocations are kept as columns: most come in batches, and few callers want them one by one.
    """

    __slots__ = ("columns", "storages", "_unseen")

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}
        self.storages: set[torch.UntypedStorage] = set()
        self._unseen: dict[str, None] = {}

    def on(self, device: str) -> Column:
        """Where the allocations on `device` go. No owner may be met twice in a walk."""
        column = self.columns.get(device)
        if column is None:
            column = self.columns[device] = Column()
        return column

    def claim(self, device: str, address: int, nbytes: int, owner: object) -> None:
        """Note one allocation."""
        column = self.on(device)
        column.addresses.append(address)
        column.sizes.append(nbytes)
        column.owners.append(owner)

    @property
    def claims(self) -> list[Claim]:
        """The allocations one by one."""
        claims: list[Claim] = []
        for device, found in self.columns.items():
            rows = zip(repeat(device), found.addresses, found.sizes, found.owners)
            # The constructor of a named tuple is Python code; this makes the same and costs half.
            claims += map(tuple.__new__, repeat(Claim), rows)
        return claims

    def name(self, cls: type) -> None:
        """Note that a value of type `cls` could not be seen, or not all of it."""
        self._unseen[type_name(cls)] = None

    @property
    def unaccounted(self) -> tuple[str, ...]:
        """The types that were named, each once, in the order in which they were met."""
        return tuple(self._unseen)


Reader = Callable[[list[Any], Findings], Iterable[object]]
"""Reports what values of one kind hold themselves, and returns what they refer to."""


def each(read: Callable[[Any, Findings], Iterable[object]]) -> Reader:
    """The reader that takes values one by one; one that raises is named and stops no other."""

    def reader(values: list[Any], found: Findings) -> Iterable[object]:
        held: list[object] = []
        for value in values:
            try:
                held += read(value, found)
            except Exception:
                found.name(type(value))
        return held

    return reader


def type_name(cls: type) -> str:
    """The name under which a type is reported, such as `torch._C.Generator`."""
    module = type.__dict__["__module__"].__get__(cls)
    name: str = type.__dict__["__qualname__"].__get__(cls)
    return name if module == "builtins" or type(module) is not str else f"{module}.{name}"
