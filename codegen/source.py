"""From the bytes of a schema file to YAML nodes with positions, and what can go wrong on the way.

PyYAML's own constructors are not used: they keep the last of two equal keys, turn `no` into a
bool, and lose every position.
"""

import bisect
import hashlib
import re
import unicodedata
from collections.abc import Iterator, Set
from functools import cached_property
from pathlib import Path

import yaml
from attrs import define

from .findings import Report
from .nodes import Entry, Mapping, Node, Scalar, Sequence, Style
from .span import Span

MAX_NESTING = 64

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$|^={7}$", re.MULTILINE)
_STYLES: dict[str | None, Style] = {
    "'": "single",
    '"': "double",
    "|": "literal",
    ">": "folded",
}
_ESCAPE = re.compile(r"\\(?:x(?P<x>..)|u(?P<u>.{4})|U(?P<U>.{8})|.)", re.DOTALL)
_NAMED = {
    **{"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"},
    **{"e": "\x1b", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"},
}
# What may stand between a text that a comment cut short and the rest of it.
_COMMENTS = re.compile(r"\s+(?P<hash>#)(?P<comment>[^\n]*)(?:\n\s*(?:#[^\n]*)?)*")
_KEY = re.compile(r"[\w-]+[ \t]*:(?=\s|$)")
_TYPE = re.compile(r"\b(?:list|tuple|dict|set|literal|optional|union)$", re.IGNORECASE)
_QUOTED_TYPE = 'a type with brackets needs quotes inside `{ }`: type: "list[int]"'
_WORD = re.compile(r"\S*?(?=[,\]}]|\s|$)")
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@define(frozen=True, slots=False)
class Source:
    """The text of a schema file, line ends normalised, and the path that findings show."""

    path: str
    text: str
    sha256: str
    # Where the first bytes lie that are not UTF-8.
    undecodable: int | None = None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        """The lines and columns of the characters from offset `start` up to `end`."""
        return Span(*self._place(start), *self._place(max(start, end)))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


def read(path: Path, display_path: str) -> Source:
    """Read a schema file.

    Raises:
        OSError: the file cannot be read.
    """
    return decode(path.read_bytes(), display_path)


def decode(content: bytes, display_path: str) -> Source:
    """The source with these bytes: a byte order mark dropped, every line end a newline."""
    undecodable = None
    content = content.removeprefix(b"\xef\xbb\xbf")
    # UTF-16 without a mark decodes, into a NUL beside every letter.
    if 4 * content.count(0) > len(content):
        undecodable = content.index(0)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        text = content.decode(errors="replace")
        before = content[: error.start].decode()
        undecodable = len(before.replace("\r\n", "\n"))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Source(display_path, text, digest, undecodable)


def parse(source: Source, report: Report) -> Mapping | None:
    """The mapping that the file holds, or None where what was found leaves none to read."""
    report.open(source.path, source.text)
    if not _is_plain_text(source, report) or not _is_plain_yaml(source, report):
        return None
    root = yaml.compose(source.text, yaml.CSafeLoader)
    if root is None or (isinstance(root, yaml.ScalarNode) and not (root.value or root.style)):
        message = "The file has no content."
        hint = "start it with `schema: 1`; docs/schema.md has the keys"
        report.error(source.path, "empty-schema", Span(1, 1, 1, 1), message, hint)
        return None
    node = _Nodes(source, report).node(root)
    if not isinstance(node, Mapping):
        kind = "a list" if isinstance(node, Sequence) else "a single value"
        message = f"A schema is a mapping of keys to values; this file holds {kind}."
        report.error(
            source.path, "not-a-mapping", Span(1, 1, 1, 1), message, "start it with `schema: 1`"
        )
        return None
    return node


def hidden_characters(text: str) -> Iterator[int]:
    """The offsets of characters that a reader of the text does not see or that reorder it."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return
    for offset, character in enumerate(text):
        if character not in "\n\t" and (
            unicodedata.category(character) in _HIDDEN or ord(character) & 0xFFFE == 0xFFFE
        ):
            yield offset


def describe_hidden(character: str) -> str:
    """The message of `hidden-character` for one character."""
    name = unicodedata.name(character, "control character")
    return (
        f"U+{ord(character):04X} ({name}) does not show, so a reviewer would read another text "
        "than the machine."
    )


def _is_plain_text(source: Source, report: Report) -> bool:
    """Whether the text is what a reviewer sees; what is not is reported."""
    if source.undecodable is not None:
        span = source.span(source.undecodable, source.undecodable + 1)
        message = "The file is not UTF-8 from here on."
        report.error(source.path, "bad-encoding", span, message, "save it as UTF-8")
        return False
    if conflict := _CONFLICT.search(source.text):
        report.error(
            source.path,
            "conflict-marker",
            source.span(conflict.start(), conflict.end()),
            "A merge left its conflict marker here.",
            "choose one side and delete the markers",
        )
        return False
    clean = True
    for offset in hidden_characters(source.text):
        clean = False
        report.error(
            source.path,
            "hidden-character",
            source.span(offset, offset + 1),
            describe_hidden(source.text[offset]),
            "delete it, or write what it stands for",
        )
    return clean


def _is_plain_yaml(source: Source, report: Report) -> bool:
    """Whether the text is YAML without the parts that hide what a schema says.

    Anchors and tags do not change how the rest is read, so only the others end the reading.
    """
    readable, documents, depth = True, 0, 0
    last: yaml.Event | None = None
    try:
        for event in yaml.parse(source.text, yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
            depth += _nesting(event)
            if depth > MAX_NESTING:
                span = source.span(_start(event), _start(event) + 1)
                message = f"This is nested more than {MAX_NESTING} levels deep."
                report.error(source.path, "yaml-syntax", span, message)
                return False
            last = event
            if feature := _feature(event, source.text, documents):
                message, hint = feature
                start, word = _start(event), _word(event, source.text)
                span = source.span(start, start + max(1, len(word)))
                report.error(source.path, "yaml-feature", span, message, hint)
                readable = readable and isinstance(event, yaml.NodeEvent)
                readable = readable and not isinstance(event, yaml.AliasEvent)
    except yaml.YAMLError as error:
        _report_syntax(error, last, source, report)
        return False
    return readable


def _start(event: yaml.Event) -> int:
    # Only events that no parser made have no mark.
    return event.start_mark.index if event.start_mark else 0


def _word(event: yaml.Event, text: str) -> str:
    """What stands where an event starts, up to a blank or the end of an item."""
    word = _WORD.match(text, _start(event))
    return word.group() if word else ""


def _nesting(event: yaml.Event) -> int:
    if isinstance(event, yaml.CollectionStartEvent):
        return 1
    return -1 if isinstance(event, yaml.CollectionEndEvent) else 0


def _feature(event: yaml.Event, text: str, documents: int) -> tuple[str, str] | None:
    """What is said about an event that a schema may not have."""
    repeat = "write the value out where it is used"
    if isinstance(event, yaml.AliasEvent):
        return "Aliases are not allowed: what a field says would stand elsewhere.", repeat
    if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
        return "Anchors are not allowed: what a field says would stand elsewhere.", repeat
    tag = getattr(event, "tag", None)
    if isinstance(event, yaml.NodeEvent) and tag is not None:
        word = _word(event, text)
        return f"The tag `{word}` is not allowed: a schema is plain data.", "delete the tag"
    if isinstance(event, yaml.DocumentStartEvent) and documents > 1:
        return "A schema file holds one document.", "move this one to a file of its own"
    if isinstance(event, yaml.DocumentStartEvent) and (event.version or event.tags):
        return "Directives are not allowed: every schema is read alike.", "delete the `%` line"
    return None


def _report_syntax(
    error: yaml.YAMLError, last: yaml.Event | None, source: Source, report: Report
) -> None:
    """Put YAML's complaint where its cause is, and say what is usually meant."""
    offset, problem, hint = len(source.text), str(error), None
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        problem = error.problem or "this is not YAML"
        offset = error.problem_mark.index
        if (comment := _cutting_comment(last, source.text, offset)) is not None:
            report_comment(source, report, comment)
            return
        # An unclosed quote or bracket is at fault where it opens, not at the end of the file.
        if error.context_mark is not None and not source.text[offset:].strip():
            offset = error.context_mark.index
        hint = _continued(last, source.text, offset, problem)
        hint = hint or _syntax_hint(source.text[offset : offset + 1], problem)
    offset = min(offset, max(0, len(source.text.rstrip("\n")) - 1))
    span = source.span(offset, offset + 1)
    report.error(source.path, "yaml-syntax", span, f"YAML cannot read this: {problem}.", hint)


def report_comment(source: Source, report: Report, offset: int) -> None:
    """Report the ` #` at `offset`, which cut a text short."""
    message = "YAML starts a comment at ` #`, so the text before it is cut short here."
    hint = "quote the whole text, or move the comment to a line of its own"
    span = source.span(offset, offset + 1)
    report.error(source.path, "reason-truncated", span, message, hint)


def _cutting_comment(last: yaml.Event | None, text: str, offset: int) -> int | None:
    """Where a comment starts that took the rest of a plain text, or the bracket behind it.

    `last` is what was read last before YAML failed at `offset`.
    """
    if not isinstance(last, yaml.ScalarEvent) or last.style or last.end_mark is None:
        return None
    comment = _COMMENTS.fullmatch(text, last.end_mark.index, offset)
    if comment is None:
        return None
    closed = re.search(r"[\]}]", comment["comment"])
    # A key in the next line is no rest of a text: its indentation or a comma before it is wrong.
    return comment.start("hash") if closed or not _KEY.match(text, offset) else None


def _continued(last: yaml.Event | None, text: str, offset: int, problem: str) -> str | None:
    """What to do about a value in brackets that goes on where it should have ended."""
    if not problem.startswith("did not find expected ',' or") or not text[offset:].strip():
        return None
    if _KEY.match(text, offset):
        return "put a comma before it"
    if text[offset] == ":":
        return "put a comma before the key, or quote the text"
    if isinstance(last, yaml.CollectionEndEvent):
        return "quote the text"
    if isinstance(last, yaml.ScalarEvent) and text[offset] in "[{":
        typed = _TYPE.search(last.value) and text[offset] == "["
        return _QUOTED_TYPE if typed else "quote the text"
    return None


def _syntax_hint(character: str, problem: str) -> str | None:
    if "tab" in problem or character == "\t":
        return "indent with spaces"
    if problem.startswith("did not find expected ',' or") and character in "[{":
        return "the bracket that opens here is never closed"
    if "mapping values are not allowed" in problem:
        return "a text with `: ` in it needs quotes"
    if "quoted scalar" in problem or "unexpected end of stream" in problem:
        return "the quote that opens here is never closed"
    if "cannot start any token" in problem:
        return f"a text that starts with `{character}` needs quotes"
    return None


class _Nodes:
    """Turns composed nodes into ours, reporting what YAML would silently accept."""

    def __init__(self, source: Source, report: Report) -> None:
        self._source = source
        self._report = report

    def node(self, node: yaml.Node) -> Node:
        start, end = node.start_mark.index, node.end_mark.index
        span = self._source.span(start, end)
        if isinstance(node, yaml.MappingNode):
            entries = tuple(self._entries(node))
            return Mapping(entries, span, start, end)
        if isinstance(node, yaml.SequenceNode):
            return Sequence(tuple(self.node(item) for item in node.value), span, start, end)
        assert isinstance(node, yaml.ScalarNode)
        style = _STYLES.get(node.style, "plain")
        scalar = Scalar(node.value, style, span, start, end)
        return self._without_hidden(scalar) if style == "double" else scalar

    def _entries(self, node: yaml.MappingNode) -> Iterator[Entry]:
        seen: dict[str, Scalar] = {}
        for key_node, value_node in node.value:
            key, value = self.node(key_node), self.node(value_node)
            if not isinstance(key, Scalar):
                self._error("not-a-string", key.span, "A key is a name, not a list or a mapping.")
                continue
            bare = node.flow_style is True and self._is_bare(key, value)
            if key.value == "<<" and key.style == "plain":
                message = "Merges are not allowed: what a field says would stand elsewhere."
                hint = "write the keys out where they are used"
                self._error("yaml-feature", key.span, message, hint)
            elif (first := seen.get(key.value)) and not bare:
                message = f"`{key.value}` is given a second time; the first is in line "
                hint = "keep one of the two"
                self._error("duplicate-key", key.span, f"{message}{first.span.line}.", hint)
            else:
                seen.setdefault(key.value, key)
                yield Entry(key, value, bare)

    def _is_bare(self, key: Scalar, value: Node) -> bool:
        nothing = isinstance(value, Scalar) and value.start == value.end
        return nothing and not self._source.text[key.end :].lstrip().startswith(":")

    def _without_hidden(self, scalar: Scalar) -> Scalar:
        """The scalar without characters that an escape such as "\\u202e" smuggled in."""
        hidden = {scalar.value[offset] for offset in hidden_characters(scalar.value)}
        for character, span in self._escapes(scalar, hidden) if hidden else ():
            self._error("hidden-character", span, describe_hidden(character), "delete the escape")
        kept = "".join(character for character in scalar.value if character not in hidden)
        return Scalar(kept, scalar.style, scalar.span, scalar.start, scalar.end)

    def _escapes(self, scalar: Scalar, characters: Set[str]) -> Iterator[tuple[str, Span]]:
        """Where each of `characters` is first escaped; the whole scalar where it is not."""
        places = dict.fromkeys(sorted(characters), scalar.span)
        found: set[str] = set()
        for escape in _ESCAPE.finditer(self._source.text, scalar.start, scalar.end):
            digits = escape["x"] or escape["u"] or escape["U"]
            character = chr(int(digits, 16)) if digits else _NAMED.get(escape.group()[1:])
            if character in places and character not in found:
                found.add(character)
                places[character] = self._source.span(*escape.span())
        yield from places.items()

    def _error(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        self._report.error(self._source.path, code, span, message, hint)
