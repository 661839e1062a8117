"""The page can be read: by anybody, on anything, on paper, and without a mouse."""

import re

import attrs
import pytest

from codegen.model import Schema

from .conftest import Open, document_of, everything, shipped
from .opened import Opened

# Every element that has a text of its own, with the colours that it has and lies on.
_COLOURS = """
() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const solid = (colour) => numbers(colour).length === 3 || numbers(colour)[3] === 1;
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (solid(colour)) return numbers(colour);
    }
    throw new Error("nothing is behind it");
  };
  const found = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const input = one.matches("input, select");
    if (!(own || input) || !one.checkVisibility() || one.closest("script, svg")) continue;
    const styles = [getComputedStyle(one)];
    if (input) styles.push(getComputedStyle(one, "::placeholder"));
    if (one.dataset.label) styles.push(getComputedStyle(one, "::before"));
    for (const style of styles) found.push([one.outerHTML, numbers(style.color), behind(one)]);
  }
  for (const one of document.querySelectorAll("svg text")) {
    const on = getComputedStyle(one.previousSibling).fill;
    const behindIt = on === "none" ? behind(one) : numbers(on);
    found.push([one.outerHTML, numbers(getComputedStyle(one).fill), behindIt]);
  }
  return found;
}
"""


def luminance(colour: list[float]) -> float:
    parts = [value / 255 for value in colour[:3]]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: list[float], other: list[float]) -> float:
    """As WCAG 2 defines it: 1 for the same colour, 21 for black on white."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_as_wcag_defines_it() -> None:
    """The measure of these tests gives the standard's own figures."""
    assert 21 == pytest.approx(contrast([0, 0, 0], [255, 255, 255]))
    assert 4.48 == pytest.approx(contrast([119, 119, 119], [255, 255, 255]), abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_every_text_has_the_contrast_of_aa(open_page: Open, scheme: str, width: int) -> None:
    """At least 4.5 to 1, in both schemes, also of a mistake, a target and a placeholder."""
    opened = open_page(
        document_of(*shipped(), everything()),
        "#everything.ring",
        color_scheme=scheme,
        viewport={"width": width, "height": 800},
    )
    opened.find("#everything-at-window").fill("none")
    texts = opened.js(_COLOURS)
    assert len(texts) > 300
    poor = [
        (text, contrast(ink, paper)) for text, ink, paper in texts if contrast(ink, paper) < 4.5
    ]
    assert [] == poor
    dark = luminance(opened.js(_COLOURS)[0][2]) < 0.2
    assert (scheme == "dark") == dark


def long_names() -> Schema:
    """Names and texts of a length that people do write."""
    schema = everything()
    long = "a_name_that_somebody_thought_about_for_a_very_long_time_indeed"
    first, *rest = schema.fields
    return attrs.evolve(
        schema, model="LongNames" * 5, fields=(attrs.evolve(first, name=long), *rest)
    )


@pytest.mark.parametrize("width", [320, 360, 768, 1024, 1280])
def test_the_page_never_scrolls_sideways(open_page: Open, width: int) -> None:
    """On a phone and on a desk everything lies within the width; a picture scrolls in its frame."""
    opened = open_page(
        document_of(*shipped(), everything(), long_names()),
        viewport={"width": width, "height": 740},
        is_mobile=width < 400,
    )
    assert width == opened.js("() => document.documentElement.scrollWidth")
    outside = opened.js(
        """() => [...document.querySelectorAll("body *")]
          .filter((one) => one.checkVisibility() && !one.closest(".scroll, thead, script"))
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML)"""
    )
    assert [] == outside


def test_a_phone_shows_cards_with_every_label(open_page: Open) -> None:
    """Without a table head each value says what it is, and stays a table to a screen reader."""
    opened = open_page(document_of(*shipped()), viewport={"width": 360, "height": 740})
    labels = opened.js(
        """() => [...document.querySelectorAll("#dreamzero\\\\.ys td")].map(
          (cell) => getComputedStyle(cell, "::before").content)"""
    )
    assert [
        '"Placement"',
        '"The manager may"',
        '"Survives"',
        '"Device"',
        '"Bytes"',
        '"Reason"',
    ] == labels
    assert 1 == opened.page.get_by_role("table", name="The fields of DreamZero").count()
    rows = opened.page.get_by_role("table", name="The fields of DreamZero").get_by_role("row")
    assert 13 == rows.count()
    assert opened.page.get_by_role("columnheader", name="Survives").first.count()


def test_inputs_are_large_enough_for_a_thumb(open_page: Open) -> None:
    """44 pixels on a phone, and a size of text at which no phone zooms in."""
    opened = open_page(document_of(*shipped()), viewport={"width": 360, "height": 740})
    small = opened.js(
        """() => [...document.querySelectorAll("input, select")]
          .filter((one) => one.checkVisibility())
          .filter((one) => one.offsetHeight < 44 || parseFloat(getComputedStyle(one).fontSize) < 16)
          .map((one) => one.id)"""
    )
    assert [] == small


def test_paper_has_every_row_and_no_controls(open_page: Open) -> None:
    """Printed, filters are gone, sizes stay as text, ink is dark on white in either scheme."""
    opened = open_page(document_of(*shipped()), color_scheme="dark")
    opened.page.emulate_media(media="print")
    assert not opened.find("#filters").is_visible()
    assert 14 == len(opened.fields)
    assert opened.find("#dreamzero-at-H").is_visible()
    assert all(contrast(ink, [255, 255, 255]) >= 4.5 for _, ink, _ in opened.js(_COLOURS))
    pdf = opened.page.pdf(prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert 2 <= pages <= 5


def focused(opened: Opened) -> str:
    found: str = opened.js("() => document.activeElement.id || document.activeElement.textContent")
    return found


def test_everything_is_reached_by_the_keyboard(open_page: Open) -> None:
    """Tab goes through filters, models, sizes and fields in the order of the page."""
    opened = open_page(document_of(*shipped()))
    order = []
    for _ in range(200):
        opened.page.keyboard.press("Tab")
        if opened.js("() => document.activeElement === document.body"):
            break
        order.append(focused(opened))
        assert "2px" == opened.js("() => getComputedStyle(document.activeElement).outlineWidth")
    expected = opened.js(
        """() => [...document.querySelectorAll("input, select, a, button, [tabindex]")]
          .filter((one) => one.checkVisibility()).map((one) => one.id || one.textContent)"""
    )
    assert expected == order
    assert "search" == order[0] and "dreamzero-at-H" in order


def test_keys_search_and_turn(open_page: Open) -> None:
    """A slash goes to the search, arrows turn a size, Enter leaves nothing behind."""
    opened = open_page(document_of(*shipped()))
    keyboard = opened.page.keyboard
    keyboard.press("/")
    assert "search" == focused(opened)
    keyboard.type("ring")
    keyboard.press("Enter")
    assert len(opened.fields) < 14
    opened.find("#dreamzero-at-H").focus()
    keyboard.press("ArrowUp")
    assert "353" == opened.find("#dreamzero-at-H").input_value()
    keyboard.press("Shift+ArrowDown")
    assert "345" == opened.find("#dreamzero-at-H").input_value()
    opened.find("#dreamzero-at-h").focus()
    assert "43" == opened.find("#dreamzero-at-h").get_attribute("placeholder")
    keyboard.press("ArrowDown")
    assert "42" == opened.find("#dreamzero-at-h").input_value()
    keyboard.press("Enter")
    assert opened.page.url.endswith(".html")


def test_a_link_opens_its_field(open_page: Open) -> None:
    """A colleague who is sent the address of a field sees that field, marked."""
    opened = open_page(document_of(*shipped(), everything()), "#everything.gain")
    row = opened.find("#everything\\.gain")
    top = row.evaluate("(row) => row.getBoundingClientRect().top")
    assert 0 <= top < 900
    assert row.evaluate("(row) => row.matches(':target')")
    assert ["everything.gain"] == row.locator("a").evaluate_all(
        "(all) => all.map((one) => one.hash.slice(1))"
    )
