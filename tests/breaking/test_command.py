"""The command as a person or a program reads it: its formats, its option, its exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codegen.cli import main

from .repository import Repository
from .sides import BASE, edited


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """One commit; in the work tree the placement of `picture` flips, and its reason stays."""
    repository = Repository.at(tmp_path / "work", BASE)
    text = edited(
        (
            "    type: Tensor | None\n    shape: [B, H]\n    written: once\n",
            "    kind: EncodeOnce\n    type: Tensor\n    shape: [B, H]\n    manager_may: [rebuild]\n"
            "    recompute: {from: [text], cost: 1, doc: One pass.}\n",
        ),
        ("  picture:\n    placement: attr", "  picture:\n    placement: object"),
        ("revisit: Pictures come in pairs.", "revisit: Never."),
    )
    repository.schema.write_text(text)
    monkeypatch.chdir(repository.root)
    return repository


def breaking(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["breaking", "--against", "HEAD", *arguments])


def test_text_has_what_breaks_first(repository: Repository) -> None:
    """The page of findings, then the notes, then one line that counts."""
    done = breaking()
    sha = repository.git("rev-parse", "HEAD")[:7]
    assert 1 == done.exit_code
    assert (
        f"""\
error[placement-flipped] schemas/demo.yaml:42:16
  42 |     placement: object
     |                ^^^^^^
  `picture` was an attr, and is an object: the manager may now rebuild it.

error[stale-reason] schemas/demo.yaml:48:13
  48 |     reason: Assigned from each picture.
     |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  `picture` is an object now, and this is still the reason why it was an attr.
  hint: say why `picture` is an object

note[notes-edited] schemas/demo.yaml:49:14
  49 |     revisit: Never.
     |              ^^^^^^
  `revisit` of `picture` says something else.

2 breaking changes, 1 other, against HEAD ({sha})
"""
        == done.output
    )


def test_json_and_github_print_nothing_else(repository: Repository) -> None:
    """A program reads standard output; the count goes beside it."""
    done = breaking("--format", "json")
    found = json.loads(done.stdout)
    assert ["placement-flipped", "stale-reason", "notes-edited"] == [one["code"] for one in found]
    assert ["error", "error", "note"] == [one["severity"] for one in found]
    assert "2 breaking changes" in done.stderr
    lines = breaking("--format", "github").stdout.splitlines()
    assert 3 == len(lines)
    assert lines[0].startswith("::error file=schemas/demo.yaml,line=42,col=16,")
    assert lines[2].startswith("::notice file=schemas/demo.yaml,line=49,")


def test_markdown_is_the_comment_alone(repository: Repository) -> None:
    """What is posted is all that is printed."""
    done = breaking("--format", "markdown")
    assert 1 == done.exit_code
    assert "" == done.stderr
    sha = repository.git("rev-parse", "HEAD")[:7]
    assert done.stdout.startswith(f"### 2 breaking changes, 1 other, against HEAD ({sha})\n\n")
    assert "| after | picture | **object: EncodeOnce** | 128 B |" in done.stdout


def test_notes_alone_are_clean(repository: Repository) -> None:
    """Another reason is shown, and stops nothing."""
    repository.schema.write_text(BASE.replace("Only the model counts.", "The model counts."))
    done = breaking()
    assert 0 == done.exit_code
    assert "note[reason-edited]" in done.output
    assert "no breaking changes, 1 other, against HEAD" in done.output


def test_the_threshold_is_per_cent(repository: Repository) -> None:
    """With its sign or without; anything else is refused before anything is compared."""
    repository.schema.write_text(BASE.replace("H: 64", "H: 80"))
    assert 1 == breaking().exit_code
    assert 1 == breaking("--threshold", "24.9").exit_code
    assert 0 == breaking("--threshold", "25%").exit_code
    for wrong in ("much", "-1", "nan", "inf", "%"):
        done = breaking(f"--threshold={wrong}")
        assert 2 == done.exit_code
        assert f"{wrong!r} is no number of per cent, such as 10%" in done.stderr


def test_without_against_it_says_what_is_missing(repository: Repository) -> None:
    """There is no baseline that everyone means."""
    done = CliRunner().invoke(main, ["breaking"])
    assert 2 == done.exit_code
    assert "Missing option '--against'" in done.stderr


def test_explain_knows_the_kinds() -> None:
    """Whoever meets a code can ask what it is for."""
    done = CliRunner().invoke(main, ["explain", "stale-reason"])
    assert 0 == done.exit_code
    assert (
        "stale-reason, an error\n\n"
        "A reason that was given for one placement is none for the other.\n" == done.output
    )
