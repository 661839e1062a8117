"""Who still holds what a session let go of."""

import gc
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import torch

from .reading import type_name

if TYPE_CHECKING:
    from .manager import SessionStateManager

_CONTAINERS = (list, tuple, dict, set, frozenset)
_DEPTH = 6


@attrs.frozen
class Leak:
    """Bytes that outlive the session that held them.

    `age` is in seconds since the session ended. `holders` names what kind of object holds them,
    such as "Transformer.cached_kv", when that was asked for.
    """

    session_id: str
    field: str
    device: str
    nbytes: int
    age: float
    holders: tuple[str, ...] = ()


def leaks(manager: "SessionStateManager", *, holders: bool = False) -> list[Leak]:
    """What lingers of sessions that ended, the most bytes first.

    With `holders`, all objects of the process are searched for who holds it, which takes seconds.
    """
    ledger = manager.ledger
    found: dict[tuple[Any, str], list[Any]] = defaultdict(list)
    for origin, extent in ledger.lingering():
        found[origin, extent.device].append(extent)
    leaking = [
        Leak(
            origin.session_id,
            origin.field,
            device,
            sum(extent.nbytes for extent in extents),
            ledger.clock() - origin.since,
            _holders(extents) if holders else (),
        )
        for (origin, device), extents in found.items()
    ]
    return sorted(leaking, key=lambda leak: (-leak.nbytes, leak.session_id, leak.field))


def _holders(extents: Iterable[Any]) -> tuple[str, ...]:
    owners = [owner() for extent in extents for owner in extent.owners]
    values: list[object] = [owner for owner in owners if owner is not None]
    wanted = {id(value) for value in values}
    # A tensor refers to its storage out of the collector's sight.
    values += [
        one
        for one in gc.get_objects()
        if issubclass(type(one), torch.Tensor) and _storage_id(one) in wanted
    ]
    ours = {id(values), id(owners)}
    return tuple(sorted({name for value in values for name in _named(value, ours, _DEPTH)}))


def _storage_id(tensor: torch.Tensor) -> int | None:
    try:
        return id(torch.Tensor.untyped_storage(tensor))
    except Exception:
        return None


def _named(value: object, ours: set[int], depth: int) -> Iterator[str]:
    """What refers to `value`, through containers, as far as something has a name.

    `ours` are the ids of what this search made, and of the containers that it went through.
    """
    referrers = gc.get_referrers(value)
    ours.add(id(referrers))
    for referrer in referrers:
        if id(referrer) in ours or issubclass(
            type(referrer), (types.FrameType, types.GeneratorType)
        ):
            continue
        if issubclass(type(referrer), dict) and (owner := _owner_of(referrer)) is not None:
            yield f"{owner}.{_key_of(referrer, value)}"
        elif type(referrer) in _CONTAINERS or issubclass(
            type(referrer), (torch.Tensor, np.ndarray)
        ):
            # Each search looks at every object there is, so that nothing is searched for twice.
            ours.add(id(referrer))
            if depth:
                yield from _named(referrer, ours, depth - 1)
        elif issubclass(type(referrer), types.CellType):
            yield "a closure"
        else:
            yield f"{type_name(type(referrer))}{_attribute_of(referrer, value)}"


def _owner_of(namespace: dict[Any, Any]) -> str | None:
    """The object, or the module, whose namespace a dict is."""
    for owner in gc.get_referrers(namespace):
        if issubclass(type(owner), types.ModuleType) and vars(owner) is namespace:
            return str(owner.__name__)
        if not issubclass(type(owner), type) and getattr(owner, "__dict__", None) is namespace:
            return type_name(type(owner))
    return None


def _key_of(namespace: dict[Any, Any], value: object) -> str:
    return next((str(key) for key, one in list(namespace.items()) if one is value), "?")


def _attribute_of(holder: object, value: object) -> str:
    slots = [name for cls in type(holder).__mro__ for name in _slots_of(cls)]
    own = getattr(holder, "__dict__", None)
    names = [*slots, *(own if type(own) is dict else ())]
    return next((f".{name}" for name in names if getattr(holder, name, None) is value), "")


def _slots_of(cls: type) -> Iterable[str]:
    slots = cls.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
