"""The planner's numbers, against those of the generated classes."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.declared import STEPS, shipped_params
from codegen.model import Schema
from codegen.settings import UsageError

from .shipped import planned, shipped

SCHEMAS = shipped()


def gives_names(schema: Schema, name: str) -> bool:
    param = next((one for one in schema.params if one.name == name), None)
    return param is not None and isinstance(param.default, tuple)


@st.composite
def settings(draw: st.DrawFn, schema: Schema) -> dict[str, int | str]:
    """Some dims and params, derived ones too, and perhaps steps and a dtype."""
    bounds = {one.name: (one.minimum or 1, one.maximum or 40) for one in schema.params}
    names = [*shipped_params(schema), *(dim.name for dim in schema.dims)]
    chosen = draw(st.lists(st.sampled_from(names), unique=True))
    found: dict[str, int | str] = {}
    for name in chosen:
        low, high = bounds.get(name, (1, 900))
        found[name] = draw(st.integers(low, min(high, 12) if gives_names(schema, name) else high))
    if schema.horizon is not None and draw(st.booleans()):
        found[STEPS] = draw(st.integers(0, 1000))
    if schema.default_dtype and draw(st.booleans()):
        found["dtype"] = draw(st.sampled_from(["float32", "bfloat16", "uint8"]))
    return found


def by_generated_class(schema: Schema, setting: Mapping[str, int | str]) -> Any:
    """What the generated class declares, per field, on `accelerator` and `host`."""
    made = getattr(import_module(f"generated.{schema.module}"), schema.class_name)
    keywords: dict[str, Any] = {
        param.name: param.shipped for param in schema.params if isinstance(param.shipped, int)
    }
    for name, value in setting.items():
        names = gives_names(schema, name) and isinstance(value, int)
        keywords[name] = tuple(f"n{at}" for at in range(int(value))) if names else value
    found = made.declared_nbytes(accelerator="accelerator", **keywords).by_field
    return {
        field: {"host" if device == "cpu" else device: count for device, count in devices.items()}
        for field, devices in found.items()
    }


@pytest.mark.parametrize("schema", SCHEMAS, ids=[one.model for one in SCHEMAS])
def test_a_generated_class_declares_what_the_planner_says(schema: Schema) -> None:
    """At any setting every field has the same bytes on the same device, or both refuse it."""

    @given(settings(schema))
    def check(setting: dict[str, int | str]) -> None:
        steps = setting.get(STEPS)
        assert steps is None or isinstance(steps, int)
        texts = [f"{name}={value}" for name, value in setting.items() if name != STEPS]
        try:
            expected = by_generated_class(schema, setting)
        except ValueError:
            with pytest.raises(UsageError):
                _ = planned(schema, *texts, steps=steps).fields
            return
        one = planned(schema, *texts, steps=steps)
        assert expected == {field.name: {field.device: field.declared} for field in one.fields}

    check()
