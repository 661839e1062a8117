"""The order of addresses, against a sorted list."""

import random
from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_state import addresses
from session_state.addresses import Addresses


@given(st.lists(st.integers(0, 40)), st.integers(2, 4))
def test_below_finds_what_a_sorted_list_has(toggled: list[int], longest: int) -> None:
    """An address that comes again is removed; blocks as short as can be are split and dropped."""
    ordered, found = list[int](), Addresses()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(addresses, "LONGEST", longest)
        for address in toggled:
            at = bisect_left(ordered, address)
            if address in ordered:
                ordered.remove(address)
                found.remove(address)
            else:
                neighbours = (*ordered[max(at - 1, 0) : at], None)[0], (*ordered[at:], None)[0]
                assert neighbours == found.add(address)
                ordered.insert(at, address)
            for asked in range(42):
                lower = [one for one in ordered if one < asked]
                assert (lower[-1] if lower else None) == found.below(asked)


def test_no_block_grows_with_the_number_of_addresses() -> None:
    """Otherwise each insertion would move all that come after it."""
    found = Addresses()
    for address in random.Random(0).sample(range(1 << 40), 20_000):
        found.add(address)
    assert addresses.LONGEST >= max(map(len, found._blocks))
