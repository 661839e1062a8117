"""A real git repository with a project in it."""

import os
import re
import subprocess
from pathlib import Path

from attrs import frozen

from ..codegen.project import SMALL, Done, Project

_AUTHOR = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"))
}
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "HOME": os.devnull}

COUNTED = SMALL.replace("type: int, default: 0", "type: int, default: 1")


@frozen
class Repository:
    """A work tree; the project is its root."""

    root: Path

    @classmethod
    def at(cls, root: Path, text: str = SMALL) -> "Repository":
        """A repository of one commit, on the branch `main`."""
        Project.at(root, demo=text)
        repository = cls(root)
        repository.git("init", "-q", "-b", "main")
        repository.commit("The first schema")
        return repository

    @property
    def schema(self) -> Path:
        return self.root / "schemas" / "demo.yaml"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], **_AUTHOR, **_ALONE},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "--message", message)

    def breaking(
        self, against: str, *arguments: str, cwd: Path | None = None, **environment: str
    ) -> Done:
        """`session-state breaking` in the work tree, as a person runs it."""
        project = Project(self.root)
        alone = {"PATH": os.environ["PATH"], **_ALONE, **environment}
        return project.run("breaking", "--against", against, *arguments, cwd=cwd, **alone)

    def run_hint(self, done: Done) -> None:
        """Do what the message says to run."""
        found = re.search(r"`git (fetch [^`]+)`", done.err)
        assert found is not None, done.err
        self.git(*found[1].split())
