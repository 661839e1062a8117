"""Formats the bytes of one schema file, and makes sure that it says the same as before."""

from collections import Counter

from ..breaking.meaning import Meaning, meaning
from ..findings import Report, Severity
from ..language import SCHEMA
from ..load import load
from ..model import Schema
from ..settings import UsageError
from ..source import Source, decode, parse
from .block import Immovable
from .edits import apply
from .order import edits

_BOM = b"\xef\xbb\xbf"
# A draft is formatted before its reasons are written: where its keys belong is known.
_UNFINISHED = frozenset({"todo-reason", "missing-reason"})


def formatted(content: bytes, path: str, report: Report) -> bytes | None:
    """The file in canonical order, or None where `report` says why it could not be read.

    Raises:
        UsageError: a key cannot be moved, or the schema would then say something else.
    """
    source = decode(content, path)
    before = _understood(source)
    if before is None:
        load(source, report)
        return None
    root = parse(source, Report())
    # The last line needs an end of its own before it can be any other line.
    text = source.text if source.text.endswith("\n") else f"{source.text}\n"
    try:
        found = list(edits(text, root, SCHEMA)) if root else []
    except Immovable as error:
        raise UsageError(f"{path}:{error}: write `key: value`; a key with `?` stays") from None
    if not found:
        return content
    arranged = apply(text, 0, len(text), found)
    after = _understood(decode(arranged.encode(), path))
    if after is None or _said(before) != _said(after) or _ink(text) != _ink(arranged):
        raise UsageError(
            f"{path}: its keys cannot be put in order without changing what it says; "
            "nothing was written. Put them in order by hand, and please report this file"
        )
    return _as_before(arranged, content)


def _understood(source: Source) -> Schema | None:
    """The schema, where all of it could be read, reasons aside."""
    report = Report()
    schema = load(source, report)
    errors = (one.code for one in report.findings if one.severity is Severity.ERROR)
    return schema if _UNFINISHED.issuperset(errors) else None


def _said(schema: Schema) -> Meaning:
    return meaning(schema, without=frozenset({"sha256"}))


def _ink(text: str) -> Counter[str]:
    """What can be seen of a text; a comma separates, wherever it stands."""
    return Counter("".join(text.replace(",", " ").split()))


def _as_before(text: str, content: bytes) -> bytes:
    """The text with the byte order mark and the line ends that the file had."""
    crlf = content.count(b"\r\n")
    ends = {"\r\n": crlf, "\n": content.count(b"\n") - crlf, "\r": content.count(b"\r") - crlf}
    # Of equally many, the first.
    newline = max(ends, key=lambda end: ends[end]) if any(ends.values()) else "\n"
    mark = _BOM if content.startswith(_BOM) else b""
    return mark + text.replace("\n", newline).encode()
