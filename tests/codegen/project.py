"""A project on disk, and the command run in it as a user runs it."""

import subprocess
import sys
from pathlib import Path

from attrs import frozen

REPOSITORY = Path(__file__).resolve().parents[2]
DREAMZERO = REPOSITORY / "schemas" / "dreamzero.yaml"

SMALL = """\
schema: 1
model: Demo
class: DemoSession
scope: session
doc: A demo.
resets: {session: The session starts again.}
fields:
  steps_done: {placement: attr, type: int, default: 0, reason: Only the model counts its steps.}
"""


@frozen
class Done:
    code: int
    out: str
    err: str


@frozen
class Project:
    """A folder with `schemas/`; `generated/` appears beside it."""

    root: Path

    @classmethod
    def at(cls, root: Path, **schemas: str) -> "Project":
        (root / "schemas").mkdir(parents=True)
        for name, text in schemas.items():
            (root / "schemas" / f"{name}.yaml").write_text(text, encoding="utf-8")
        return cls(root)

    def run(self, *arguments: str, cwd: Path | None = None, **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "codegen", *arguments],
            cwd=cwd or self.root,
            env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def files(self) -> dict[str, bytes]:
        """Every generated file, by name."""
        folder = self.root / "generated"
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}
