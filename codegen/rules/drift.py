"""What is found in the folder of generated files: one row per way in which they drift."""

from collections.abc import Iterable

from ..findings import Report, Severity
from ..output import Drift
from ..paths import shown
from .rule import Rule

_GENERATE = "run `session-state generate`"

MISSING = Rule(
    "missing-file",
    Severity.ERROR,
    "What the schemas say is there to be imported. A file that was never written, or was not "
    "committed, breaks whoever checks the project out.",
)
CHANGED = Rule(
    "changed-file",
    Severity.ERROR,
    "Generated files are what the schemas and this generator make, to the byte. A schema edited "
    "without generating, another version of the generator and an edit by hand all show here.",
)
ORPHANED = Rule(
    "orphaned-file",
    Severity.ERROR,
    "A model that has no schema has no class. What was generated for it would still be imported.",
)
FOREIGN = Rule(
    "foreign-file",
    Severity.WARNING,
    "The folder belongs to the generator. What others put there is left alone, and is easily "
    "taken for generated.",
)
BLOCKING = Rule(
    "blocking-file",
    Severity.ERROR,
    "A file that session-state did not write is never overwritten. Where one has the name of a "
    "generated module, Python would import the wrong one.",
)

DRIFT = (MISSING, CHANGED, ORPHANED, FOREIGN, BLOCKING)


def add_drift(drifted: Iterable[Drift], report: Report) -> None:
    """Report every file that is not as the schemas say, and what its owner does next."""
    for one in drifted:
        rule, message, hint = _said(one)
        report.add(shown(one.path), rule.code, rule.severity, None, message, hint)


def _said(drift: Drift) -> tuple[Rule, str, str]:
    match drift.state:
        case "missing":
            return MISSING, "The schemas make this file, and it is not there.", _GENERATE
        case "changed" if drift.edited:
            message = "Somebody edited this file, and it is made from the schemas alone."
            return (
                CHANGED,
                message,
                f"move the edit (`session-state diff`) to the schema, then {_GENERATE}",
            )
        case "changed":
            message = "This was made from another schema, or by another version of session-state."
            return CHANGED, message, f"{_GENERATE}; `session-state diff` shows what it changes"
        case "orphaned" if drift.edited:
            message = "No schema makes this file any more, and somebody edited it."
            return ORPHANED, message, "delete it when nothing in it is lost"
        case "orphaned":
            message = "No schema makes this file any more."
            return ORPHANED, message, f"{_GENERATE}, which deletes it"
        case "foreign" if drift.blocks:
            message = "This was not written by session-state, and is in the place of what is."
            return BLOCKING, message, "move it away"
        case "foreign":
            message = "This was not written by session-state, and is left alone."
            return FOREIGN, message, "keep it elsewhere"
