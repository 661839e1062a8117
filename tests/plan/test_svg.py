"""Where labels, ticks and texts of a chart go."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.plan.svg import Scale, element, spread, text, ticks

PLACES = st.lists(st.floats(-50, 350), min_size=1, max_size=7).map(sorted)


@given(PLACES)
def test_labels_stand_apart_in_order_and_inside(wanted: list[float]) -> None:
    """However crowded the places that they name."""
    places = spread(wanted, 30, 0, 200)
    assert len(wanted) == len(places)
    assert all(after - before >= 30 - 1e-9 for before, after in pairwise(places))
    assert places[0] >= -1e-9 and places[-1] <= 200 + 1e-9


def test_labels_with_room_stand_where_they_belong() -> None:
    """And two that would touch move by the same."""
    assert [10, 90] == spread([10, 90], 30, 0, 200)
    assert [85, 115] == spread([99, 101], 30, 0, 200)


@given(st.floats(1e-3, 1e12), st.integers(2, 8))
def test_ticks_are_round_and_reach_the_top(most: float, count: int) -> None:
    """From zero in equal steps, not many more than were asked for."""
    marks = list(ticks(most, count))
    assert 0 == marks[0]
    assert marks[-1] >= most * (1 - 1e-9)
    assert 2 <= len(marks) <= count + 2


def test_a_scale_runs_from_end_to_end() -> None:
    """Upside down too, as heights do."""
    up = Scale(0, 10, 200, 0)
    assert [200, 100, 0] == [up(0), up(5), up(10)]


@pytest.mark.parametrize("hostile", ["</svg><script>", '" onload="x', "a & b"])
def test_text_cannot_become_markup(hostile: str) -> None:
    """Neither in an element nor in an attribute."""
    made = element("g", text(0, 0, hostile, hostile))
    assert hostile not in made
    assert made.count("<") == 4
