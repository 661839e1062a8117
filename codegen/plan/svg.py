"""A small writer of SVG: elements, and the scales and ticks of a chart."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from statistics import mean

from attrs import frozen
from markupsafe import Markup, escape

Point = tuple[float, float]


def element(name: str, *children: Markup | str, **attributes: str | float) -> Markup:
    """An element; texts are escaped, and an underscore in an attribute's name is a hyphen."""
    pairs = (f' {_attribute(key)}="{escape(_text(value))}"' for key, value in attributes.items())
    inner = Markup("").join(children)
    return Markup(f"<{name}{''.join(pairs)}>{inner}</{name}>")


def _attribute(key: str) -> str:
    return key if key == "viewBox" else key.rstrip("_").replace("_", "-")


def _text(value: str | float) -> str:
    """Numbers to a tenth of a pixel, so that a picture is the same on every machine."""
    if isinstance(value, str):
        return value
    return f"{round(value, 1):g}" if abs(value) < 1e5 else str(round(value))


def path(points: Sequence[Point], class_: str, closed: bool = False, **more: float) -> Markup:
    """A line through points, closed to an area where asked."""
    moves = "L".join(f"{_text(x)},{_text(y)}" for x, y in points)
    return element("path", d=f"M{moves}{'Z' if closed else ''}", class_=class_, **more)


def text(x: float, y: float, content: str, class_: str, anchor: str = "start") -> Markup:
    """A line of text whose baseline is at `y`."""
    return element("text", content, x=x, y=y, class_=class_, text_anchor=anchor)


@frozen
class Scale:
    """Numbers between `low` and `high` to pixels between `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


def ticks(most: float, count: int) -> Iterator[float]:
    """About so many round numbers from 0 to at least `most`."""
    rough = most / count
    power = 10.0 ** floor(log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * (1 - 1e-9))
    return (step * at for at in range(ceil(most / step - 1e-9) + 1))


def spread(wanted: Sequence[float], apart: float, lowest: float, highest: float) -> list[float]:
    """Places as near as can be to those wanted, which ascend, so that no two are closer than `apart`.

    Those that would crowd stand together around their middle, as in an isotonic regression.
    """
    blocks: list[list[float]] = []
    for at, place in enumerate(wanted):
        blocks.append([place - at * apart])
        while len(blocks) > 1 and mean(blocks[-2]) >= mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    last = highest - max(0, len(wanted) - 1) * apart
    middles = [mean(block) for block in blocks for _ in block]
    return [max(lowest, min(last, at)) + index * apart for index, at in enumerate(middles)]
