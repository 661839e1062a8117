"""What the emitter writes: its names are reserved, its formulas are the checker's, its text lints."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.declared import declared, shipped_values
from codegen.emit.module import module
from codegen.findings import Report
from codegen.load import load
from codegen.model import Schema
from codegen.names import EMITTED, SURFACE, WRITTEN
from codegen.rules import check
from codegen.source import read

from .project import REPOSITORY

SHIPPED = sorted((REPOSITORY / "schemas").glob("*.yaml"))
EVERYTHING = Path(__file__).parent / "everything.yaml"
LONG = Path(__file__).parent / "long.yaml"


def loaded(path: Path) -> Schema:
    report = Report()
    schema = load(read(path, path.name), report)
    assert schema is not None
    check(schema, report)
    assert not report.has_errors, report.findings
    return schema


def own_names(schema: Schema) -> set[str]:
    """The names that generated code takes from the schema."""
    return {
        schema.class_name,
        *(param.name for param in schema.params),
        *(dim.name for dim in schema.dims),
        *(field.name for field in schema.fields),
        *(record.name for record in schema.records),
        *(member.name for record in schema.records for member in record.members),
        *(axis.name for axis in schema.axes),
        *(lent.attribute for handoff in schema.handoffs for lent in handoff.lend),
        *(argument.name for argument in schema.arguments),
        *(f"append_{field.name}" for field in schema.fields),
        *(f"reset_{reset.name}" for reset in schema.resets),
        *(f"reset_{group.name}" for group in schema.groups),
        *(f"lend_{handoff.name}" for handoff in schema.handoffs),
    }


def identifiers(text: str) -> set[str]:
    """Every name that code reads, binds or looks up."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="np")):
                pass
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ImportFrom(module=str(name)):
                found.add(name.partition(".")[0])
            case ast.alias(name=name, asname=alias):
                found.add(alias or name)
    return found


@pytest.mark.parametrize("path", [EVERYTHING, LONG, *SHIPPED], ids=lambda path: path.stem)
def test_every_name_written_is_reserved(path: Path) -> None:
    """A schema cannot give a part of its own the name of something that the emitter writes."""
    schema = loaded(path)
    written = identifiers(module(schema)) - own_names(schema)
    written = {name for name in written if not name.startswith("_") and "." not in name}
    assert set() == written - EMITTED - SURFACE


def test_every_reserved_name_is_written() -> None:
    """The reserved set holds no name that the emitter no longer writes."""
    written: set[str] = set()
    for path in (EVERYTHING, LONG, *SHIPPED):
        written |= identifiers(module(loaded(path)))
    assert set() == WRITTEN - written


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--isolated"],
        ["ruff", "format", "--isolated", "--check"],
        ["mypy", "--strict"],
    ],
    ids=" ".join,
)
def test_generated_code_passes_the_linters(command: list[str], tmp_path: Path) -> None:
    """`ruff check`, `ruff format --check` and `mypy --strict` accept what was written as it is."""
    files: list[str] = []
    for path in (EVERYTHING, LONG, *SHIPPED):
        target = tmp_path / f"{path.stem}.py"
        target.write_text(module(loaded(path)), encoding="utf-8")
        files.append(str(target))
    done = subprocess.run(
        [sys.executable, "-m", *command, *files],
        # A linter takes what lies in its folder for a project's own; mypy needs to find it there.
        cwd=REPOSITORY if command[0] == "mypy" else tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("limit", [88, 100])
def test_shipped_code_is_stable_under_other_limits(limit: int) -> None:
    """A project that allows longer lines has nothing to reformat in what was generated for it."""
    files = [str(REPOSITORY / "generated" / f"{loaded(path).module}.py") for path in SHIPPED]
    command = ["ruff", "format", "--isolated", f"--line-length={limit}", "--check", *files]
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("path", [EVERYTHING, LONG, *SHIPPED], ids=lambda path: path.stem)
def test_generated_bytes_are_the_table_s(path: Path) -> None:
    """`declared_nbytes()` at its defaults says per field what the decision table says."""
    schema = loaded(path)
    names: dict[str, object] = {}
    exec(compile(module(schema), path.name, "exec"), names)
    cls = names[schema.class_name]
    by_field = cls.declared_nbytes().by_field  # type: ignore[attr-defined]
    values = shipped_values(schema)
    for field in schema.fields:
        expected = declared(schema, field, values)
        assert expected == sum(by_field.get(field.name, {}).values())


def test_a_loan_by_number_takes_an_int() -> None:
    """The key of a loan has the type of its axis: names are texts, a range has numbers."""
    text = module(loaded(EVERYTHING))
    lend = {
        node.name: ast.unparse(node.args)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("lend_")
    }
    assert "self, module: Any, *, slot: int" == lend["lend_counter"]
    assert "self, module: Any, *, branch: str" == lend["lend_transformer"]
    assert "self, module: Any" == lend["lend_vae"]
