"""The command as a person meets it: what it prints, where, and how it ends."""

import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from click.testing import CliRunner

import codegen.emit.fields
from codegen.cli import main
from codegen.emit.table import section
from codegen.emit.terminal import terminal
from codegen.findings import Report
from codegen.load import load
from codegen.source import decode

from .project import REPOSITORY, SMALL, Project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project.at(tmp_path / "project", demo=SMALL)
    monkeypatch.chdir(project.root)
    return project


def test_help_imports_click_alone() -> None:
    """What the help costs is what click costs."""
    code = (
        "import sys, codegen.cli, click.testing\n"
        "click.testing.CliRunner().invoke(codegen.cli.main, ['--help'])\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    heavy = {"yaml", "jinja2", "attr", "attrs", "torch", "numpy", "codegen.build"}
    assert set() == heavy & set(done.stdout.split())


def test_help_has_each_command_on_one_line() -> None:
    """In the order of the work, and no sentence is cut."""
    page = CliRunner().invoke(main, ["--help"], terminal_width=80).stdout
    lines = page.partition("Commands:\n")[2].splitlines()
    assert list(main.commands) == [line.split()[0] for line in lines]
    assert all(line.endswith(".") and not line.endswith("...") for line in lines)


def test_a_crash_says_where_it_was_and_exits_2(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the tool names the schema and the field, in one line, without a traceback."""

    def broken(*_: object) -> str:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(codegen.emit.fields, "call", broken)
    done = CliRunner().invoke(main, ["generate"])
    assert 2 == done.exit_code
    assert re.fullmatch(
        r"session-state: internal error at schema schemas/demo\.yaml, field steps_done: "
        r"ZeroDivisionError: by nothing \(.*\)\n",
        done.stderr,
    )
    assert not (project.root / "generated").exists()


def test_a_crash_shows_its_traceback_when_asked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For whoever reports it, the exception comes through as it is."""

    def broken(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(codegen.emit.fields, "call", broken)
    monkeypatch.setenv("SESSION_STATE_DEBUG", "1")
    assert isinstance(CliRunner().invoke(main, ["generate"]).exception, ZeroDivisionError)


def test_the_first_twenty_findings_and_a_count(project: Project) -> None:
    """A schema with many mistakes fills one screen, not fifty."""
    fields = "".join(
        f"  value_{n}: {{placement: attr, type: int, default: x, reason: The {n}th.}}\n"
        for n in range(30)
    )
    (project.root / "schemas" / "demo.yaml").write_text(SMALL[: SMALL.index("  steps")] + fields)
    done = CliRunner().invoke(main, ["check"])
    assert 1 == done.exit_code
    assert 20 == done.stdout.count("error[")
    assert "... and 10 more findings" in done.stdout


@pytest.mark.parametrize("command", ["check", "diff", "table", "explain unknown-key"])
def test_without_an_output_the_exit_code_is_the_answer(project: Project, command: str) -> None:
    """A shell that closes stdout, `>&-`, changes what is seen and not what is found."""
    with_output = project.run(*command.split())
    shell = f'exec "$0" -m codegen {command} >&-'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable],
        cwd=project.root,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (with_output.code, with_output.err) == (done.returncode, done.stderr)


def test_warnings_fail_only_when_strict(project: Project) -> None:
    """An unused dim is worth a word; it stops CI where CI wants that."""
    schema = project.root / "schemas" / "demo.yaml"
    schema.write_text(SMALL.replace("resets:", "dims: {H: 3}\nresets:"))
    runner = CliRunner()
    assert 0 == runner.invoke(main, ["generate"]).exit_code
    done = runner.invoke(main, ["check"])
    assert 0 == done.exit_code and "warning[" in done.stdout
    assert 1 == runner.invoke(main, ["check", "--strict"]).exit_code


def test_table_shows_every_model_or_those_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal has the rows, reasons and totals of the decision table, and fits its width."""
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setenv("COLUMNS", "100")
    runner = CliRunner()
    both = runner.invoke(main, ["table"])
    assert 0 == both.exit_code
    one = runner.invoke(main, ["table", "cosmos3"])
    assert one.stdout.strip() in both.stdout
    assert "DreamZeroSession" in both.stdout and "DreamZeroSession" not in one.stdout
    assert "144.00 MiB (150,994,944)" in one.stdout
    assert "Rebuilt from text_tokens, at num_layers * S" in one.stdout
    assert "64 live generations 11.00 GiB" in one.stdout
    notes = [line for line in both.stdout.splitlines() if line.startswith("    ")]
    assert all(len(line) <= 100 for line in notes)
    for columns in range(60, 110, 7):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = runner.invoke(main, ["table"]).stdout.splitlines()
        assert not [line for line in lines if line.startswith("= ") or line.endswith(" =")]
    unknown = runner.invoke(main, ["table", "Nobody"])
    assert 2 == unknown.exit_code
    assert "there are Cosmos3, DreamZero" in unknown.stderr


def test_table_shows_controls_as_code_points() -> None:
    """Text that a terminal would obey is shown instead."""
    schema = load(decode(SMALL.encode(), "demo.yaml"), Report())
    assert schema is not None
    hostile = attrs.evolve(schema, doc="A \x1b[31m demo.")
    assert "A <U+001B>[31m demo." in list(terminal(section(hostile, "demo.yaml"), 80))
