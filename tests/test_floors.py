"""Who may import whom, and how long a module or a function may be."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("codegen", "session_state", "generated", "examples", "benchmarks", "tests")
MODULES = sorted(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*.py"))
WRITTEN_BY_HAND = [path for path in MODULES if path.relative_to(ROOT).parts[0] != "generated"]

RUNTIME = {"attrs", "numpy", "session_state", "torch"}
FLOORS = {
    "codegen": {"attrs", "click", "codegen", "jinja2", "markupsafe", "watchfiles", "yaml"},
    "generated": RUNTIME,
    "session_state": RUNTIME,
}
"""What each floor imports besides the standard library."""


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def absolute_imports(path: Path) -> Iterator[str]:
    """The top-level package of every absolute import in a module, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_imports_only_what_lies_below(floor: str) -> None:
    """The generator knows no torch, the runtime no generator, generated code only the runtime."""
    allowed = FLOORS[floor] | sys.stdlib_module_names
    strangers = {
        (name(path), package)
        for path in ROOT.joinpath(floor).rglob("*.py")
        for package in absolute_imports(path)
        if package not in allowed
    }
    assert set() == strangers


def test_modules_of_a_folder_import_each_other_relatively() -> None:
    """No module outside the tests names its own top-level folder."""
    named = [
        name(path)
        for path in MODULES
        if (folder := path.relative_to(ROOT).parts[0]) != "tests"
        and folder in set(absolute_imports(path))
    ]
    assert [] == named


def test_a_module_has_at_most_400_lines() -> None:
    """Longer modules are split by what they are about."""
    lines = {name(path): len(path.read_text("utf-8").splitlines()) for path in WRITTEN_BY_HAND}
    assert {} == {module: count for module, count in lines.items() if count > 400}


def test_a_function_has_at_most_60_lines() -> None:
    """Longer functions are split by what they do."""
    lines = {
        f"{name(path)}: {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in WRITTEN_BY_HAND
        for node in functions(path)
    }
    assert {} == {function: count for function, count in lines.items() if count > 60}
