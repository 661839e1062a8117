"""What a code means: every rule has an example that breaks it, and one that does not."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from codegen.cli import main
from codegen.rules import RULES
from codegen.rules.catalogue import CATALOGUE, CHANGES
from codegen.rules.drift import DRIFT
from codegen.rules.examples import right, wrong

from .project import REPOSITORY

CODES = [rule.code for rule in RULES]
SNIPPETS = REPOSITORY / "codegen" / "rules" / "snippets"


def run(*arguments: str) -> str:
    done = CliRunner().invoke(main, ["explain", *arguments])
    assert 0 == done.exit_code, done.output
    return done.stdout


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_wrong_example_breaks_its_rule_and_no_other(rule) -> None:
    """What a rule shows as wrong has its code, at its severity, and nothing else."""
    found = wrong(rule.code).findings
    assert {(rule.code, rule.severity)} == {(one.code, one.severity) for one in found}


@pytest.mark.parametrize("code", CODES)
def test_the_right_example_is_clean(code: str) -> None:
    """What a rule shows as right has no finding at all."""
    assert () == right(code).findings


def test_every_example_is_of_a_rule() -> None:
    """No snippet is left of a rule that went."""
    expected = {"base.yaml"} | {
        f"{code}.{half}.yaml" for code in CODES for half in ("right", "wrong")
    }
    assert expected == {path.name for path in SNIPPETS.iterdir()}


@pytest.mark.parametrize("code", CODES)
def test_the_two_halves_are_one_schema_mended(code: str) -> None:
    """An example differs from its other half, and findings lie in lines that are shown."""
    bad, good = wrong(code), right(code)
    assert bad.text != good.text
    assert all(one.span.line <= len(bad.text.splitlines()) for one in bad.findings)


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.code)
def test_a_purpose_says_what_holds_and_why(rule) -> None:
    """Its first sentence is what a list of rules shows, and there is a second one."""
    assert rule.summary.endswith(".")
    assert rule.purpose.startswith(f"{rule.summary} ")
    assert rule.purpose.endswith(".")


def test_explain_shows_the_rule_and_its_examples() -> None:
    """The purpose, the wrong schema with its finding as check prints it, and the right one."""
    assert """\
maybe-none, an error

A value that may be None is tested first. The rule would otherwise raise in the
middle of a rollout.

Wrong:

    reset_when:
      arguments: {count: int | None}
      rules:
        - {reset: session, if: count > 4}

error[maybe-none] demo.yaml:4:28
  4 |     - {reset: session, if: count > 4}
    |                            ^^^^^
  `count` may be None here.
  hint: write `count is not None and ...` before it

Right:

    reset_when:
      arguments: {count: int | None}
      rules:
        - {reset: session, if: count is not None and count > 4}
""" == run("maybe-none")


def test_explain_shows_no_character_that_hides() -> None:
    """An example of a hidden character shows it by number, in the terminal and in the page."""
    assert "session<U+200B>keeps" in run("hidden-character")
    assert "\u200b" not in run("hidden-character") + run("--format", "markdown")


@pytest.mark.parametrize("rule", DRIFT, ids=lambda rule: rule.code)
def test_explain_knows_what_check_says_of_files(rule) -> None:
    """The codes of generated files have a purpose, too; a schema cannot show them."""
    assert " ".join(run(rule.code).split()) == f"{rule.code}, " + (
        f"{'an error' if rule.severity == 'error' else 'a warning'} {rule.purpose}"
    )


def test_explain_without_a_code_lists_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code is there with what holds, and no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "72")
    page = run()
    said = " ".join(page.split())
    for rule in (*CATALOGUE, *CHANGES):
        assert f"{rule.code} {rule.severity} {rule.summary}" in said
    assert all(len(line) <= 72 for line in page.splitlines())


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("bad-axs", "did you mean `bad-axis`?"),
        ("Missing-File", "did you mean `missing-file`?"),
        ("qqqq", "`session-state explain` lists all"),
    ],
)
def test_explain_of_an_unknown_code(code: str, hint: str) -> None:
    """A code that is none is a mistake in use, answered with the nearest one."""
    done = CliRunner().invoke(main, ["explain", code])
    assert 2 == done.exit_code
    assert "" == done.stdout
    assert f"session-state: no finding has the code `{code}`; {hint}\n" == done.stderr


def test_the_page_of_rules_is_made_from_the_rows(request: pytest.FixtureRequest) -> None:
    """docs/rules.md is what `session-state explain --format markdown` prints."""
    page: Path = REPOSITORY / "docs" / "rules.md"
    expected = run("--format", "markdown")
    if request.config.getoption("--update-golden", default=False):
        page.write_text(expected, encoding="utf-8")
    assert expected == page.read_text(encoding="utf-8")
