"""What the README shows is what the tools do."""

import ast
import re
from pathlib import Path

import pytest

from codegen.cli import main
from codegen.emit.module import module
from codegen.findings import Report
from codegen.load import load
from codegen.rules import check
from codegen.source import decode

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, index: int = 0) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    return str(found[index])


@pytest.fixture(scope="module")
def tiny() -> str:
    report = Report()
    schema = load(decode(block("yaml").encode(), "schemas/tiny.yaml"), report)
    assert schema is not None
    check(schema, report)
    assert () == report.findings
    return module(schema)


def test_the_class_shown_is_the_class_generated(tiny: str) -> None:
    """Every declaration and method in the README stands in what the schema above it generates."""
    generated = _class(tiny)
    for node in _class(block("python")).body:
        if isinstance(node, ast.FunctionDef):
            theirs = next(n for n in generated.body if getattr(n, "name", "") == node.name)
            assert isinstance(theirs, ast.FunctionDef)
            assert ast.get_docstring(node) in (None, ast.get_docstring(theirs))
        elif ast.unparse(node) != "...":
            assert ast.unparse(node) in map(ast.unparse, generated.body)


def _class(text: str) -> ast.ClassDef:
    return next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))


def test_the_schema_shown_takes_ten_lines() -> None:
    """A reader sees a whole schema at a glance; a field may take one long line."""
    assert 10 >= len(block("yaml").splitlines())


def test_the_rows_shown_are_the_first_of_the_table() -> None:
    """The README quotes the decision table of DreamZero as it is."""
    shown = re.findall(r"^\| `\w+` \| (?:object|attr).*$", README, re.MULTILINE)
    table = (ROOT / "generated" / "DECISIONS.md").read_text(encoding="utf-8")
    dreamzero = table[table.index("## DreamZero") :]
    assert re.findall(r"^\| `.*$", dreamzero, re.MULTILINE)[: len(shown)] == shown
    assert shown


def test_the_use_shown_runs(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines that use the class run as they are."""
    import torch

    names: dict[str, object] = {
        "chunk": torch.zeros(1, 16, 2, 44, 80),
        "embeds": torch.zeros(1, 512, 4096),
    }
    exec(compile(tiny, "tiny.py", "exec"), names)
    exec(compile(block("python", 1), "README.md", "exec"), names)


def test_every_command_has_a_row() -> None:
    """The table of tools names the commands in the order of `--help`, and links to pages that exist."""
    rows = re.findall(r"^\| `session-state (\w+).*$", README, re.MULTILINE)
    assert list(main.commands) == rows
    pages = re.findall(r"\]\((docs/[^)#]*)", README)
    assert all(ROOT.joinpath(page).is_file() for page in pages)
