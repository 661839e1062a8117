"""Schemas under test, and what the tools find in them."""

from pathlib import Path

from codegen.findings import Finding, Report
from codegen.load import load
from codegen.model import Schema
from codegen.rules import check
from codegen.source import decode

REPOSITORY = Path(__file__).resolve().parents[2]
CASES = REPOSITORY / "tests" / "cases"
SHIPPED = sorted((REPOSITORY / "schemas").glob("*.yaml"))
DREAMZERO = REPOSITORY / "schemas" / "dreamzero.yaml"
COSMOS3 = REPOSITORY / "schemas" / "cosmos3.yaml"

_SCHEMA = """\
schema: 1
model: Demo
class: DemoSession
doc: What a Demo session keeps between forward() calls.
horizon: 10
params: {{chunk: {{type: int, default: 4, min: 1, doc: Frames per chunk.}}}}
dims: {{B: 1, H: 352, {dims}}}
defaults: {{device: accelerator, dtype: bfloat16}}
resets: {{session: A new session., window: The window rolled.}}
{top}
fields:
  pixels: {{placement: attr, type: Tensor | None, shape: [B, H], reason: The model alone assigns it.}}
  {field}
"""


def schema_text(*, field: str = "", dims: str = "", top: str = "") -> str:
    """A small schema that is clean, with these parts added."""
    return _SCHEMA.format(field=field, dims=dims, top=top)


def examine(content: str | bytes) -> tuple[Schema | None, tuple[Finding, ...]]:
    """The schema with this text, and every finding."""
    report = Report()
    data = content.encode() if isinstance(content, str) else content
    schema = load(decode(data, "schema.yaml"), report)
    if schema is not None:
        check(schema, report)
    return schema, report.findings


def places(content: str | bytes) -> list[tuple[str, int, int]]:
    """Code, line and column of every finding."""
    _, findings = examine(content)
    return [(f.code, f.span.line, f.span.column) for f in findings]


def dreamzero() -> Schema:
    """The shipped schema, which is clean."""
    schema, findings = examine(DREAMZERO.read_bytes())
    assert () == findings
    assert schema is not None
    return schema
