"""How many bytes letting go of something really frees."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .accounting import SeenStorages, merge_bytes
from .coverage import Coverage

if TYPE_CHECKING:
    from .base import StateObject


def freed_by(
    let_go: Callable[[], object], objects: "Iterable[StateObject[Any, Any]]"
) -> dict[str, int]:
    """Call `let_go` and return the bytes of `objects` that are gone by then, per device.

    A device where they held something is named, with 0 where an alias keeps all of it. Storage that
    the walk cannot see, such as another component's, counts as its object reports it.
    """
    seen: SeenStorages = set()
    freed: dict[str, int] = {}
    for obj in objects:
        merge_bytes(freed, obj.nbytes_by_device(seen))
    coverage = Coverage.of(seen)
    devices = [device for device, *_ in coverage.claims]
    watched = list(zip(devices, coverage.watch(), strict=True))
    for device, (_, nbytes) in watched:
        freed[device] = max(freed.get(device, 0) - nbytes, 0)
    # What they keep alive must be free to die.
    del seen, coverage
    let_go()
    for device, (is_gone, nbytes) in watched:
        freed[device] += nbytes if is_gone() else 0
    return freed
