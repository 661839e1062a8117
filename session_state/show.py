"""How a manager and a session look in a terminal and in a notebook: as last published, unwalked."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .account import Account
    from .rows import SessionRow

_SHOWN_ROWS = 20
_STEP = 1024


def readable(nbytes: int) -> str:
    """Bytes as people read them: "603.3 MiB"."""
    size = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < _STEP:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _STEP
    return f"{size:.1f} TiB"


def by_device(nbytes: Mapping[str, int]) -> str:
    """Bytes per device in one phrase: "603.3 MiB on cuda:0, 12.0 KiB on cpu"."""
    held = [
        f"{readable(nbytes[device])} on {device}" for device in sorted(nbytes) if nbytes[device]
    ]
    return ", ".join(held) or "no bytes"


def fields_html(title: str, account: "Account | None") -> str:
    """The fields of one session and their bytes, the largest first."""
    fields = (
        []
        if account is None
        else [
            (name, books.nbytes(), ", ".join(books.unaccounted))
            for name, books in list(account.fields.items())
        ]
    )
    fields.sort(key=lambda field: -sum(field[1].values()))
    rows = [(name, by_device(nbytes) if nbytes else "", unseen) for name, nbytes, unseen in fields]
    return _table(title, ("field", "bytes", "not accounted for"), rows)


def sessions_html(title: str, rows: Sequence["SessionRow"]) -> str:
    """The sessions that hold the most, and how many more there are."""
    largest = sorted(rows, key=lambda row: -sum(row.held.values()))
    cells = [
        (
            row.session_id,
            row.cls or "",
            row.status,
            f"{row.idle_seconds:.0f} s",
            str(row.steps),
            by_device(row.held),
            by_device(row.exclusive),
        )
        for row in largest[:_SHOWN_ROWS]
    ]
    if len(rows) > len(cells):
        title += f"; the {len(cells)} largest of {len(rows)}"
    return _table(
        title, ("session", "class", "status", "idle", "steps", "held", "exclusive"), cells
    )


def _table(title: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = "".join(f"<th style='text-align:left'>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        f"<tr>{''.join(f'<td style={_LEFT}>{escape(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return (
        f"<table><caption style={_LEFT}>{escape(title)}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"
    )


_LEFT = "'text-align:left'"
