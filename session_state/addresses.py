"""Addresses in order, where finding, adding and removing one among millions costs no more."""

from bisect import bisect_left, bisect_right, insort

LONGEST = 1024
"""Addresses of a block, of which adding or removing one moves half."""


class Addresses:
    """Distinct addresses, in ascending blocks of ascending addresses; no block is empty."""

    __slots__ = ("_blocks", "_firsts")

    def __init__(self) -> None:
        self._blocks: list[list[int]] = []
        self._firsts: list[int] = []

    def below(self, address: int) -> int | None:
        """The highest address that is lower than `address`, or None."""
        at = bisect_left(self._firsts, address) - 1
        if at < 0:
            return None
        block = self._blocks[at]
        return block[bisect_left(block, address) - 1]

    def add(self, address: int) -> None:
        """Add an address that is not there."""
        if not self._blocks:
            self._blocks.append([])
            self._firsts.append(address)
        at = max(bisect_right(self._firsts, address) - 1, 0)
        block = self._blocks[at]
        insort(block, address)
        self._firsts[at] = block[0]
        if len(block) > LONGEST:
            half = block[LONGEST // 2 :]
            del block[LONGEST // 2 :]
            self._blocks.insert(at + 1, half)
            self._firsts.insert(at + 1, half[0])

    def remove(self, address: int) -> None:
        """Remove an address that is there."""
        at = bisect_right(self._firsts, address) - 1
        block = self._blocks[at]
        del block[bisect_left(block, address)]
        if block:
            self._firsts[at] = block[0]
        else:
            del self._blocks[at], self._firsts[at]
