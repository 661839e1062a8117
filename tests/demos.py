"""The examples, run as a user runs them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def demo(example: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `make run EXAMPLE=... ARGS=...` starts, once everything is installed."""
    return subprocess.run(
        [sys.executable, "-m", f"examples.{example}", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
