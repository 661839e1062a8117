"""The picture of what depends on what can be read."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from .conftest import Open, document_of, everything
from .opened import Opened

# Draws edges and reads the picture back: boxes as [name, x, y, width, height], the points that each
# line passes, and whether every text fits its box.
_DRAW = """
(edges) => {
  const drawn = graph(edges, "test", new Set());
  document.body.append(drawn);
  const boxes = [...drawn.querySelectorAll("g")].map((one) => {
    const { x, y, width, height } = one.firstChild.getBBox();
    const text = one.lastChild.getBBox();
    return { name: one.textContent, x, y, width, height, fits: text.width <= width };
  });
  const lines = [...drawn.querySelectorAll(":scope > path")].map((path) => {
    const length = path.getTotalLength();
    const points = [];
    for (let at = 0; at <= 40; at++) {
      const { x, y } = path.getPointAtLength((length * at) / 40);
      points.push([x, y]);
    }
    return points;
  });
  const { width, height } = drawn.viewBox.baseVal;
  drawn.remove();
  return { boxes, lines, width, height };
}
"""


def edge(source: str, field: str, rebuilds: bool = True) -> dict[str, Any]:
    return {"source": source, "field": field, "rebuilds": rebuilds}


NAMES = st.sampled_from([f"value_{n}" * (1 + n % 3) for n in range(9)])
EDGES = st.lists(
    st.fixed_dictionaries({"source": NAMES, "field": NAMES, "rebuilds": st.booleans()}).filter(
        lambda edge: edge["source"] != edge["field"]
    ),
    min_size=1,
    max_size=14,
    unique_by=lambda edge: tuple(edge.values()),
)


@pytest.fixture
def opened(open_page: Open) -> Opened:
    return open_page(document_of(everything()))


def inside(box: dict[str, Any], point: Sequence[float]) -> bool:
    x, y = point
    return bool(
        box["x"] + 2 < x < box["x"] + box["width"] - 2
        and box["y"] + 2 < y < box["y"] + box["height"] - 2
    )


def is_cyclic(edges: list[dict[str, Any]]) -> bool:
    left = {(edge["source"], edge["field"]) for edge in edges}
    while free := {one for one in left if one[0] not in {field for _, field in left}}:
        left -= free
    return bool(left)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(edges=EDGES)
@example(edges=[edge("a", "b"), edge("b", "c"), edge("a", "c"), edge("a", "c", rebuilds=False)])
@example(edges=[edge("a", "b"), edge("b", "a")])
def test_no_box_lies_on_another_and_no_line_crosses_one(
    opened: Opened, edges: list[dict[str, Any]]
) -> None:
    """Boxes lie apart within the picture, hold their names, and sources lie left of what they feed."""
    drawn = opened.js(_DRAW, edges)
    boxes = {box["name"]: box for box in drawn["boxes"]}
    assert {name for edge in edges for name in (edge["source"], edge["field"])} == boxes.keys()
    for box in boxes.values():
        assert box["fits"]
        assert 0 <= box["x"] and box["x"] + box["width"] <= drawn["width"]
        assert 0 <= box["y"] and box["y"] + box["height"] <= drawn["height"]
        for other in boxes.values():
            apart = other is box or (
                box["x"] + box["width"] <= other["x"]
                or other["x"] + other["width"] <= box["x"]
                or box["y"] + box["height"] <= other["y"]
                or other["y"] + other["height"] <= box["y"]
            )
            assert apart
    assert len(edges) == len(drawn["lines"])
    if is_cyclic(edges):
        return
    for edge, line in zip(edges, drawn["lines"], strict=True):
        assert boxes[edge["source"]]["x"] < boxes[edge["field"]]["x"]
        assert [] == [name for name, box in boxes.items() if any(inside(box, p) for p in line)]


def test_the_picture_is_said_in_words(open_page: Open) -> None:
    """Who cannot see the lines hears them, and each field names what clears it."""
    opened = open_page(document_of(everything()))
    words = opened.find("#everything svg").get_attribute("aria-label") or ""
    assert "prompt rebuilds text_kv" in words
    assert "pending takes along indices" in words
    why = opened.find("#everything\\.indices [data-label=Reason]").inner_text()
    assert "Cleared with: pending, prompt" in why
