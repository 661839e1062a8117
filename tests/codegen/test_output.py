"""Generated files on disk: the same everywhere, all or none, and nobody else's touched."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .project import DREAMZERO, REPOSITORY, SMALL, Project

BROKEN = SMALL.replace("placement: attr", "placement: atr")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.at(tmp_path / "project", demo=SMALL)


def test_generate_then_check_is_clean(project: Project) -> None:
    """What generate wrote, check accepts."""
    assert 0 == project.run("generate").code
    assert 0 == project.run("check").code
    assert {"DECISIONS.md", "__init__.py", "demo.py"} == project.files().keys()


def test_generate_again_keeps_mtimes(project: Project) -> None:
    """A file that is right already is not written again."""
    project.run("generate")
    path = project.root / "generated" / "demo.py"
    os.utime(path, ns=(1, 1))
    assert 0 == project.run("generate").code
    assert 1 == path.stat().st_mtime_ns


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONHASHSEED": str(seed)} for seed in range(1, 6)]
    + [{"TZ": "Asia/Tokyo"}, {"LC_ALL": "C"}, {"LC_ALL": "tr_TR.UTF-8", "PYTHONUTF8": "0"}],
)
def test_same_bytes_everywhere(tmp_path: Path, environment: dict[str, str]) -> None:
    """Neither hash seed, time zone, locale, checkout path nor file order changes a byte."""
    dreamzero = DREAMZERO.read_text(encoding="utf-8")
    here = Project.at(tmp_path / "here", a=SMALL, b=dreamzero)
    there = Project.at(tmp_path / "some where" / "else", b=dreamzero, a=SMALL)
    assert 0 == here.run("generate").code
    assert 0 == there.run("generate", **environment).code
    assert here.files() == there.files()


def test_same_bytes_from_another_folder(project: Project) -> None:
    """A project with settings gives the same bytes from whichever folder the command is run."""
    (project.root / "pyproject.toml").write_text('[tool.session-state]\nschemas = "schemas"\n')
    project.run("generate")
    before = project.files()
    inner = project.root / "schemas"
    shutil.rmtree(project.root / "generated")
    assert 0 == project.run("generate", cwd=inner).code
    assert before == project.files()


def test_crlf_and_bom_give_the_same_bytes(project: Project, tmp_path: Path) -> None:
    """A schema saved on Windows generates what the same schema saved elsewhere does."""
    project.run("generate")
    other = Project.at(tmp_path / "windows", demo="")
    content = b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode()
    (other.root / "schemas" / "demo.yaml").write_bytes(content)
    assert 0 == other.run("generate").code
    assert project.files() == other.files()


def test_check_passes_on_a_crlf_checkout(project: Project) -> None:
    """Generated files whose line ends a checkout changed are not drift."""
    project.run("generate")
    for path in (project.root / "generated").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert 0 == project.run("check").code


@pytest.mark.parametrize("name", ["demo.py", "DECISIONS.md", "__init__.py"])
def test_check_names_a_missing_file_and_what_to_run(project: Project, name: str) -> None:
    """A deleted output is named, with the command that makes it."""
    project.run("generate")
    (project.root / "generated" / name).unlink()
    done = project.run("check")
    assert 1 == done.code
    assert f"error[missing-file] generated/{name}\n" in done.out
    assert "hint: run `session-state generate`\n" in done.out


@pytest.mark.parametrize("name", ["demo.py", "DECISIONS.md", "__init__.py"])
@pytest.mark.parametrize("line", [0, 3, -1])
def test_check_sees_any_edit(project: Project, name: str, line: int) -> None:
    """A hand edit anywhere in a generated file, its head included, is drift."""
    project.run("generate")
    path = project.root / "generated" / name
    lines = path.read_text().splitlines()
    lines[line] += " "
    path.write_text("\n".join(lines) + "\n")
    done = project.run("check")
    assert 1 == done.code
    assert f"error[changed-file] generated/{name}\n" in done.out


def test_check_sees_a_schema_that_changed(project: Project) -> None:
    """A schema edited without generating is drift in its module and in the decision table."""
    project.run("generate")
    schema = project.root / "schemas" / "demo.yaml"
    schema.write_text(SMALL.replace("counts its steps", "advances it"))
    done = project.run("check")
    assert 1 == done.code
    assert "[changed-file] generated/demo.py\n" in done.out
    assert "[changed-file] generated/DECISIONS.md\n" in done.out


def test_check_sees_two_files_that_changed_places(project: Project) -> None:
    """Each head names its own file, so that a current text under another name is drift."""
    (project.root / "schemas" / "two.yaml").write_text(SMALL.replace("Demo", "Two"))
    project.run("generate")
    one, two = (project.root / "generated" / name for name in ("demo.py", "two.py"))
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)
    done = project.run("check")
    assert 1 == done.code
    assert "[changed-file] generated/demo.py\n" in done.out
    assert "[changed-file] generated/two.py\n" in done.out


def test_a_clean_check_reads_no_yaml(project: Project) -> None:
    """The heads say that nothing changed, and that there is nothing to warn about."""
    project.run("generate")
    code = (
        "import sys\n"
        "from codegen.cli import main\n"
        "try: main(['check'])\n"
        "except SystemExit as end: print(end.code, 'yaml' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project.root,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ["1 schema and the generated files agree", "0 False"] == done.stdout.splitlines()


def test_a_foreign_file_is_left_alone(project: Project) -> None:
    """A file without the mark is mentioned by check and touched by nothing."""
    project.run("generate")
    mine = project.root / "generated" / "mine.py"
    mine.write_text("precious = 1\n")
    done = project.run("check")
    assert 0 == done.code
    assert "warning[foreign-file] generated/mine.py\n" in done.out
    assert 1 == project.run("check", "--strict").code
    assert 0 == project.run("generate").code
    assert "precious = 1\n" == mine.read_text()


def test_a_foreign_file_in_the_way_stops_generate(project: Project) -> None:
    """A file without the mark that has an output's name is not overwritten, and nothing is written."""
    folder = project.root / "generated"
    folder.mkdir()
    (folder / "demo.py").write_text("precious = 1\n")
    done = project.run("generate")
    assert 2 == done.code
    assert "generated/demo.py" in done.err
    assert {"demo.py": b"precious = 1\n"} == project.files()
    assert 1 == project.run("check").code


