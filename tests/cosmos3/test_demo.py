"""`python -m examples.cosmos3`, run as a user does."""

from types import SimpleNamespace
from typing import Any

import pytest

import examples.cosmos3.__main__ as example

from ..demos import demo


def test_every_mode_is_equal() -> None:
    """All steps of the four modes agree, the last holds what is declared, and the run exits 0."""
    run = demo("cosmos3")
    assert (0, "") == (run.returncode, run.stderr)
    assert 4 == run.stdout.count("30 of 30 steps equal")
    row = next(line for line in run.stdout.splitlines() if "transfer: und_kv" in line)
    assert ["cpu", "49,152", "49,152", "100%"] == row.split()[-4:]
    assert "generated/DECISIONS.md" in run.stdout


def test_one_cache_for_all_is_seen() -> None:
    """With --break every mode names the first step that differs, and the run exits 0."""
    run = demo("cosmos3", "--break")
    assert (0, "") == (run.returncode, run.stderr)
    assert 2 == run.stdout.count("request-2 differs at step 1")
    assert 2 == run.stdout.count("request-1 differs at step 1")


@pytest.mark.parametrize("arguments", [[], ["--break"]])
@pytest.mark.parametrize("is_equal", [True, False])
def test_a_run_that_comes_out_otherwise_exits_1(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], is_equal: bool
) -> None:
    """A difference that was not asked for is a failure, and so is none where one was."""

    def denoise_all(*_: Any, is_isolated: bool) -> tuple[list[Any], list[Any]]:
        return [SimpleNamespace(is_equal=True), SimpleNamespace(is_equal=is_equal)], []

    monkeypatch.setattr(example, "denoise_all", denoise_all)
    monkeypatch.setattr("sys.argv", ["examples.cosmos3", *arguments])
    assert int(is_equal == bool(arguments)) == example.main()
