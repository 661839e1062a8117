"""A real Chromium, and pages of this tool opened in it."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codegen.findings import Report
from codegen.load import load
from codegen.model import Schema
from codegen.page.document import Object, document
from codegen.page.html import page as html
from codegen.source import decode

from .opened import Opened

REPOSITORY = Path(__file__).resolve().parents[2]
REQUIRED = os.environ.get("REQUIRE_BROWSER") == "1"

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., Opened]


def missing() -> str | None:
    """What stands between these tests and a browser, or None."""
    if find_spec("playwright") is None:
        return "Playwright is not installed: the extra `browser` has it"
    if shutil.which("chromium") is None:
        return "there is no Chromium: the Debian package `chromium` has it"
    return None


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    lacking = missing()
    if lacking is not None:
        (pytest.fail if REQUIRED else pytest.skip)(lacking)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Its own sandbox needs what containers rarely grant, and only our own files are opened.
        started = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Open]:
    """Opens a document in a new window; at the end, no window may have complained."""
    opened: list[Opened] = []

    def open_(data: Object, fragment: str = "", **context: Any) -> Opened:
        path = tmp_path / f"page{len(opened)}.html"
        path.write_text(html(data), encoding="utf-8")
        context = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"} | context
        page: Page = browser.new_context(**context).new_page()
        one = Opened(page)
        opened.append(one)
        page.goto(path.as_uri() + fragment)
        return one

    yield open_
    for one in opened:
        complaints, requests = one.complaints, one.requests
        one.page.context.close()
        assert [] == complaints
        assert 1 == len(requests)


def loaded(text: str, path: str = "schemas/demo.yaml") -> Schema:
    """A schema that has no error."""
    report = Report()
    schema = load(decode(text.encode(), path), report)
    assert schema is not None and not report.has_errors
    return schema


def shipped() -> Sequence[Schema]:
    """The schemas of this repository."""
    paths = sorted(REPOSITORY.joinpath("schemas").glob("*.yaml"))
    return [loaded(path.read_text("utf-8"), f"schemas/{path.name}") for path in paths]


def everything() -> Schema:
    """Every construct of the language once."""
    return loaded(REPOSITORY.joinpath("tests/codegen/everything.yaml").read_text("utf-8"))


def staged() -> Schema:
    """Staged fields and records: bytes that count twice, and several dtypes in one field."""
    folder = REPOSITORY.joinpath("tests/cases/generated/staged")
    return loaded(folder.joinpath("schema.yaml").read_text("utf-8"))


def document_of(*schemas: Schema) -> Object:
    return document(schemas, [schema.path for schema in schemas])
