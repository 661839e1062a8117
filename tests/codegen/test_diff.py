"""`diff`: a patch of what generate would do, which git takes as it is."""

import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.output import Change
from codegen.patch import unified

from .project import REPOSITORY, SMALL, Project

OTHER = SMALL.replace("Demo", "Other")
BROKEN = SMALL.replace("type: int", "type: itn")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.at(tmp_path / "project", demo=SMALL)
    project.run("generate")
    return project


def drift(project: Project) -> None:
    """One file of each kind: missing, edited, of an older schema, and left over."""
    schemas, folder = project.root / "schemas", project.root / "generated"
    (schemas / "other.yaml").write_text(OTHER)
    project.run("generate")
    (schemas / "other.yaml").unlink()
    (schemas / "third.yaml").write_text(SMALL.replace("Demo", "Third"))
    path = folder / "demo.py"
    path.write_bytes(path.read_bytes().replace(b"A demo.", b"Edited \xff by\x0chand.") + b"# end")


def git_apply(root: Path, patch: str) -> None:
    subprocess.run(
        ["git", "apply", "-"],
        cwd=root,
        input=patch.encode(errors="surrogateescape"),
        env={"PATH": os.environ["PATH"], "GIT_CEILING_DIRECTORIES": str(root.parent)},
        check=True,
    )


def run(project: Project, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "codegen", "diff", *arguments],
        cwd=project.root,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="surrogateescape")


def test_git_applies_the_patch_to_what_generate_writes(project: Project, tmp_path: Path) -> None:
    """Applied to the drifted project, the diff gives every file that generate gives, to the byte."""
    drift(project)
    code, patch = run(project)
    assert 1 == code
    copy = Project(tmp_path / "copy")
    shutil.copytree(project.root, copy.root)
    git_apply(copy.root, patch)
    project.run("generate")
    assert project.files() == copy.files()
    assert {"DECISIONS.md", "__init__.py", "demo.py", "third.py"} == copy.files().keys()
    assert (0, "") == run(copy)


def test_the_diff_of_a_hand_edit_is_the_edit(project: Project) -> None:
    """A changed line comes back, and nothing else moves."""
    path = project.root / "generated" / "demo.py"
    path.write_text(path.read_text().replace('"""A demo."""', '"""My demo."""'))
    code, patch = run(project)
    changed = [line for line in patch.splitlines() if line[0] in "+-"]
    assert 1 == code
    assert [
        "--- a/generated/demo.py",
        "+++ b/generated/demo.py",
        '-    """My demo."""',
        '+    """A demo."""',
    ] == changed


def test_a_missing_file_is_all_added(project: Project) -> None:
    """The whole text comes, from nothing."""
    path = project.root / "generated" / "demo.py"
    text = path.read_text()
    path.unlink()
    code, patch = run(project)
    head, body = patch.split(" @@\n")
    assert 1 == code
    assert "--- /dev/null\n+++ b/generated/demo.py\n" in head
    assert [f"+{line}" for line in text.splitlines()] == body.splitlines()


def test_an_orphan_is_all_removed_unless_edited(project: Project) -> None:
    """What generate deletes goes to nothing; what it keeps is named beside the patch."""
    schemas, folder = project.root / "schemas", project.root / "generated"
    (schemas / "other.yaml").write_text(OTHER)
    (schemas / "third.yaml").write_text(SMALL.replace("Demo", "Third"))
    project.run("generate")
    for name in ("other.yaml", "third.yaml"):
        (schemas / name).unlink()
    (folder / "third.py").write_text((folder / "third.py").read_text() + "# mine\n")
    done = project.run("diff")
    assert "--- a/generated/other.py\n+++ /dev/null\n" in done.out
    assert "generated/third.py" not in done.out
    assert "keeps generated/third.py (edited by hand; no schema makes it any more)\n" == done.err


