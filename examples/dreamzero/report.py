"""What the side-by-side run says while it works and at its end."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs

from session_state.accounting import walk
from session_state.manager import SessionState


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
    is_milestone = bool(event) or outcome.frame % 10 == 0
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line}", end="\n" if is_milestone else "", flush=True)
    elif is_milestone:
        print(line, flush=True)


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


def bytes_table(session: SessionState, declared: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Held beside declared bytes, per field and device, of what has any."""
    rows = []
    for field, most in declared.items():
        now = held(session, field)
        devices = sorted(now.keys() | most.keys())
        rows += [(field, name, now.get(name, 0), most.get(name, 0)) for name in devices]
    rows = [row for row in rows if row[2] or row[3]]
    rows.append(("total", "", sum(row[2] for row in rows), sum(row[3] for row in rows)))
    yield f"  {'field':24} {'device':8} {'held':>12} {'declared':>12}"
    for field, device, now_held, most_held in rows:
        share = f"{now_held / most_held:.0%}" if most_held else "undeclared"
        yield f"  {field:24} {device:8} {now_held:12,} {most_held:12,} {share:>6}"


def held(session: SessionState, field: str) -> Mapping[str, int]:
    """The bytes that one field holds now, per device."""
    value = session.get(field) if field in session.names() else session.attrs.get(field)
    return walk(value, set()).nbytes
