"""Records and staged fields read on the page as the schema means them."""

from .conftest import Open, document_of, shipped, staged


def test_a_staged_field_says_what_one_content_takes(open_page: Open) -> None:
    """The number is what is declared, twice the content; below stands the content."""
    opened = open_page(document_of(staged()))
    cell = opened.find("#staged\\.camera_tail [data-label=Bytes]")
    # Poses 64 B, focal 8 B and center 16 B.
    assert "176 B\n2 × 88 B, committed and staged" == cell.inner_text()
    assert "64 B" == opened.find("#staged\\.frame_index [data-label=Bytes]").inner_text()
    opened.turn("staged", {"window": 5})
    assert (
        "960 B\n2 × 480 B, committed and staged"
        == opened.find("#staged\\.frames [data-label=Bytes]").inner_text()
    )


def test_the_members_of_a_record_are_listed(open_page: Open) -> None:
    """Each with its type, its shapes and the dtype that it names."""
    opened = open_page(document_of(staged()))
    assert ["Intrinsics", "CameraTail"] == opened.texts("#staged .records dt")
    assert [
        "focal: Tensor [2]",
        "center: Tensor [2], float64",
        "poses: Tensor [1, 4, 4]",
        "intrinsics: Intrinsics",
        "label: str | None",
    ] == opened.texts("#staged .records dd")


def test_without_records_there_is_no_list_of_them(open_page: Open) -> None:
    """A heading over nothing tells nobody anything."""
    assert 0 == open_page(document_of(*shipped())).find(".records").count()
