"""What the tests of the schema language share."""

from pathlib import Path

import pytest

from codegen.findings import Finding, Report
from codegen.load import load
from codegen.rules import check
from codegen.source import decode, read

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"
SHIPPED = ROOT / "schemas" / "dreamzero.yaml"


def findings_of(content: str | bytes) -> tuple[Finding, ...]:
    """Every finding of a schema with this text."""
    report = Report()
    data = content.encode() if isinstance(content, str) else content
    schema = load(decode(data, "schema.yaml"), report)
    if schema is not None:
        check(schema, report)
    return report.findings


def findings_in(path: Path) -> tuple[Finding, ...]:
    """Every finding of a schema file."""
    report = Report()
    schema = load(read(path, "schema.yaml"), report)
    if schema is not None:
        check(schema, report)
    return report.findings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what the tools say now as expected"
    )
