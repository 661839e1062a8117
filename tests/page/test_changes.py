"""A page made against another state of the schemas says what changed, and where."""

from attrs import frozen

from codegen.page.changes import Changes
from codegen.page.document import document

from .conftest import Open, document_of, shipped
from .opened import Opened


@frozen
class Row:
    code: str
    breaking: bool
    model: str
    field: str | None
    message: str
    hint: str | None = None


ROWS = (
    Row("field-added", False, "DreamZero", "ys", "`ys` is new."),
    Row("ring-shrunk", True, "DreamZero", "vae_encoder_out", "The ring keeps 2, not 3.", "say why"),
    Row("model-removed", True, "Gone", None, "`Gone` has no schema any more."),
)


def open_changed(open_page: Open, *rows: Row) -> Opened:
    schemas = shipped()
    paths = [schema.path for schema in schemas]
    return open_page(document(schemas, paths, Changes("main", rows)))


def test_changes_come_first_and_the_breaking_ones_before_the_others(open_page: Open) -> None:
    """Each names its place, its code and its meaning; what is still there is a link."""
    opened = open_changed(open_page, *ROWS)
    assert "Changed since main" == opened.find("#changes h2").inner_text()
    assert "2 breaking, 1 not." == opened.find("#changes .source").inner_text()
    assert ["DreamZero.vae_encoder_out", "Gone", "DreamZero.ys"] == opened.texts(
        "#changes tbody .name"
    )
    assert ["ring-shrunk", "model-removed", "field-added"] == opened.texts(
        "#changes [data-label=Change]"
    )
    assert "The ring keeps 2, not 3.\nsay why" == opened.texts(
        "#changes [data-label='What it means']"
    )[0].replace("\n\n", "\n")
    opened.find("#changes a.name").first.click()
    assert opened.page.url.endswith("#dreamzero.vae_encoder_out")


def test_changed_fields_are_marked_and_filtered(open_page: Open) -> None:
    """A reviewer shows the fields that break, in full."""
    opened = open_changed(open_page, *ROWS)
    assert 2 == opened.find(".fields th a.small").count()
    opened.find("#filter-changes").select_option("breaking")
    assert ["dreamzero.vae_encoder_out"] == opened.fields
    opened.find("#filter-changes").select_option("not breaking")
    assert ["dreamzero.ys"] == opened.fields


def test_no_change_is_said(open_page: Open) -> None:
    """Against an equal state the page says so, and asks no filter about it."""
    opened = open_changed(open_page)
    assert (
        "Nothing that a session or its caller would notice."
        == opened.find("#changes .source").inner_text()
    )
    assert not opened.find("#filter-changes").count()


def test_without_a_state_to_compare_there_is_nothing_about_changes(open_page: Open) -> None:
    """A page that was made alone has no empty heading."""
    assert 0 == open_page(document_of(*shipped())).find("#changes").count()
