"""Mappings with known keys: what is unknown, missing, cut short or not built yet is a finding.

Which keys there are is said by the rows of `language`.
"""

import difflib
import re
from collections.abc import Iterable
from collections.abc import Mapping as Mapping_
from types import MappingProxyType
from typing import TypeVar

from .language import Table
from .nodes import Entry, Mapping, Node, Scalar, Sequence
from .scalars import Reader, Reading, T, as_text, as_word, is_null
from .source import report_comment
from .span import Span

U = TypeVar("U")

KeySpans = dict[str, tuple[Span, Span]]

_COMMENT = re.compile(r"[ \t]+#")


def not_built(what: str) -> tuple[str, str]:
    """Message and hint of `not-supported-yet`."""
    return (
        f"{what} is part of the schema language, and not built yet.",
        "leave it out for now; ignoring it would generate something else than you wrote",
    )


def one_of(
    choices: Mapping_[str, T],
    later: tuple[str, ...] = (),
    *,
    written: str = "value",
    meant: Mapping_[str, str] = MappingProxyType({}),
) -> Reader[T | None]:
    """A reader of one word of `choices`; those in `later` are not built yet.

    `meant` are words of other languages, each with the choice that says it here.
    """

    def read(node: Node, reading: Reading) -> T | None:
        word = as_word(node, reading)
        if word is None or word.text in choices:
            return None if word is None else choices[word.text]
        if word.text in later:
            reading.error("not-supported-yet", word.at, *not_built(f"`{word.text}`"))
            return None
        close = difflib.get_close_matches(word.text, (*choices, *later), 1)
        if other := meant.get(word.text.partition(":")[0]):
            close = [other]
        listed = ", ".join(f"`{choice}`" for choice in choices)
        message = f"`{word.text}` is not a {written}: choose one of {listed}."
        hint = f"did you mean `{close[0]}`?" if close else None
        reading.error("bad-choice", word.at, message, hint)
        return None

    return read


class Keys:
    """A mapping of the language, its keys checked; a key that was refused reads as None."""

    def __init__(self, node: Node, table: Table, reading: Reading, owner: Span) -> None:
        self._reading = reading
        self._entries: dict[str, Entry] = {}
        self.spans: KeySpans = {}
        self.is_mapping = isinstance(node, Mapping)
        # Keys whose value YAML cut short, which was reported.
        self.refused: frozenset[str] = frozenset()
        if not isinstance(node, Mapping):
            self._refuse_node(node, table, owner)
            return
        whole = whole_entries(node, table.texts, reading)
        for entry in whole:
            key = entry.key.value
            self.spans[key] = (entry.key.span, entry.value.span)
            if key in table.known:
                self._entries[key] = entry
            elif key in table.later:
                reading.error("not-supported-yet", entry.key.span, *not_built(f"`{key}`"))
            else:
                self._report_unknown(entry, table)
        written = {entry.key.value for entry in node.entries}
        self.refused = frozenset(written - self.spans.keys())
        for entry in whole:
            self._read_as_meant(entry, table)
        for required in table.required:
            if (written | self.spans.keys()).isdisjoint(required.split("|")):
                names = " or ".join(f"`{name}`" for name in required.split("|"))
                message = f"{table.what[0].upper()}{table.what[1:]} needs {names}."
                reading.error("missing-key", owner, message)

    def read(self, key: str, reader: Reader[T]) -> T | None:
        """The value of `key`, or None where there is none that can be read."""
        entry = self._entries.get(key)
        return None if entry is None else reader(entry.value, self._reading)

    def read_or(self, key: str, reader: Reader[T | None], otherwise: U) -> T | U:
        """The value of `key`, or `otherwise` where there is none that can be read."""
        value = self.read(key, reader)
        return otherwise if value is None else value

    def _refuse_node(self, node: Node, table: Table, owner: Span) -> None:
        keys = ", ".join(table.known)
        empty = is_null(node)
        said = "There is no value here" if empty else "This is not a mapping"
        message = f"{said}: {table.what} is a mapping of {keys}."
        self._reading.error("not-a-mapping", owner if empty else node.span, message)

    def _read_as_meant(self, entry: Entry, table: Table) -> None:
        """Take a misspelt key for the key that is close to it, so that it is one mistake."""
        if entry.key.value in table.known + table.later:
            return
        for meant in _close(entry.key.value, table):
            if meant not in self.spans:
                self.spans[meant] = (entry.key.span, entry.value.span)
                if meant in table.known:
                    self._entries[meant] = entry

    def _report_unknown(self, entry: Entry, table: Table) -> None:
        key = entry.key.value
        close = _close(key, table)
        keys = f"its keys are {', '.join(table.known)}"
        hint = f"did you mean `{close[0]}`?" if close else keys
        message = f"`{key}` is not a key of {table.what}."
        self._reading.error("unknown-key", entry.key.span, message, hint)


