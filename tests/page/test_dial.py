"""The numbers of the page are those of the generated classes, at any setting."""

import random
from typing import Any

import attrs
import pytest

from codegen.declared import declared as declared_bytes
from codegen.declared import shipped_values
from codegen.model import Schema
from generated.cosmos3 import Cosmos3Session
from generated.dreamzero import DreamZeroSession
from tests.cases.generated.staged.expected import StagedSession

from .conftest import Open, document_of, everything, loaded, shipped, staged
from .opened import number

CLASSES: dict[str, Any] = {
    "cosmos3": Cosmos3Session,
    "dreamzero": DreamZeroSession,
    "staged": StagedSession,
}
SETTINGS = 50
DTYPES = ("bfloat16", "float32", "float64", "uint8", "complex128")

DIVIDES = """\
schema: 1
model: Demo
class: DemoSession
scope: session
doc: A demo.
params: {parts: {type: int, default: 2, doc: Into how many parts the picture is cut.}}
dims: {H: 12, h: H // parts}
defaults: {dtype: uint8}
resets: {session: It starts again.}
fields:
  cut: {placement: attr, type: Tensor | None, shape: [h, H], reason: A part of the picture.}
  whole: {placement: attr, type: Tensor | None, shape: [H, H, H], reason: The picture.}
"""


def schema_of(module: str) -> Schema:
    (found,) = (schema for schema in (*shipped(), staged()) if schema.module == module)
    return found


def a_setting(schema: Schema, chance: random.Random) -> dict[str, Any]:
    """Any values of some dims and params, given by hand or left to be computed."""
    names = {dim.name for dim in schema.dims} | {
        param.name for param in schema.params if param.name != "branches"
    }
    setting: dict[str, Any] = {
        name: chance.choice([1, 2, 7, 31, 360, chance.randrange(1, 5000)])
        for name in sorted(names)
        # What `H // 8` gives below 8 is no size.
        if chance.random() < 0.6
    }
    for name in ("H", "W"):
        if name in names:
            setting[name] = chance.randrange(8, 4000)
    if schema.horizon is not None:
        setting["steps"] = chance.randrange(0, 2000)
    if any(param.name == "branches" for param in schema.params):
        setting["branches"] = chance.randrange(1, 5)
    return {**setting, "dtype": chance.choice(DTYPES)}


def declared(module: str, setting: dict[str, Any]) -> dict[str, dict[str, int]]:
    given = dict(setting)
    if "branches" in given:
        given["branches"] = tuple(f"b{n}" for n in range(given["branches"]))
    if module == "cosmos3":
        given.setdefault("num_layers", 36)
    found: dict[str, dict[str, int]] = CLASSES[module].declared_nbytes(**given).by_field
    return found


@pytest.mark.parametrize("module", CLASSES)
def test_the_dial_says_what_the_class_declares(open_page: Open, module: str) -> None:
    """At fifty settings every field and both totals are `declared_nbytes`, to the byte."""
    chance = random.Random(module)
    schema = schema_of(module)
    settings = [a_setting(schema, chance) for _ in range(SETTINGS)]
    sessions = [chance.randrange(0, 500) for _ in settings]
    opened = open_page(document_of(*shipped(), staged()))
    turned = [{**one, "sessions": many} for one, many in zip(settings, sessions, strict=True)]
    for setting, many, shown in zip(settings, sessions, opened.turn(module, *turned), strict=True):
        by_field = declared(module, setting)
        expected = {name: sum(devices.values()) for name, devices in by_field.items()}
        cells = {name: text for name, text in shown["cells"].items() if text != "–"}
        assert expected == {name: number(text) for name, text in cells.items()}
        for device, key in (("accelerator", "cuda:0"), ("host", "cpu")):
            one = sum(devices.get(key, 0) for devices in by_field.values())
            totals = [number(text) for text in shown["totals"].get(device, ["0", "0"])]
            assert [one, one * many] == totals


