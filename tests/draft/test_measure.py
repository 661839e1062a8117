"""The drafts of the reference system's state classes, against what was written down before."""

import zipfile
from pathlib import Path

import pytest

from tests.reference.wheel import WHEEL, is_required, why_missing

from .measure import CORRECTIONS, EXPECTED, PAGE, TABLE, corrected, measure, table, unpack


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = why_missing()
    if reason is not None:
        (pytest.fail if is_required() else pytest.skip)(reason)
    return unpack(WHEEL, tmp_path_factory.mktemp("wheel"))


def test_the_documentation_shows_the_numbers_of_today(root: Path) -> None:
    """Right, wrong and missed per class, before and after the corrections, are as documented."""
    shown = TABLE.findall(PAGE.read_text("utf-8").partition("## Measured")[2])
    assert [text.strip() for text in shown] == [
        table(list(measure(root, EXPECTED))),
        table(list(measure(root, corrected()))).splitlines()[-1],
    ]


def test_no_field_that_the_source_names_is_missed(root: Path) -> None:
    """With the names put right, every expected field is in its draft."""
    assert [] == [(one.where, one.missed) for one in measure(root, corrected()) if one.missed]


def test_a_correction_points_at_the_line_that_it_speaks_of(root: Path) -> None:
    """The line of the source names the attribute or key."""
    for one in CORRECTIONS:
        line = root.joinpath(one["file"]).read_text("utf-8").splitlines()[one["line"] - 1]
        assert one.get("name", one["field"]) in line


def test_the_expected_files_are_in_the_wheel(root: Path) -> None:
    """Each class is written down with the file that it is in."""
    with zipfile.ZipFile(WHEEL) as archive:
        names = set(archive.namelist())
    assert set() == {f"vllm_omni/{one['file']}" for one in EXPECTED} - names
