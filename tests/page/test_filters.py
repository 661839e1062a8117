"""Filters show the fields that are asked for, and no other."""

from collections.abc import Callable, Sequence

import pytest

from codegen.expressions.types import records_in
from codegen.model import Field, Schema

from .conftest import Open, document_of, everything, shipped

KINDS: dict[str, Callable[[Field], Sequence[str]]] = {
    "placement": lambda field: [str(field.placement)],
    "device": lambda field: [field.device] if _is_counted(field) else ["nothing"],
    "may": lambda field: field.manager_may or ["carry"],
    "survives": lambda field: field.survives or ["nothing"],
}


def _is_counted(field: Field) -> bool:
    # Every record of these schemas holds tensors.
    records = records_in(field.type) if field.type else ()
    return bool(field.shape or field.entries or any(True for _ in records))


def all_fields(*schemas: Schema) -> list[tuple[Schema, Field]]:
    return [(schema, field) for schema in schemas for field in schema.fields]


def ids(*found: tuple[Schema, Field]) -> list[str]:
    return [f"{schema.module}.{field.name}" for schema, field in found]


@pytest.mark.parametrize("key", KINDS)
def test_each_filter_filters(open_page: Open, key: str) -> None:
    """Every value of a filter shows exactly the fields that have it."""
    schemas = [*shipped(), everything()]
    opened = open_page(document_of(*schemas))
    fields = all_fields(*schemas)
    values = sorted({value for _, field in fields for value in KINDS[key](field)})
    options = opened.find(f"#filter-{key} option").evaluate_all("(all) => all.map((o) => o.value)")
    assert ["", *values] == sorted(options)
    for value in values:
        opened.find(f"#filter-{key}").select_option(value)
        expected = ids(*((s, f) for s, f in fields if value in KINDS[key](f)))
        assert expected == opened.fields
        assert (
            f"{len(expected)} of {len(fields)} fields"
            == opened.find("#filters output").inner_text()
        )


def test_the_model_filter_leaves_one_model(open_page: Open) -> None:
    """The others go with their headings and their lines of the overview."""
    opened = open_page(document_of(*shipped()))
    opened.find("#filter-model").select_option("Cosmos3")
    assert ["Cosmos3"] == opened.texts("h2")
    assert ["Cosmos3"] == opened.texts(".overview tbody a")


def test_words_are_searched_in_all_that_is_said(open_page: Open) -> None:
    """Every word must be there, in any order and case, in a name, a type or a reason."""
    opened = open_page(document_of(*shipped()))
    search = opened.find("#search")
    search.fill("image RESTART")
    assert ["dreamzero.clip_feas", "dreamzero.ys"] == opened.fields
    assert "2 of 12 fields; totals are of all." == opened.find("#dreamzero .shown").inner_text()
    search.fill("und_kv")
    assert ["cosmos3.und_kv", "cosmos3.freqs_gen"] == opened.fields
    search.fill("parking in host memory")
    assert ["dreamzero.vae_enc_feat_map"] == opened.fields


def test_filters_add_up_and_clear(open_page: Open) -> None:
    """Two filters show what fits both; none left says so, and one button shows all again."""
    opened = open_page(document_of(*shipped()))
    opened.find("#filter-placement").select_option("object")
    opened.find("#filter-device").select_option("host")
    assert ["dreamzero.stitched_buffer", "dreamzero.video_latents"] == opened.fields
    opened.find("#search").fill("nowhere to be found")
    assert [] == opened.fields
    assert opened.find(".none").is_visible()
    opened.find("#filters button").click()
    opened.page.wait_for_timeout(20)
    assert 14 == len(opened.fields)
    assert not opened.find(".none").is_visible()
    assert not opened.find("#filters button").is_visible()
