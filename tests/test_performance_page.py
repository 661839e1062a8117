"""The page on performance says what the benchmark measured."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.rows import Row, markdown, put_table

from .reference.wheel import is_required, why_missing

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "performance.md"


def rows_of(document: Path) -> list[Row]:
    """The rows that a run wrote down."""
    rows = json.loads(document.read_text("utf-8"))["rows"]
    return [Row(**{key: row[key] for key in row if key != "reached"}) for row in rows]


def test_the_table_of_the_page_is_the_one_that_was_measured() -> None:
    """Nobody edits the numbers of the page by hand."""
    table = markdown(rows_of(PAGE.with_suffix(".json")))
    assert table in PAGE.read_text("utf-8")


def test_a_row_is_reached_at_its_target_and_not_above() -> None:
    """What is equal to the target has reached it."""
    reached = [Row("x", "1", measured=measured, at_most=1.05).reached for measured in (1.05, 1.06)]
    assert ["yes", "no"] == reached


def test_the_table_replaces_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    """The prose around the table stays, whatever its length was."""
    page = tmp_path / "page.md"
    page.write_text("before\n\n| what | ours |\n| --- | --- |\n| old | 1 |\n\nafter\n", "utf-8")
    table = markdown([Row("new", "2")])
    put_table(page, table)
    assert f"before\n\n{table}\n\nafter\n" == page.read_text("utf-8")


def test_a_quick_run_shows_every_row_and_writes_the_page(tmp_path: Path) -> None:
    """The benchmark runs to its end, with the same rows as the page but for the counts."""
    missing = why_missing()
    if missing is not None and not is_required():
        pytest.skip(missing)
    page = tmp_path / "page.md"
    page.write_text(markdown([]) + "\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.runtime_speed", "--quick", "--write", str(page)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    written = rows_of(page.with_suffix(".json"))
    assert markdown(written) in done.stdout
    shown = {row.what for row in rows_of(PAGE.with_suffix(".json"))}
    assert not {row.what for row in written if not any(map(str.isdigit, row.what))} - shown
