"""`generate --watch`: the real command beside real changes of files."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from .project import REPOSITORY, SMALL, Project

SECONDS = 60


class Watching:
    """The command while it runs, and the lines that it prints."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self._lines: queue.Queue[str] = queue.Queue()
        assert process.stdout
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line)

    def until(self, part: str) -> str:
        """All that is printed up to the line with `part` in it."""
        text = ""
        while part not in text.rpartition("\n")[0].rpartition("\n")[2]:
            text += self._lines.get(timeout=SECONDS)
        return text

    def interrupt(self) -> int:
        """Press Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=SECONDS)


@contextmanager
def watching(project: Project) -> Iterator[Watching]:
    """`generate --watch` in a project, which ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "codegen", "generate", "--watch"],
        cwd=project.root,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": os.defpath},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.wait(timeout=SECONDS)
        assert process.stdout
        process.stdout.close()


def test_each_change_is_generated_and_findings_do_not_end_it(tmp_path: Path) -> None:
    """A change writes, a mistake is printed, its correction writes again, and Ctrl-C is success."""
    project = Project.at(tmp_path, demo=SMALL)
    schema = tmp_path / "schemas" / "demo.yaml"
    with watching(project) as command:
        assert "wrote generated/demo.py" in command.until("Ctrl-C ends it")

        schema.write_text(SMALL.replace("default: 0", "default: 7"), encoding="utf-8")
        assert "wrote generated/demo.py" in command.until("Ctrl-C ends it")
        generated = project.files()
        assert b"default=7" in generated["demo.py"]

        schema.write_text(SMALL.replace("attr", "atr"), encoding="utf-8")
        printed = command.until("Ctrl-C ends it")
        assert "demo.yaml changed" in printed
        assert "error[bad-choice] schemas/demo.yaml:8:27" in printed
        assert "Nothing was written." in printed
        assert generated == project.files()

        schema.unlink()
        assert "holds no schema" in command.until("Ctrl-C ends it")

        # As editors save: beside, and then renamed.
        beside = tmp_path / "schemas" / "demo.yaml~"
        beside.write_text(SMALL.replace("default: 0", "default: 8"), encoding="utf-8")
        beside.rename(schema)
        assert "wrote generated/demo.py" in command.until("Ctrl-C ends it")
        assert b"default=8" in project.files()["demo.py"]
        assert 0 == command.interrupt()


def test_a_new_schema_is_a_change(tmp_path: Path) -> None:
    """A file that appears is generated; one that is no schema is nobody's business."""
    project = Project.at(tmp_path, demo=SMALL)
    with watching(project) as command:
        command.until("Ctrl-C ends it")
        (tmp_path / "schemas" / "notes.txt").write_text("later", encoding="utf-8")
        (tmp_path / "schemas" / "other.yaml").write_text(
            SMALL.replace("Demo", "Other"), encoding="utf-8"
        )
        printed = command.until("Ctrl-C ends it")
        assert "\nother.yaml changed\n" in printed
        assert "wrote generated/other.py" in printed
        assert 0 == command.interrupt()


def test_without_watchfiles_it_says_what_to_install(tmp_path: Path) -> None:
    """The extra is named in one line; generate itself does not need it."""
    project = Project.at(tmp_path, demo=SMALL)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "watchfiles.py").write_text(
        "raise ModuleNotFoundError(name='watchfiles')", encoding="utf-8"
    )
    paths = os.pathsep.join([str(hidden), str(REPOSITORY)])
    done = project.run("generate", "--watch", PYTHONPATH=paths)
    assert 2 == done.code
    assert "pip install 'session-state[watch]'" in done.err
    assert 1 == done.err.count("\n")
    assert 0 == project.run("generate", PYTHONPATH=paths).code


@pytest.mark.parametrize("schemas", ["none", "pyproject.toml"])
def test_there_is_a_folder_to_watch(tmp_path: Path, schemas: str) -> None:
    """A folder that is not there would never change."""
    project = Project.at(tmp_path, demo=SMALL)
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    done = project.run("generate", "--watch", "--schemas", schemas)
    assert (2, f"session-state: {schemas}: is not a folder of schemas\n") == (done.code, done.err)
