"""What the side-by-side run says while it works and at its end."""

from collections import Counter
from collections.abc import Iterator, Sequence

import attrs

from ..report import show_line


@attrs.frozen
class Outcome:
    """What one frame did: the reset it began with, and the fields that differ after it."""

    frame: int
    reset: str | None
    differing: Sequence[str]


def show_progress(outcome: Outcome, frames: int) -> None:
    """Rewrite one line in a terminal; in a pipe, one line per ten frames and per event."""
    verdict = "differs" if outcome.differing else "equal"
    event = f"{outcome.reset} reset" if outcome.reset else ""
    line = f"  frame {outcome.frame:2} of {frames}   {verdict:9} {event}".rstrip()
    show_line(line, is_milestone=bool(event) or outcome.frame % 10 == 0)


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How many steps were equal; where the first difference lay, and what it had become."""
    differing = [outcome for outcome in outcomes if outcome.differing]
    resets = Counter(outcome.reset for outcome in outcomes)
    yield (
        f"{len(outcomes) - len(differing)} of {len(outcomes)} steps equal bit for bit, "
        f"across {resets['session']} session and {resets['inference']} inference resets."
    )
    for outcome in differing[:1] + differing[1:][-1:]:
        yield f"Different after frame {outcome.frame}: {', '.join(outcome.differing)}."
