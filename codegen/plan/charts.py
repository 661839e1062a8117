"""A plan as pictures: bytes over steps, and sessions over resolution."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import log2

from attrs import frozen
from markupsafe import Markup

from ..emit.table import in_units
from ..model import Device
from ..page.html import joined
from ..settings import UsageError
from .document import Plan
from .fit import Room, fit
from .session import SessionBytes, is_resizable
from .svg import Point, Scale, element, path, spread, text, ticks

STYLE = "page_chart.css"
WIDTH, HEIGHT = 420, 284
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 262, 58, 258
_LABELS = _RIGHT + 16
_LINE = 30
_GAP, _MARGIN, _TITLE = 28, 28, 52
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
# Whole devices that sessions could have where no memory is given.
_MEMORIES = tuple(Room(size * 2**30, 0) for size in (24, 48, 80, 141))
# Of a device's bytes, what a field needs to be drawn by itself.
_DRAWN = 0.03
_BANDS = 5
_LONGEST = 21
_GRID = 16
# Where none is drawn on a scale of powers, which has no zero.
_NONE = -1.0


def picture(plans: Sequence[Plan]) -> Markup:
    """All charts of all models, as one SVG file."""
    rows = [(plan, charts(plan)) for plan in plans]
    columns = max((len(row) for _, row in rows), default=1) or 1
    width = 2 * _MARGIN + columns * WIDTH + (columns - 1) * _GAP
    pitch = _TITLE + HEIGHT + _GAP
    height = len(rows) * pitch + _GAP
    parts = [element("rect", class_="sheet", x=0, y=0, width=width, height=height)]
    for at, (plan, row) in enumerate(rows):
        top = at * pitch + _GAP
        parts.append(text(_MARGIN, top + 24, plan.session.schema.model, "title"))
        for column, chart in enumerate(row):
            left = _MARGIN + column * (WIDTH + _GAP)
            parts.append(element("g", chart, transform=f"translate({left} {top + _TITLE})"))
    return Markup('<?xml version="1.0" encoding="UTF-8"?>\n') + element(
        "svg",
        element("style", Markup(joined((STYLE,)))),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def charts(plan: Plan) -> list[Markup]:
    """The charts of one model, each WIDTH by HEIGHT: a device each, then resolutions."""
    found = [over_steps(plan, held.device) for held in plan.session.devices]
    if is_resizable(plan.session.schema, ("H", "W")) and plan.session.on("accelerator").declared:
        found.append(over_resolution(plan))
    return found


@frozen
class _Band:
    """Fields that are drawn as one: the bytes below them at each step, and those with theirs."""

    label: str
    base: Sequence[int]
    top: Sequence[int]


def over_steps(plan: Plan, device: Device) -> Markup:
    """The fields on a device, one above the other, over the steps of a session."""
    one = plan.session
    steps, held = _steps(one), one.on(device)
    bands = list(_bands(one, device, steps))
    most = max(held.peak, bands[-1].top[-1])
    unit, size = next(found for found in _UNITS if most >= found[1])
    marks = [(mark * size, f"{mark:g}") for mark in ticks(most / size, 4)]
    x = Scale(steps[0], steps[-1], _LEFT, _RIGHT)
    y = Scale(0, marks[-1][0], _BOTTOM, _TOP)
    areas, labels = [], []
    for at, band in enumerate(bands):
        top = [(x(step), y(value)) for step, value in zip(steps, band.top, strict=True)]
        base = [(x(step), y(value)) for step, value in zip(steps, band.base, strict=True)]
        outline, shade = top + base[::-1], max(0.25, 0.85 - 0.2 * at)
        areas += [path(outline, "sheet", True)]
        areas += [path(outline, f"area {device}", True, fill_opacity=shade)]
        middle = y((band.base[-1] + band.top[-1]) / 2)
        labels.append((middle, band.label, in_units(band.top[-1] - band.base[-1])))
    if held.copy:
        areas.append(path([(_LEFT, y(held.peak)), (_RIGHT, y(held.peak))], "peak"))
        labels.append((y(held.peak), "peak", f"{in_units(held.peak)} with one copy"))
    return element(
        "g",
        *_head(f"Bytes of one {plan.unit}: {device}", f"in {unit}, over steps"),
        *_grid(y, marks),
        *areas,
        *_below(x, [(step, f"{step:,}") for step in _step_marks(steps)]),
        *_beside(labels),
    )


def over_resolution(plan: Plan) -> Markup:
    """The sessions that fit, from small pictures to large ones of the same shape."""
    sizes = list(_resolutions(plan.session))
    rooms = (plan.room,) if plan.room else _MEMORIES
    here, heights = plan.session.at.values["H"], [one.at.values["H"] for one in sizes]
    names = {h: f"{h}×{one.at.values['W']}" for h, one in zip(heights, sizes, strict=True)}
    counts = {room: [fit(one, room).sessions or 0 for one in sizes] for room in rooms}
    most = max(1.0, *(_log(max(found)) for found in counts.values()))
    least = _NONE if any(0 in found for found in counts.values()) else 0.0
    x, y = Scale(heights[0], heights[-1], _LEFT, _RIGHT), Scale(least, most, _BOTTOM, _TOP)
    parts, labels = [path([(x(here), _TOP), (x(here), _BOTTOM)], "grid")], []
    for room, found in counts.items():
        points = [(x(h), y(_log(count))) for h, count in zip(heights, found, strict=True)]
        parts.append(path(points, "line accelerator"))
        at = heights.index(here)
        parts.append(element("circle", cx=points[at][0], cy=points[at][1], r=3.5, class_="dot"))
        name = in_units(room.free).replace(".00 ", " ")
        labels.append((points[-1][1], name, f"{found[at]:,} at {names[here]}"))
    marks = (
        (float(power), f"{2**power:,}") for power in range(0, int(most) + 1, 1 + int(most) // 6)
    )
    return element(
        "g",
        *_head("Sessions that fit", "by H×W, in so much free memory of an accelerator"),
        *_grid(y, [(_NONE, "0"), *marks] if least else list(marks)),
        *parts,
        *_below(x, [(height, names[height]) for height in _shown(heights, here)]),
        *_beside(labels),
    )


def _steps(one: SessionBytes) -> list[int]:
    """Those to draw: every one while rings fill, and then so many that a line looks like one."""
    last = max(one.steps, 2)
    young = min(last, max(2 * one.steady_after, 120))
    return sorted({*range(1, young + 1), *(1 + (last - 1) * at // 120 for at in range(121))})


def _bands(one: SessionBytes, device: Device, steps: Sequence[int]) -> Iterator[_Band]:
    """The fields from the largest up, one on the other; those too small to see are one."""
    held = {
        field.name: [one.held(field, step) for step in steps]
        for field in one.fields
        if field.device == device
    }
    least = _DRAWN * sum(counts[-1] for counts in held.values())
    ranked = sorted(held, key=lambda name: -held[name][-1])
    small = [name for at, name in enumerate(ranked) if at >= _BANDS or held[name][-1] < least]
    if len(small) > 1:
        together = zip(*(held.pop(name) for name in small), strict=True)
        held[f"{len(small)} smaller fields"] = [sum(counts) for counts in together]
    base = [0] * len(steps)
    for label, counts in sorted(held.items(), key=lambda item: -item[1][-1]):
        top = [low + count for low, count in zip(base, counts, strict=True)]
        yield _Band(label, base, top)
        base = top


def _resolutions(one: SessionBytes) -> Iterator[SessionBytes]:
    """The session at pictures of a quarter to thrice its height, and at its own."""
    here, across = one.at.values["H"], one.at.values["W"]
    around = {max(_GRID, round(here * at / 16 / _GRID) * _GRID) for at in range(4, 49)}
    for height in sorted({*around, here}):
        width = max(_GRID, round(across * height / here / _GRID) * _GRID)
        # A size may be too small for the model, or too large for any number of bytes.
        with suppress(UsageError):
            resized = one.resized(H=height, W=across if height == here else width)
            _ = resized.fields
            yield resized


def _shown(heights: Sequence[int], here: int) -> list[int]:
    """The heights to name: the ends, and its own where that is apart from them."""
    apart = (heights[-1] - heights[0]) / 4
    ends = [heights[0], heights[-1]]
    own = [here] if all(abs(here - end) > apart for end in ends) else []
    middle = min(heights, key=lambda height: abs(height - (here + heights[-1]) / 2))
    return sorted({*ends, *own, *([middle] if own and middle - here > apart else [])})


def _log(count: int) -> float:
    return log2(count) if count else _NONE


def _step_marks(steps: Sequence[int]) -> list[int]:
    """Round steps, and the first."""
    whole = [int(mark) for mark in ticks(steps[-1], 4) if mark == int(mark) and mark <= steps[-1]]
    return sorted({steps[0], *whole[1:]})


def _head(heading: str, about: str) -> tuple[Markup, Markup]:
    return text(0, 14, heading, "heading"), text(0, 32, about, "about")


def _grid(y: Scale, marks: Sequence[tuple[float, str]]) -> Iterator[Markup]:
    for value, label in marks:
        yield path([(_LEFT, y(value)), (_RIGHT, y(value))], "grid")
        yield text(_LEFT - 8, y(value) + 4, label, "axis", "end")


def _below(x: Scale, marks: Sequence[tuple[float, str]]) -> Iterator[Markup]:
    for value, label in marks:
        yield text(x(value), _BOTTOM + 18, label, "axis", "middle")


def _beside(labels: Sequence[tuple[float, str, str]]) -> Iterator[Markup]:
    """Names and amounts to the right of what they name, from the bottom up, led to where crowded."""
    upwards = sorted(labels, key=lambda label: label[0])
    places = spread([at for at, *_ in upwards], _LINE, _TOP, _BOTTOM - 14)
    for (at, name, amount), place in zip(upwards, places, strict=True):
        line: list[Point] = [(_RIGHT + 2, at), (_LABELS - 4, place)]
        yield path(line, "leader")
        short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        yield text(_LABELS, place - 2, short, "name")
        yield text(_LABELS, place + 11, amount, "about")
