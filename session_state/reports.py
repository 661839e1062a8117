"""What an object says that it holds, as far as that can be believed."""

from collections import Counter
from collections.abc import Mapping
from operator import index
from typing import Any

from .accounting import SeenStorages, walk
from .base import StateObject
from .coverage import Coverage


def reported(obj: StateObject[Any, Any], seen: SeenStorages) -> Mapping[str, int]:
    """Bytes per device by the object's own count, or by a walk where that is no count of bytes."""
    coverage = Coverage.of(seen)
    mark = coverage.mark
    try:
        own = obj.nbytes_by_device(seen)
        return {str(device): _count(nbytes) for device, nbytes in own.items()}
    except Exception:
        coverage.rollback(mark, seen)
        return walk(obj, seen).nbytes


def reported_beyond(obj: StateObject[Any, Any], seen: SeenStorages) -> Counter[str]:
    """What of `reported` nobody saw: bytes per device that the object knows alone."""
    coverage = Coverage.of(seen)
    before = Counter(coverage.nbytes)
    beyond = Counter(reported(obj, seen))
    beyond.subtract(coverage.nbytes)
    beyond.update(before)
    return +beyond


def _count(nbytes: object) -> int:
    """What an object reported for one device; ValueError or TypeError for no number of bytes."""
    count = index(nbytes)  # type: ignore[arg-type]
    if count < 0:
        raise ValueError(f"{count} is no number of bytes")
    return count
