"""What `make run` starts, run as a user does."""

from typing import Any

import pytest

import examples.dreamzero.__main__ as example
from examples.dreamzero.report import Outcome

from ..demos import demo


def figures(output: str, field: str) -> list[str]:
    """The device and the held and declared bytes that the table gives for a field."""
    line = next(line for line in output.splitlines() if line.split()[:1] == [field])
    return line.split()[1:4]


def test_every_step_of_the_run_is_equal() -> None:
    """All 60 steps agree, the map holds what is declared, and the run exits 0."""
    run = demo("dreamzero")
    assert (0, "") == (run.returncode, run.stderr)
    assert "60 of 60 steps equal bit for bit" in run.stdout
    device, held, declared = figures(run.stdout, "vae_enc_feat_map")
    assert ("cpu", held) == (device, declared)
    assert "generated/DECISIONS.md" in run.stdout


def test_a_dropped_slot_is_seen() -> None:
    """With --break the run names the encoder map from frame 40 on, and exits 0."""
    run = demo("dreamzero", "--break")
    assert (0, "") == (run.returncode, run.stderr)
    assert "39 of 60 steps equal bit for bit" in run.stdout
    assert "Different after frame 40: vae_enc_feat_map." in run.stdout
    assert "dropped at frame 40: this comparison noticed." in run.stdout


@pytest.mark.parametrize("arguments", [[], ["--break"]])
@pytest.mark.parametrize("differing", [[], ["vae_enc_feat_map"]])
def test_a_run_that_comes_out_otherwise_exits_1(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], differing: list[str]
) -> None:
    """A difference that was not asked for is a failure, and so is none where one was."""

    def stream(*_: Any, drop_a_slot: bool) -> list[Outcome]:
        return [Outcome(1, "session", []), Outcome(2, None, differing)]

    monkeypatch.setattr(example, "stream", stream)
    monkeypatch.setattr("sys.argv", ["examples.dreamzero", *arguments])
    assert int(bool(differing) != bool(arguments)) == example.main()
