"""A plan as pictures: bytes over steps, and sessions over resolution."""

from collections.abc import Iterator, Mapping, Sequence
from math import log2

from attrs import evolve, frozen
from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from ..declared import values_at
from ..emit.table import in_units
from ..model import Device
from .document import Plan
from .fit import Room, fit
from .session import FieldBytes, SessionBytes, is_resizable
from .svg import Point, Scale, element, path, spread, text, ticks

WIDTH, HEIGHT = 440, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 262, 58, 258
_LABELS = _RIGHT + 16
_LINE = 30
_GAP, _MARGIN, _TITLE = 28, 28, 52
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
# Whole devices that sessions could have where no memory is given.
_MEMORIES = tuple(Room(size * 2**30, 0) for size in (24, 48, 80, 141))
# Of a device's bytes, what a field needs to be drawn by itself.
_DRAWN = 0.03
_GRID = 16


def picture(plans: Sequence[Plan]) -> Markup:
    """All charts of all models as one SVG file."""
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
        element("style", Markup(stylesheet())),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )


def stylesheet() -> str:
    """How charts look, in a file of their own and in a page."""
    loader = PackageLoader("codegen")
    return loader.get_source(Environment(loader=loader), "page_chart.css")[0]


def charts(plan: Plan) -> list[Markup]:
    """The charts of one model, each WIDTH by HEIGHT: a device each, then resolutions."""
    found = [over_steps(plan.session, held.device) for held in plan.session.devices]
    if is_resizable(plan.session.schema, ("H", "W")) and plan.session.on("accelerator").declared:
        found.append(over_resolution(plan))
    return found


@frozen
class _Band:
    """Fields that are drawn as one, and their bytes at each step."""

    label: str
    heights: tuple[int, ...]


def over_steps(one: SessionBytes, device: Device) -> Markup:
    """The fields on a device, one above the other, over the steps of a session."""
    steps = _steps(one)
    held = one.on(device)
    bands = _bands(one, device, steps)
    most = max(held.peak, max(sum(column) for column in zip(*(b.heights for b in bands), strict=True)))
    unit, size = next(found for found in _UNITS if most >= found[1])
    marks = list(ticks(most / size, 4))
    x = Scale(0, steps[-1], _LEFT, _RIGHT)
    y = Scale(0, marks[-1] * size, _BOTTOM, _TOP)
    areas, labels = [], []
    base = [0] * len(steps)
    for at, band in enumerate(bands):
        top = [low + height for low, height in zip(base, band.heights, strict=True)]
        outline = [(x(s), y(v)) for s, v in zip(steps, top, strict=True)]
        under = [(x(s), y(v)) for s, v in zip(steps, base, strict=True)]
        shade = max(0.25, 0.85 - 0.2 * at)
        areas.append(path(outline + under[::-1], f"area {device}", True, fill_opacity=shade))
        labels.append((y((base[-1] + top[-1]) / 2), band.label, in_units(band.heights[-1])))
        base = top
    labels.append((y(held.peak), "peak", f"{in_units(held.peak)} with a copy beside"))
    return element(
        "g",
        *_head(f"Bytes of one session: {device}", f"in {unit}, over steps"),
        *_grid(y, [(mark * size, f"{mark:g}") for mark in marks]),
        *areas,
        path([(x(0), y(held.peak)), (x(steps[-1]), y(held.peak))], "peak"),
        *_below(x, [(step, f"{step:,g}") for step in _step_marks(steps[-1])]),
        *_beside(labels),
    )


