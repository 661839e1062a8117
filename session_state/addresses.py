"""Addresses in order, where finding, adding and removing one among millions costs no more."""

from bisect import bisect_left, bisect_right

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

    def add(self, address: int) -> tuple[int | None, int | None]:
        """Add an address that is not there, and return those just below and above it."""
        blocks, firsts = self._blocks, self._firsts
        at = bisect_right(firsts, address) - 1
        if at < 0:
            above = firsts[0] if firsts else None
            if above is None:
                blocks.append([])
                firsts.append(address)
            blocks[0].insert(0, address)
            firsts[0] = address
            return None, above
        block = blocks[at]
        position = bisect_left(block, address)
        if position < len(block):
            above = block[position]
        else:
            above = firsts[at + 1] if at + 1 < len(firsts) else None
        below = block[position - 1]
        block.insert(position, address)
        if len(block) > LONGEST:
            half = block[LONGEST // 2 :]
            del block[LONGEST // 2 :]
            blocks.insert(at + 1, half)
            firsts.insert(at + 1, half[0])
        return below, above

    def remove(self, address: int) -> None:
        """Remove an address that is there."""
        at = bisect_right(self._firsts, address) - 1
        block = self._blocks[at]
        del block[bisect_left(block, address)]
        if block:
            self._firsts[at] = block[0]
        else:
            del self._blocks[at], self._firsts[at]
