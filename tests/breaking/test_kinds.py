"""Every kind of change is found where it stands, and nothing else is."""

import pytest

from codegen.breaking import KINDS, Change, changes_between

from ..codegen.schemas import REPOSITORY
from .edits import CASES, Case
from .sides import BASE, clean, codes, edited

# As a model in another file of another class, which nothing ties to the old one.
_UNRELATED = ("model-removed", "model-added")


def compare(code: str, case: Case) -> tuple[tuple[Change, ...], str]:
    """What the case changes, and the text that it results in."""
    text = edited(*case.edits)
    if code not in _UNRELATED:
        return changes_between([clean(BASE)], [clean(text)]), text
    text = edited(("class: DemoSession", "class: OtherSession"), text=text)
    return changes_between([clean(BASE)], [clean(text, "schemas/other.yaml")]), text


@pytest.mark.parametrize("code", CASES)
def test_a_kind_is_found(code: str) -> None:
    """The edits of a kind are that kind, at its line, and no other that they are not."""
    case = CASES[code]
    changes, text = compare(code, case)
    assert {code, *case.kinds} == codes(changes)
    lines = {
        text.split("\n")[change.span.line - 1] if change.span else None
        for change in changes
        if change.code == code
    }
    assert case.line in lines


def test_every_kind_has_a_case() -> None:
    """The cases are the rows of the registry, each once."""
    assert set(CASES) == {kind.code for kind in KINDS}
    assert len(KINDS) == len({kind.code for kind in KINDS})


def test_a_change_is_as_bad_as_its_row_says() -> None:
    """What is found has the severity of its kind."""
    severities = {kind.code: kind.severity for kind in KINDS}
    for code, case in CASES.items():
        for change in compare(code, case)[0]:
            assert severities[change.code] == change.severity


def test_additions_and_words_are_not_breaking() -> None:
    """What nobody depends on yet, and what is only said, stops no pull request."""
    noted = {kind.code for kind in KINDS if kind.severity == "note"}
    assert noted == {
        *("field-added", "model-added", "param-added", "param-widened", "dim-added"),
        *("axis-extended", "reset-added", "group-added", "handoff-added", "record-added"),
        *("config-changed", "elsewhere-changed", "reason-edited", "notes-edited"),
    }


def test_the_page_has_every_row() -> None:
    """docs/breaking.md says of each kind what the registry does."""
    page = (REPOSITORY / "docs" / "breaking.md").read_text(encoding="utf-8")
    rows = [
        f"| `{kind.code}` | {'yes' if kind.severity == 'error' else 'no'} | {kind.purpose} |"
        for kind in KINDS
    ]
    assert rows == [line for line in page.splitlines() if line.startswith("| `")]