def over_resolution(plan: Plan) -> Markup:
    """The sessions that fit, from small pictures to large ones of the same shape."""
    sizes = list(_resolutions(plan.session))
    rooms = (plan.room,) if plan.room else _MEMORIES
    fits = {room: [fit(one, room).sessions or 0 for one in sizes] for room in rooms}
    here = plan.session.at.values["H"]
    heights = [one.at.values["H"] for one in sizes]
    most = max(max(counts) for counts in fits.values())
    x = Scale(heights[0], heights[-1], _LEFT, _RIGHT)
    # Half a session stands for none: a logarithm has no zero.
    y = Scale(-1, max(1.0, log2(max(most, 1))), _BOTTOM, _TOP)
    parts, labels = [], []
    for room, counts in fits.items():
        points = [(x(h), y(_log(n))) for h, n in zip(heights, counts, strict=True)]
        parts.append(path(points, "line accelerator"))
        labels.append((points[-1][1], in_units(room.free).replace(".00", ""), f"{counts[-1]:,}"))
        count = counts[heights.index(here)]
        parts.append(element("circle", cx=x(here), cy=y(_log(count)), r=3.5, class_="dot"))
        parts.append(text(x(here) + 8, y(_log(count)) - 6, f"{count:,}", "axis"))
    powers = range(0, int(max(1.0, log2(max(most, 1)))) + 1, 1 + int(log2(max(most, 2))) // 6)
    marks = [(-1.0, "0"), *((float(power), f"{2**power:,}") for power in powers)]
    return element(
        "g",
        *_head("Sessions that fit an accelerator", "of so much free memory, by H × W"),
        *_grid(y, marks),
        *parts,
        *_below(x, [(h, f"{h}×{sizes[heights.index(h)].at.values['W']}") for h in _shown(heights, here)]),
        *_beside(sorted(labels, reverse=True)),
    )


def _steps(one: SessionBytes) -> list[int]:
    """Those to draw: every one while rings fill, and then so many that a line looks like one."""
    last = max(one.steps, 2 * one.steady_after, 8)
    young = range(0, min(last, 2 * one.steady_after) + 1)
    return sorted({*young, *(last * at // 120 for at in range(121)), last})


def _bands(one: SessionBytes, device: Device, steps: Sequence[int]) -> list[_Band]:
    """The fields from the largest up; those too small to see are one."""
    on_device = [field for field in one.fields if field.device == device]
    on_device.sort(key=lambda field: -one.held(field, steps[-1]))
    least = _DRAWN * sum(one.held(field, steps[-1]) for field in on_device)
    large = [field for field in on_device if one.held(field, steps[-1]) >= least]
    small = [field for field in on_device if field not in large]
    bands = [_Band(field.name, _heights(one, [field], steps)) for field in large]
    if small:
        label = small[0].name if len(small) == 1 else f"{len(small)} smaller fields"
        bands.append(_Band(label, _heights(one, small, steps)))
    return bands


def _heights(
    one: SessionBytes, fields: Sequence[FieldBytes], steps: Sequence[int]
) -> tuple[int, ...]:
    # A session that has not stepped holds nothing yet.
    return tuple(sum(one.held(field, step) for field in fields) if step else 0 for step in steps)


def _resolutions(one: SessionBytes) -> Iterator[SessionBytes]:
    """The session at pictures of a quarter to thrice its height, and at its own."""
    here, across = one.at.values["H"], one.at.values["W"]
    around = {max(_GRID, round(here * at / 16 / _GRID) * _GRID) for at in range(4, 49)}
    for height in sorted({*around, here}):
        width = across if height == here else max(_GRID, round(across * height / here / _GRID) * _GRID)
        yield _resized(one, {"H": height, "W": width})


def _resized(one: SessionBytes, sizes: Mapping[str, int]) -> SessionBytes:
    """Dims that follow from those sizes follow; all others stay as they were given."""
    shipped, given = values_at(one.schema, {}), one.at.values
    kept = {name: value for name, value in given.items() if value != shipped[name]}
    return evolve(one, at=evolve(one.at, values=values_at(one.schema, {**kept, **sizes})))


def _shown(heights: Sequence[int], here: int) -> list[int]:
    """The heights to name: the ends, and its own where that is apart from them."""
    apart = (heights[-1] - heights[0]) / 4
    ends = [heights[0], heights[-1]]
    own = [here] if all(abs(here - end) > apart for end in ends) else []
    middle = min(heights, key=lambda height: abs(height - (here + heights[-1]) / 2))
    return sorted({*ends, *own, *([middle] if own and middle - here > apart else [])})


def _log(count: int) -> float:
    return log2(count) if count else -1.0


def _step_marks(last: int) -> list[int]:
    return [int(mark) for mark in ticks(last, 4) if mark <= last and mark == int(mark)]


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
    places = spread([at for at, *_ in upwards], _LINE, _TOP, _BOTTOM)
    for (at, name, amount), place in zip(upwards, places, strict=True):
        line: list[Point] = [(_RIGHT + 2, at), (_LABELS - 4, place)]
        yield path(line, "leader")
        yield text(_LABELS, place - 2, name, "name")
        yield text(_LABELS, place + 11, amount, "about")
