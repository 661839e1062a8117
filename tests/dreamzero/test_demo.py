"""What `make run` starts, run as a user does."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.dreamzero", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def figures(output: str, field: str) -> list[str]:
    """The device and the held and declared bytes that the table gives for a field."""
    line = next(line for line in output.splitlines() if line.split()[:1] == [field])
    return line.split()[1:4]


def test_every_step_of_the_run_is_equal() -> None:
    """All 60 steps agree, the map holds what is declared, and the run exits 0."""
    run = demo()
    assert (0, "") == (run.returncode, run.stderr)
    assert "60 of 60 steps equal bit for bit" in run.stdout
    device, held, declared = figures(run.stdout, "vae_enc_feat_map")
    assert ("cpu", held) == (device, declared)
    assert "generated/DECISIONS.md" in run.stdout


def test_a_dropped_slot_is_seen() -> None:
    """With --break the run names the encoder map from frame 40 on, and exits 0."""
    run = demo("--break")
    assert (0, "") == (run.returncode, run.stderr)
    assert "39 of 60 steps equal bit for bit" in run.stdout
    assert "Different after frame 40: vae_enc_feat_map." in run.stdout
