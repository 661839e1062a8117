"""Every code has a schema that it is found in, and the page that an author then reads."""

from pathlib import Path

import pytest

from codegen.render.text import render
from codegen.rules import RULES

from .schemas import CASES, SHIPPED, examine

VARIANTS = sorted(
    path.parent for path in CASES.glob("*/*/schema.yaml") if path.parts[-3] != "generated"
)


@pytest.mark.parametrize("folder", VARIANTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_findings_read_as_expected(folder: Path, request: pytest.FixtureRequest) -> None:
    """A schema's findings are the page beside it, to the character."""
    _, findings = examine((folder / "schema.yaml").read_bytes())
    page = "\n\n".join(map(render, findings)) + "\n"
    expected = folder / "expected.txt"
    if request.config.getoption("--update-golden", default=False):
        expected.write_text(page, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == page
    assert folder.parent.name in {finding.code for finding in findings}


def test_every_code_has_a_failing_case() -> None:
    """The folders of cases are the codes of the registry."""
    assert {rule.code for rule in RULES} == {path.parent.name for path in VARIANTS}


def test_codes_are_unique() -> None:
    """A code is one row."""
    assert len(RULES) == len({rule.code for rule in RULES})


def test_severities_are_those_of_the_registry() -> None:
    """What the loader reports has the severity that its row says."""
    severities = {rule.code: rule.severity for rule in RULES}
    found = {
        (finding.code, finding.severity)
        for folder in VARIANTS
        for finding in examine((folder / "schema.yaml").read_bytes())[1]
    }
    assert found == {(code, severities[code]) for code, _ in found}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_schemas_are_clean(path: Path) -> None:
    """No rule finds anything in a schema that ships."""
    assert () == examine(path.read_bytes())[1]
