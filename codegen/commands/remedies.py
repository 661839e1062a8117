"""What to do about a generated file that is not as the schemas say."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..output import Drift

_REMEDY = {
    "missing": "run `session-state generate`",
    "changed": "run `session-state generate`; edits belong in the schema",
    "orphaned": "no schema makes it any more; run `session-state generate`, or delete it",
    "foreign": "not written by session-state, left alone",
}


EDITED = "no schema makes it any more, and it was edited by hand: delete it when nothing is lost"
_IN_PLACE = "not written by session-state, and in the place of what is; move it away"


def remedy(drift: "Drift") -> str:
    """What its owner does next."""
    if drift.edited:
        return EDITED
    return _IN_PLACE if drift.blocks else _REMEDY[drift.state]
