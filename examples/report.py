"""What the examples print alike."""

import sys
from collections.abc import Iterator, Mapping, Sequence

import attrs
from session_state.accounting import SeenStorages, merge_bytes, walk
from session_state.manager import SessionState


def show_line(line: str, *, is_milestone: bool) -> None:
    """Rewrite one line in a terminal; in a pipe, print only the milestones."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{line}", end="\n" if is_milestone else "", flush=True)
    elif is_milestone:
        print(line, flush=True)


@attrs.frozen
class Bytes:
    """What a field holds on a device, and the most that its schema declares."""

    field: str
    device: str
    held: int
    declared: int


def bytes_by_field(
    session: SessionState, declared: Mapping[str, Mapping[str, int]]
) -> Iterator[Bytes]:
    """Held beside declared bytes, per field and device, of what has any."""
    for field, most in declared.items():
        now = held(session, field)
        for device in sorted(now.keys() | most.keys()):
            if now.get(device) or most.get(device):
                yield Bytes(field, device, now.get(device, 0), most.get(device, 0))


def total(rows: Sequence[Bytes]) -> Bytes:
    """The sum of the rows."""
    return Bytes("total", "", sum(row.held for row in rows), sum(row.declared for row in rows))


def bytes_table(rows: Sequence[Bytes]) -> Iterator[str]:
    """One line for each row, below their headings."""
    width = max([24, *(len(row.field) for row in rows)])
    yield f"  {'field':{width}} {'device':8} {'held':>12} {'declared':>12}"
    for row in rows:
        share = f"{row.held / row.declared:.0%}" if row.declared else "undeclared"
        yield f"  {row.field:{width}} {row.device:8} {row.held:12,} {row.declared:12,} {share:>6}"


def held(session: SessionState, field: str) -> Mapping[str, int]:
    """The bytes that one field holds now, per device; of a family, all its keys together."""
    seen: SeenStorages = set()
    total: dict[str, int] = {}
    values = session.attrs | {name: session.get(name) for name in session.names()}
    for name, value in values.items():
        if name.partition("/")[0] == field:
            merge_bytes(total, walk(value, seen).nbytes)
    return total