def test_what_cannot_be_computed_is_said(open_page: Open) -> None:
    """A division by zero, a size of nothing and a number too large each show what is wrong."""
    opened = open_page(document_of(loaded(DIVIDES)))
    by_zero, nothing, large, text = opened.turn(
        "demo", {"parts": 0}, {"H": 1}, {"H": 2**40}, {"H": "1e3"}
    )
    assert "h has no value." == by_zero["cells"]["cut"]
    assert "1,728" == by_zero["cells"]["whole"]
    assert ["–", "–"] == by_zero["totals"]["accelerator"]
    assert "h has no value." == nothing["cells"]["cut"]
    assert "This is more than 2**63 - 1 at H = 1099511627776." == large["cells"]["whole"]
    assert "H has no value." == text["cells"]["whole"]

    field = opened.find("#demo-at-H")
    note = opened.find("#demo-at-H-note")
    assert ("true", "A whole number is needed.") == (
        field.get_attribute("aria-invalid"),
        note.inner_text(),
    )
    opened.turn("demo", {"parts": 0})
    derived = opened.find("#demo-at-h-note").inner_text()
    assert "This divides by zero at H = 12, parts = 0." == derived


def test_a_bound_of_a_param_holds_on_the_page(open_page: Open) -> None:
    """The dial refuses what the class refuses."""
    opened = open_page(document_of(everything()))
    opened.find("#everything-at-window").fill("10")
    assert "At most 9, not 10." == opened.find("#everything-at-window-note").inner_text()
    opened.find("#everything-at-window").fill("0")
    assert "At least 1, not 0." == opened.find("#everything-at-window-note").inner_text()
    opened.find("#everything-at-branches").fill("0")
    assert "At least 1, not 0." == opened.find("#everything-at-branches-note").inner_text()


def test_numbers_are_exact(open_page: Open) -> None:
    """A size that no float holds is shown to the last byte."""
    (whole,) = (field for field in loaded(DIVIDES).fields if field.name == "whole")
    schema = attrs.evolve(loaded(DIVIDES.replace("H, H, H", "1, H")), path="demo.yaml")
    opened = open_page(document_of(schema))
    (shown,) = opened.turn("demo", {"H": 2**53 + 1})
    assert "whole" == whole.name
    assert 2**53 + 1 == number(shown["cells"]["whole"])


def test_the_dial_goes_back(open_page: Open) -> None:
    """One button gives back every shipped size, and is there only when one was changed."""
    opened = open_page(document_of(schema_of("cosmos3")))
    button = opened.find("#cosmos3 .dial button")
    before = opened.texts("#cosmos3 [data-label=Bytes], #cosmos3 .totals td")
    assert not button.is_visible()
    opened.find("#cosmos3-at-S").fill("77")
    opened.find("#cosmos3-at-dtype").select_option("float32")
    opened.find("#cosmos3-at-sessions").fill("2")
    assert before != opened.texts("#cosmos3 [data-label=Bytes], #cosmos3 .totals td")
    button.click()
    opened.page.wait_for_timeout(20)
    assert before == opened.texts("#cosmos3 [data-label=Bytes], #cosmos3 .totals td")
    assert not button.is_visible()


def test_the_shipped_numbers_are_those_of_the_table(open_page: Open) -> None:
    """Unturned, the page says in units and exactly what DECISIONS.md says."""
    opened = open_page(document_of(*shipped()))
    bytes_ = opened.find("#dreamzero\\.vae_enc_feat_map [data-label=Bytes]").inner_text()
    assert bytes_.startswith("603.28 MiB 632,586,240")
    assert "Measured: 603 MiB, 100 % of declared (A100, constant from about step 50)" in bytes_
    assert ["614.71 MiB\n644,567,040", "38.42 GiB\n41,252,290,560"] == opened.texts(
        "#dreamzero .totals tr[data-device=accelerator] td"
    )


def test_at_the_shipped_sizes_the_page_says_what_the_checker_computed(open_page: Open) -> None:
    """Of every construct of the language, an axis with a condition and a sum of shapes included."""
    schema = everything()
    values = shipped_values(schema)
    expected = {field.name: declared_bytes(schema, field, values) for field in schema.fields}
    (shown,) = open_page(document_of(schema)).turn("everything", {})
    found = {name: 0 if text == "–" else number(text) for name, text in shown["cells"].items()}
    assert expected == found
    assert 0 == open_page(document_of(schema)).find(".problem, [aria-invalid]").count()


def test_the_keys_of_an_axis_are_counted_anew(open_page: Open) -> None:
    """`state` has one value for every odd layer: its bytes follow the layers, up and down."""
    opened = open_page(document_of(everything()))
    shown = opened.turn("everything", *({"layers": n} for n in (7, 10, 1, 3)))
    # Two streams, twelve elements of two bytes.
    assert [2 * odd * 12 * 2 for odd in (3, 5, 0, 1)] == [
        number(one["cells"]["state"]) for one in shown
    ]
