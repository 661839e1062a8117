"""What the pages of `docs/` show and link to is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from codegen.findings import Report
from codegen.load import load
from codegen.rules import check
from codegen.source import decode

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.joinpath("docs").glob("*.md"))]

on_every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text("utf-8"))


def fenced(page: Path, language: str) -> Iterator[str]:
    for token in tokens(page):
        if token.type == "fence" and token.info == language:
            yield token.content


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    read = tokens(page)
    headings = (
        read[at + 1].content for at, token in enumerate(read) if token.type == "heading_open"
    )
    return {re.sub(r"[^\w\- ]", "", text).lower().replace(" ", "-") for text in headings}


@on_every_page
def test_every_link_leads_somewhere(page: Path) -> None:
    """A relative link names a file of the repository, and its anchor a heading there."""
    inline = (child for token in tokens(page) for child in token.children or ())
    for link in (str(child.attrs["href"]) for child in inline if child.type == "link_open"):
        if not link.startswith("https:"):
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            assert not anchor or anchor in anchors(target), link


@on_every_page
def test_every_example_can_be_read(page: Path) -> None:
    """Python that compiles, and YAML that is YAML."""
    for text in fenced(page, "python"):
        compile(text, page.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for text in fenced(page, "yaml"):
        if page.name != "rules.md":  # it shows what is wrong, too
            yaml.safe_load(text)


def test_the_staged_fields_shown_are_a_schema() -> None:
    """The page on staging shows fields that a model could declare as they are."""
    (fields,) = fenced(ROOT / "docs" / "staging.md", "yaml")
    head = "schema: 1\nmodel: Staged\nclass: StagedSession\ndoc: Staged.\n"
    head += "defaults: {device: accelerator, dtype: bfloat16}\nresets: {session: A new session.}\n"
    report = Report()
    schema = load(decode((head + fields).encode(), "staged.yaml"), report)
    assert schema is not None
    check(schema, report)
    assert () == report.findings