def _close(key: str, table: Table) -> list[str]:
    """The key that was probably meant, if there is one."""
    return difflib.get_close_matches(key, (*table.known, *table.later), 1)


def named_entries(
    node: Node, reading: Reading, what: str, owner: Span, *, texts: bool = False
) -> list[Entry]:
    """The entries of a mapping whose keys are names that the author chose."""
    if not isinstance(node, Mapping):
        at = owner if is_null(node) else node.span
        reading.error("not-a-mapping", at, f"{what} is a mapping of names.", "or leave it out")
        return []
    keys = [entry.key.value for entry in node.entries]
    entries = whole_entries(node, keys if texts else (), reading)
    return [entry for entry in entries if as_text(entry.key, reading) is not None]


def whole_entries(node: Mapping, texts: Iterable[str], reading: Reading) -> list[Entry]:
    """The entries without the texts that YAML cut short, which are reported, and their rests."""
    kept: list[Entry] = []
    cut: Entry | None = None
    for entry in node.entries:
        previous = cut or (kept[-1] if kept else None)
        if entry.bare and previous and (_is_cut(previous, texts) or _repeats(entry, kept)):
            if cut is None:
                cut = kept.pop()
                _report_comma(cut, reading)
            continue
        cut = None
        if entry.key.value in texts and _ends_at_comment(entry.value, reading):
            continue
        kept.append(entry)
    return kept


def _repeats(entry: Entry, earlier: Iterable[Entry]) -> bool:
    return any(entry.key.value == one.key.value for one in earlier)


def _is_cut(entry: Entry, texts: Iterable[str]) -> bool:
    """Whether a bare word behind an entry is the rest of it: of a text, or inside a bracket."""
    value = entry.value
    if not isinstance(value, Scalar) or value.style != "plain":
        return False
    return entry.key.value in texts or value.value.count("(") > value.value.count(")")


def _report_comma(entry: Entry, reading: Reading) -> None:
    comma = reading.source.text.find(",", entry.value.end)
    message = f"Inside braces YAML ends `{entry.key.value}` at this comma; the rest is lost."
    span = reading.source.span(comma, comma + 1)
    reading.error("reason-truncated", span, message, "quote the whole text")


def _ends_at_comment(value: Node, reading: Reading) -> bool:
    if not isinstance(value, Scalar) or value.style != "plain" or value.start == value.end:
        return False
    comment = _COMMENT.match(reading.source.text, value.end)
    if comment is None:
        return False
    report_comment(reading.source, reading.report, comment.end() - 1)
    return True


def joined(node: Sequence, reading: Reading) -> list[Node]:
    """The items, those that YAML split at a comma inside brackets put together again."""
    items: list[Node] = []
    for item in node.items:
        last = items[-1] if items else None
        if (
            isinstance(last, Scalar)
            and isinstance(item, Scalar)
            and last.style == item.style == "plain"
            and last.value.count("(") > last.value.count(")")
        ):
            text = reading.source.text[last.start : item.end]
            span = reading.source.span(last.start, item.end)
            items[-1] = Scalar(text, "plain", span, last.start, item.end)
        else:
            items.append(item)
    return items
