"""The axes of a module's families, each a constant in front of the class."""

from ..model import Axis, Schema
from . import python
from .literals import LINE, call, string, width


def axis_constant(name: str) -> str:
    """The name of the constant that an axis becomes."""
    return f"_{name.upper()}"


def axis_constants(schema: Schema) -> tuple[str, ...]:
    """`_NAME = Axis(...)` for each axis that a field has, in the order of the schema."""
    used = {name for field in schema.fields for name in field.per}
    return tuple(_declaration(axis) for axis in schema.axes if axis.name in used)


def _declaration(axis: Axis) -> str:
    constant = axis_constant(axis.name)
    if axis.kind == "captured":
        return call(f"{constant} = CapturedAxis", [string(axis.name)], 0)
    return call(f"{constant} = Axis", [string(axis.name), f"lambda session: {_keys(axis)}"], 0)


def _keys(axis: Axis) -> str:
    if axis.size is None:
        return _of_session(axis, axis.param) if axis.param else python.plain_text(axis.names)
    count = python.size_text(axis.size, lambda name: _of_session(axis, name))
    if axis.where is None:
        return f"range({count})"
    chosen = python.condition_lines(
        axis.where, LINE - 11, LINE - 8, lambda name: _of_session(axis, name)
    )
    parts = [axis.name, f"for {axis.name} in range({count})", f"if {chosen[0]}", *chosen[1:]]
    flat = f"[{' '.join(parts)}]"
    if 4 + width(f"lambda session: {flat},") <= LINE:
        return flat
    lines = "".join(f"        {part}\n" for part in parts)
    return f"[\n{lines}    ]"


def _of_session(axis: Axis, name: str) -> str:
    return name if name == axis.name else f"session.{name}"
