"""What is generated for small schemas, line for line."""

from pathlib import Path

import pytest

from codegen.emit.decisions import decisions
from codegen.emit.module import module

from .schemas import CASES, examine

GENERATED = sorted(path.parent for path in CASES.glob("generated/*/schema.yaml"))


@pytest.mark.parametrize("folder", GENERATED, ids=lambda path: path.name)
def test_generated_text_is_as_expected(folder: Path, request: pytest.FixtureRequest) -> None:
    """The module and the table of a schema are those beside it, but for their heads."""
    schema, findings = examine((folder / "schema.yaml").read_bytes())
    assert () == findings
    assert schema is not None
    texts = {
        "expected.py": module(schema),
        "expected.md": decisions((schema,), ("schema.yaml",)),
    }
    for name, text in texts.items():
        expected = folder / name
        if request.config.getoption("--update-golden", default=False):
            expected.write_text(text, encoding="utf-8")
        assert expected.read_text(encoding="utf-8") == text
