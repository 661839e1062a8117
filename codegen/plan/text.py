"""A plan in the terminal."""

from collections.abc import Iterator, Sequence

from ..emit.literals import width
from ..emit.table import in_units
from ..visible import visible
from .document import Plan
from .fit import Fit
from .session import DeviceBytes, FieldBytes, SessionBytes

Row = tuple[str, ...]


def text(plan: Plan) -> Iterator[str]:
    """One model's plan, line by line."""
    one = plan.session
    schema = one.schema
    yield f"{visible(schema.model)} ({schema.class_name}, {visible(plan.path)})"
    if at := setting(one):
        yield f"at {at}"
    yield ""
    if not one.fields:
        yield "It declares no bytes."
        return
    yield from _table(_held(one))
    found = list(notes(one))
    yield from ["", *found] if found else []
    yield ""
    yield from _table(_stays(one))
    yield ""
    yield from verdict(plan)


def setting(one: SessionBytes) -> str:
    """What the bytes were computed at; empty where they hang on nothing."""
    values = {name: str(value) for name, value in one.at.values.items() if name != "steps"}
    if one.at.dtype is not None:
        values["dtype"] = one.at.dtype
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def headings(one: SessionBytes) -> Row:
    """The columns of bytes."""
    return tuple(_columns(one))


def cells(one: SessionBytes, held: FieldBytes | DeviceBytes) -> Row:
    """The bytes of a field or device, as `headings` names them."""
    counts = (getattr(held, name) for name in _columns(one).values())
    return tuple(in_units(count) if count else "–" for count in counts)


def _columns(one: SessionBytes) -> dict[str, str]:
    """Attributes by heading; what says nothing beside another column is left out."""
    columns = {"step 1": "first_step"}
    if one.steady_after > 1:
        columns[f"step {one.steady_after:,}, full"] = "steady"
    if one.steps not in (1, one.steady_after):
        columns[f"step {one.steps:,}"] = "at_step"
    if any(field.declared != field.at_step for field in one.fields):
        columns["declared"] = "declared"
    columns["copy beside"] = "copy"
    return columns


def largest_first(one: SessionBytes) -> Sequence[FieldBytes]:
    """The fields of the accelerator and then those of the host, each from the largest down."""
    return sorted(one.fields, key=lambda field: (field.device, -field.declared))


def notes(one: SessionBytes) -> Iterator[str]:
    """What keeps each ring bounded, and how fast the rest grows."""
    for field in largest_first(one):
        if field.capacity is not None and field.capacity > 1:
            unbounded = in_units(field.item * one.steps)
            yield (
                f"{field.name}: {field.capacity:,} × {in_units(field.item)}; "
                f"without its bound {unbounded} after {one.steps:,} steps"
            )
        elif field.grows:
            gained = in_units(field.item * field.grows.items)
            every = field.grows.every
            yield f"{field.name}: {gained} more {'per step' if every == 1 else f'every {every} steps'}"


def verdict(plan: Plan) -> Iterator[str]:
    """What one session and all of them need, and how many fit."""
    for held in plan.session.devices:
        needed = plan.sessions * held.declared + held.copy
        yield (
            f"{held.device}: one {plan.unit} {in_units(held.declared)}, at its peak "
            f"{in_units(held.peak)}; {plan.sessions:,} {plan.unit}s {in_units(needed)} while one steps"
        )
    found = plan.fit
    if found:
        yield fitting(found, plan)


def fitting(found: Fit, plan: Plan) -> str:
    """How many sessions fit on a device, and the field that decides it."""
    room = f"{in_units(found.room.memory)} less {in_units(found.room.reserve)} reserved"
    if found.sessions is None or found.decides is None:
        return f"{room}: no limit, since no bytes are declared on the accelerator"
    count = f"{found.sessions:,} {plan.unit}{'s' * (found.sessions != 1)}"
    short = f", {plan.sessions - found.sessions:,} too few" if plan.is_too_much else ""
    fits = "fits" if found.sessions == 1 else "fit"
    return (
        f"{room}: {count} {fits}{short}; {found.decides.name} decides it, "
        f"with {found.share:.0%} of each"
    )


def _held(one: SessionBytes) -> Iterator[Row]:
    yield ("field", "device", *headings(one))
    for field in largest_first(one):
        yield (field.name, field.device, *cells(one, field))
    for held in one.devices:
        yield ("total", held.device, *cells(one, held))


def _stays(one: SessionBytes) -> Iterator[Row]:
    yield ("reset", *(f"stays on {held.device}" for held in one.devices), "in")
    for reset in one.schema.resets:
        stays = one.staying(reset.name)
        fields = [field.name for field in largest_first(one) if reset.name in field.survives]
        amounts = (in_units(stays[held.device]) for held in one.devices)
        yield (reset.name, *amounts, ", ".join(fields) or "–")


def _table(rows: Iterator[Row]) -> Iterator[str]:
    """Columns, with those that begin with a number to the right."""
    table = list(rows)
    columns = list(zip(*table, strict=True))
    widths = [max(map(width, column)) for column in columns]
    numeric = [all(_is_amount(cell) for cell in column[1:]) for column in columns]
    for row in table:
        padded = (
            " " * (most - width(cell)) + cell if right else cell + " " * (most - width(cell))
            for cell, most, right in zip(row, widths, numeric, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _is_amount(cell: str) -> bool:
    return cell == "–" or cell[0].isdecimal()