@pytest.mark.parametrize(
    "name", ["demo/__init__.py", "demo.pyi", "demo.cpython-311-x86_64-linux-gnu.so", "__init__.pyi"]
)
def test_what_python_or_a_checker_would_read_instead_is_drift(project: Project, name: str) -> None:
    """Something that hides a generated module is named, and generate does not go on beside it."""
    project.run("generate")
    other = project.root / "generated" / name
    other.parent.mkdir(exist_ok=True)
    other.write_text("")
    done = project.run("check")
    assert 1 == done.code
    assert f"error[blocking-file] generated/{name.partition('/')[0]}\n" in done.out
    assert 2 == project.run("generate").code


def test_bytes_that_are_no_text_are_drift(project: Project) -> None:
    """A replaced character cannot stand for the bytes that it replaced."""
    schema = project.root / "schemas" / "demo.yaml"
    schema.write_text(SMALL.replace("A demo.", "A \N{REPLACEMENT CHARACTER} demo."), "utf-8")
    project.run("generate")
    path = project.root / "generated" / "demo.py"
    path.write_bytes(path.read_bytes().replace("\N{REPLACEMENT CHARACTER}".encode(), b"\xff"))
    assert 1 == project.run("check").code


def test_an_orphan_goes_unless_somebody_edited_it(project: Project) -> None:
    """An output without a schema is named by check; generate deletes it only when untouched."""
    schemas, folder = project.root / "schemas", project.root / "generated"
    for name in ("one", "two"):
        (schemas / f"{name}.yaml").write_text(SMALL.replace("Demo", name.title()))
    project.run("generate")
    (folder / "two.py").write_text((folder / "two.py").read_text() + "# mine\n")
    (schemas / "one.yaml").unlink()
    (schemas / "two.yaml").unlink()
    said = project.run("check").out
    assert "[orphaned-file] generated/one.py\n  No schema makes this file any more.\n" in said
    assert "[orphaned-file] generated/two.py\n  No schema makes this file any more, and so" in said
    assert "kept generated/two.py (edited by hand" in project.run("generate").out
    assert {"DECISIONS.md", "__init__.py", "demo.py", "two.py"} == project.files().keys()


def test_one_bad_schema_writes_nothing(project: Project) -> None:
    """An error in any schema leaves every output as it was."""
    project.run("generate")
    before = project.files()
    (project.root / "schemas" / "demo.yaml").write_text(SMALL.replace("A demo", "Another"))
    (project.root / "schemas" / "zz.yaml").write_text(BROKEN.replace("Demo", "Other"))
    done = project.run("generate")
    assert 1 == done.code
    assert "bad-choice" in done.out
    assert before == project.files()


def test_a_failing_write_leaves_no_mix(project: Project) -> None:
    """When one output cannot be written the others keep their old content and no scrap remains."""
    project.run("generate")
    folder = project.root / "generated"
    (folder / "demo.py").unlink()
    (folder / "demo.py").mkdir()
    (project.root / "schemas" / "demo.yaml").write_text(SMALL.replace("A demo", "Another"))
    before = project.files()
    done = project.run("generate")
    assert 2 == done.code
    assert 1 == len(done.err.splitlines())
    assert "generated/demo.py" in done.err
    assert before == project.files()
    assert not list(folder.glob(".*"))


def test_usage_errors_are_one_line_and_exit_2(tmp_path: Path, project: Project) -> None:
    """No folder, no schema, a file for a folder and bad settings each say what and where."""
    empty = Project.at(tmp_path / "empty")
    for arguments, names in (
        (("check", "--schemas", "nowhere"), "nowhere: there is no such folder; `session-state new"),
        (("generate", "--schemas", "schemas/demo.yaml"), "schemas/demo.yaml"),
        (("generate", "--output", "schemas/demo.yaml"), "schemas/demo.yaml"),
    ):
        done = project.run(*arguments)
        assert 2 == done.code
        assert 1 == len(done.err.splitlines())
        assert names in done.err
    assert 2 == empty.run("check").code
    assert "holds no schema" in empty.run("check").err
    (project.root / "pyproject.toml").write_text('[tool.session-state]\nschema = "x"\n')
    assert "'schema'" in project.run("check").err