def test_nothing_to_change(project: Project) -> None:
    """A current output is an empty patch, also when a checkout changed its line ends."""
    assert (0, "") == run(project)
    for path in (project.root / "generated").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert (0, "") == run(project)


def test_diff_writes_nothing(project: Project) -> None:
    """It only looks: the files are what they were, times included."""
    drift(project)
    before = {path: path.stat().st_mtime_ns for path in project.root.rglob("*")}
    run(project)
    assert before == {path: path.stat().st_mtime_ns for path in project.root.rglob("*")}


def test_findings_come_first_and_beside_the_patch(project: Project) -> None:
    """A schema that does not load has no diff; a warning has one, and standard output is a patch."""
    schema = project.root / "schemas" / "demo.yaml"
    schema.write_text(BROKEN)
    done = project.run("diff")
    assert (1, "") == (done.code, done.out)
    assert "error[bad-type] schemas/demo.yaml:8:39" in done.err
    schema.write_text(SMALL.replace("resets:", "dims: {H: 3}\nresets:"))
    done = project.run("diff")
    assert 1 == done.code
    assert done.out.startswith("--- a/generated/__init__.py\n")
    assert "warning[unused-dim]" in done.err


def test_a_file_in_the_way_and_a_wrong_folder_are_mistakes_in_use(project: Project) -> None:
    """Where generate would refuse, diff does, with the same words."""
    (project.root / "generated" / "demo.py").write_text("precious = 1\n")
    done = project.run("diff")
    assert (2, "") == (done.code, done.out)
    assert project.run("generate").err == done.err
    assert 2 == project.run("diff", "--schemas", "nowhere").code


def test_an_output_with_spaces_and_elsewhere(project: Project, tmp_path: Path) -> None:
    """The names in a patch are those that git strips and finds."""
    code, patch = run(project, "--output", "gen erated")
    git_apply(project.root, patch)
    assert 1 == code
    assert (project.root / "generated" / "demo.py").read_bytes() == (
        project.root / "gen erated" / "demo.py"
    ).read_bytes()
    _, patch = run(project, "--output", str(tmp_path / "else where"))
    assert f"+++ b{tmp_path}/else where/demo.py\t\n" in patch


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_a_terminal_is_shown_colours_and_no_control_characters(
    project: Project, no_colour: str
) -> None:
    """A person sees removed lines red and added ones green, unless NO_COLOR is set."""
    path = project.root / "generated" / "demo.py"
    path.write_text(path.read_text().replace("A demo.", "A \x1b[5m demo."))
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "codegen", "diff"],
        cwd=project.root,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", "NO_COLOR": no_colour},
        stdout=terminal,
        stdin=subprocess.DEVNULL,
    ) as process:
        os.close(terminal)
        shown = b""
        # A terminal whose other end is closed is an error to read from, and so its end.
        try:
            while part := os.read(main, 65536):
                shown += part
        except OSError:
            pass
    os.close(main)
    assert 1 == process.returncode
    added = b'+    """A demo."""'
    assert (added if no_colour else b"\x1b[32m" + added + b"\x1b[0m") in shown
    assert no_colour or b"A <U+001B>[5m demo." in shown


lines = st.lists(st.sampled_from(["a", "b", "", "\x0c", "- a", "-- b", "@@", "\\", "é", "\x85"]))
contents = st.tuples(lines, st.booleans()).map(
    lambda made: ("\n".join(made[0]) + "\n" * made[1]).encode()
)


@given(contents, contents)
def test_a_patch_makes_one_content_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes
) -> None:
    """Whatever the lines are and however they end, git makes the file after of the file before."""
    root = tmp_path_factory.mktemp("patch")
    path = root / "file"
    path.write_bytes(before)
    here = Path.cwd()
    os.chdir(root)
    try:
        patch = "".join(unified(Change(path, before, after)))
    finally:
        os.chdir(here)
    assert (before == after) == (patch == "")
    if patch:
        git_apply(root, patch)
    assert after == path.read_bytes()
