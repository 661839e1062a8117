"""What generated classes compute declared bytes with."""

import difflib
from functools import cache

import numpy as np
import torch

from .accounting import merge_bytes


class DeclaredBytes(dict[str, int]):
    """The most bytes that a session may hold, per device; `by_field` has them for each field."""

    def __init__(self) -> None:
        super().__init__()
        self.by_field: dict[str, dict[str, int]] = {}

    def add(self, field: str, device: str, dtype: str, *elements: int) -> None:
        """Add the terms of one field, in elements of the torch or NumPy dtype of that name.

        Raises ValueError for an unknown dtype, and for a negative number of elements.
        """
        if min(elements) < 0:
            raise ValueError(
                f"field {field!r} declares {min(elements)} elements on {device}; check its sizes"
            )
        nbytes = {device: sum(elements) * itemsize(dtype)}
        merge_bytes(self.by_field.setdefault(field, {}), nbytes)
        merge_bytes(self, nbytes)


def check_sizes(*, steps: int = 0, **sizes: int) -> None:
    """Raise TypeError unless all are ints, and ValueError for a size below 1 or steps below 0."""
    _check_at_least(0, "steps", steps)
    for name, size in sizes.items():
        _check_at_least(1, name, size)


def _check_at_least(lowest: int, name: str, size: object) -> None:
    if not isinstance(size, int) or isinstance(size, bool):
        raise TypeError(f"{name} must be an int, got {size!r} ({type(size).__name__})")
    if size < lowest:
        raise ValueError(f"{name} must be at least {lowest}, got {size}")


def itemsize(dtype: str) -> int:
    """Bytes per element of the torch or NumPy dtype of that name.

    Raises ValueError, with the closest name, for one that neither has.
    """
    sizes = _itemsizes()
    if dtype not in sizes:
        close = difflib.get_close_matches(str(dtype), sizes, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "; such as 'bfloat16' or 'uint8'"
        raise ValueError(f"no dtype is named {dtype!r}{hint}")
    return sizes[dtype]


@cache
def _itemsizes() -> dict[str, int]:
    numpy_types = {name: np.dtype(cls) for name, cls in np.sctypeDict.items() if type(name) is str}
    return {
        name: dtype.itemsize
        for name, dtype in (numpy_types | vars(torch)).items()
        if isinstance(dtype, (np.dtype, torch.dtype)) and dtype.itemsize
    }


def ceil_div(dividend: int, divisor: int) -> int:
    """`dividend / divisor`, rounded up."""
    return -(-dividend // divisor)
