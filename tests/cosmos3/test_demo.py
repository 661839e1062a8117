"""`python -m examples.cosmos3`, run as a user does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.cosmos3", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_every_mode_is_equal() -> None:
    """All steps of the four modes agree, the last holds what is declared, and the run exits 0."""
    run = demo()
    assert (0, "") == (run.returncode, run.stderr)
    assert 4 == run.stdout.count("30 of 30 steps equal")
    row = next(line for line in run.stdout.splitlines() if "transfer: und_kv" in line)
    assert ["cpu", "49,152", "49,152", "100%"] == row.split()[-4:]
    assert "generated/DECISIONS.md" in run.stdout


def test_one_cache_for_all_is_seen() -> None:
    """With --break every mode names the first step that differs, and the run exits 0."""
    run = demo("--break")
    assert (0, "") == (run.returncode, run.stderr)
    assert 2 == run.stdout.count("request-2 differs at step 1")
    assert 2 == run.stdout.count("request-1 differs at step 1")
