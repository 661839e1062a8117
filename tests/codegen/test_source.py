"""From bytes to nodes: what is read alike everywhere, and what is refused before it misleads."""

import hashlib
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from codegen.findings import Finding, Report, Severity
from codegen.nodes import Mapping, Scalar, Style
from codegen.passage import value_offsets
from codegen.render.text import render
from codegen.source import Source, decode, parse, read
from codegen.span import Span

from .schemas import DREAMZERO, examine, places, schema_text

BOM = b"\xef\xbb\xbf"


def node(text: str) -> Mapping:
    """The mapping that a clean text holds."""
    report = Report()
    root = parse(decode(text.encode(), "schema.yaml"), report)
    assert () == report.findings
    assert root is not None
    return root


def codes(content: str | bytes) -> list[str]:
    return [code for code, _, _ in places(content)]


@pytest.mark.parametrize("ending", [b"\r\n", b"\r", b"\n"])
def test_line_ends_and_marks_do_not_change_the_schema(ending: bytes) -> None:
    """A Windows checkout loads to the same schema, with the same hash."""
    clean = DREAMZERO.read_bytes()
    schema, _ = examine(clean)
    again, findings = examine(BOM + clean.replace(b"\n", ending))
    assert () == findings
    assert schema == again


def test_hash_is_of_the_normalised_text() -> None:
    """The hash is the one that sha256sum prints for a file with plain line ends."""
    expected = hashlib.sha256(b"a: 1\nb: 2\n").hexdigest()
    assert expected == decode(BOM + b"a: 1\r\nb: 2\r\n", "schema.yaml").sha256


def test_columns_count_characters_after_the_mark() -> None:
    """A byte order mark and wide characters move no column."""
    text = schema_text(field='名: {placement: attr, type: int, default: 010, reason: "漢字 é"}')
    line = text.split("\n").index(next(x for x in text.split("\n") if "010" in x)) + 1
    column = text.split("\n")[line - 1].index("010") + 1
    assert ("ambiguous-integer", line, column) in places(BOM + text.encode())


def test_undecodable_bytes_are_placed() -> None:
    """What is not UTF-8 is found where it starts, counted in characters."""
    assert [("bad-encoding", 2, 4)] == places("é: 1\r\nb: ".encode() + b"\xff\n")


def test_a_missing_file_is_the_callers_business(tmp_path: Path) -> None:
    """A file that cannot be read is no finding about its content."""
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing.yaml", "missing.yaml")


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n", "--- \n# x\n"])
def test_nothing_is_an_empty_schema(text: str) -> None:
    """A file without content is said to be empty, at its start."""
    assert [("empty-schema", 1, 1)] == places(text)


@pytest.mark.parametrize("text", ["- a\n", "just words\n", "[]\n", "3\n", "null\n", '""\n'])
def test_a_root_that_is_no_mapping(text: str) -> None:
    """A list or a single value is no schema, and no traceback."""
    assert [("not-a-mapping", 1, 1)] == places(text)


def test_duplicate_key_names_the_first() -> None:
    """The second key is where the finding is; its message names the line of the first."""
    _, findings = examine("schema: 1\nfields:\n  x: 1\n  a: 1\n  a: 2\n")
    (duplicate,) = [f for f in findings if f.code == "duplicate-key"]
    assert (5, 3) == (duplicate.span.line, duplicate.span.column)
    assert "line 4" in duplicate.message


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| base"])
def test_conflict_marker_comes_before_yaml(marker: str) -> None:
    """A merge marker is named as such, and YAML's own complaint is not added."""
    assert [("conflict-marker", 2, 1)] == places(f"schema: 1\n{marker}\nx: [\n")


@pytest.mark.parametrize(
    "code_point", [0x202A, 0x202E, 0x2066, 0x2069, 0x200B, 0x200D, 0xAD, 0xFEFF]
)
def test_hidden_characters_raw_and_escaped(code_point: int) -> None:
    """A character that nobody sees is found as itself and as an escape."""
    character = chr(code_point)
    assert [("hidden-character", 1, 5)] == places(f"a: '{character}'\n")
    escaped = [p for p in places(f'a: "x\\u{code_point:04x}"\n') if p[0] == "hidden-character"]
    assert [("hidden-character", 1, 6)] == escaped


def test_an_escaped_backslash_hides_nothing() -> None:
    """The text that spells an escape is not the escape."""
    assert "hidden-character" not in codes('a: "\\\\u202e"\n')


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: &x 1\nb: 2\n", 1, 4),
        ("a: *x\n", 1, 4),
        ("<<: {b: 1}\n", 1, 1),
        ("a: !!str b\n", 1, 4),
        ("a: !x {b: 1}\n", 1, 4),
        ("%YAML 1.2\n---\na: 1\n", 1, 1),
        ("a: 1\n---\nb: 2\n", 2, 1),
    ],
)
def test_features_that_hide_what_a_field_says(text: str, line: int, column: int) -> None:
    """Anchors, aliases, merges, tags, directives and further documents are refused."""
    assert ("yaml-feature", line, column) in places(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("m: {type: list[int], a: 1}\n", 1, 15),
        ('a: "never closed\nb: 1\n', 1, 4),
        ("a: [1, 2\n", 1, 4),
        ("a: b: c\n", 1, 5),
        ("a: @x\n", 1, 4),
        ("a:\n\t- b\n", 2, 1),
        ("a: " + "[" * 65 + "]" * 65 + "\n", 1, 67),
    ],
)
def test_syntax_errors_stand_at_their_cause(text: str, line: int, column: int) -> None:
    """What YAML cannot read is found where the author has to look."""
    assert [("yaml-syntax", line, column)] == places(text)


def test_nesting_that_would_exhaust_the_stack() -> None:
    """A hundred thousand brackets are one finding."""
    assert ["yaml-syntax"] == codes("a: " + "[" * 100_000)


@given(st.binary(max_size=200))
def test_any_bytes_are_findings_and_no_crash(content: bytes) -> None:
    """Whatever a file holds, the answer is findings."""
    schema, findings = examine(content)
    assert schema is not None or findings
    for finding in findings:
        assert render(finding)


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("plain", "k: one two\n   three\n"),
        ("single", "k: 'it''s one\n    two'\n"),
        ("double", 'k: "a\\u0062c \\\n    d e\\n f"\n'),
        ("folded", "k: >-\n  one\n  two\n\n  three\n"),
        ("literal", "k: |\n  one\n    two\n"),
    ],
)
def test_offsets_of_each_style(style: Style, text: str) -> None:
    """Each visible character of a value maps to where it was written."""
    (entry,) = node(text).entries
    scalar = entry.value
    assert isinstance(scalar, Scalar)
    assert style == scalar.style
    offsets = value_offsets(scalar, text)
    assert len(scalar.value) + 1 == len(offsets)
    for character, offset in zip(scalar.value, offsets, strict=False):
        if not character.isspace() and text[offset] != "\\":
            assert character == text[offset]


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1))
def test_offsets_of_quoted_text(value: str) -> None:
    """In single quotes each character is where it is, doubled quotes counted."""
    text = "k: '" + value.replace("'", "''") + "'\n"
    (entry,) = node(text).entries
    assert isinstance(entry.value, Scalar)
    offsets = value_offsets(entry.value, text)
    assert list(value) == [text[offset] for offset in offsets[:-1]]


def finding(line_text: str, start: int, end: int) -> Finding:
    span = Span(7, start, 7, end)
    return Finding("a.yaml", span, "some-code", Severity.ERROR, "Said.", "do it", line_text)


def test_page_of_a_finding() -> None:
    """A finding is its head, the line, a caret below, what is wrong and what to do."""
    expected = """\
error[some-code] a.yaml:7:4
  7 | a: bad
    |    ^^^
  Said.
  hint: do it"""
    assert expected == render(finding("a: bad", 4, 7))


@pytest.mark.parametrize(
    ("line_text", "start", "end", "caret"),
    [
        ("漢: bad", 4, 7, "    |     ^^^"),
        ("ｘ: bad", 4, 7, "    |     ^^^"),
        ("e\u0301: bad", 5, 8, "    |    ^^^"),
        ("\ta: bad", 5, 8, "    | \t   ^^^"),
        ("x: 漢字", 4, 6, "    |    ^^^^"),
        ("a:", 3, 3, "    |   ^"),
        ("x" * 300, 200, 202, "    | " + " " * 43 + "^^"),
    ],
)
def test_caret_stands_under_its_characters(
    line_text: str, start: int, end: int, caret: str
) -> None:
    """Wide characters take two columns, combining ones none, tabs stay, long lines are cut."""
    assert caret == render(finding(line_text, start, end)).split("\n")[2]


def test_hidden_characters_are_shown_by_number() -> None:
    """A page never sends a control character to the terminal."""
    assert "a<U+202E>b" in render(finding("a\u202eb", 2, 3))


def test_findings_sort_by_place() -> None:
    """Findings of a report come in the order in which an author reads the file."""
    report = Report()
    report.open("a.yaml", "one\ntwo\n")
    report.error("a.yaml", "late", Span(2, 1, 2, 2), "Second.")
    report.error("a.yaml", "early", Span(1, 3, 1, 4), "First.")
    report.error("a.yaml", "early", Span(1, 3, 1, 4), "First.")
    assert ["early", "late"] == [one.code for one in report.findings]
    assert report.has_errors
    assert report.has_errors_in("a.yaml")
    assert not report.has_errors_in("b.yaml")


def test_source_spans_cross_lines() -> None:
    """A span knows the line of its end."""
    assert Span(1, 2, 2, 2) == Source("a.yaml", "ab\ncd\n", "").span(1, 4)


def test_utf_16_without_a_mark_is_one_finding() -> None:
    """A file of NULs is in another encoding, which is said once."""
    assert [("bad-encoding", 1, 2)] == places(schema_text().encode("utf-16-le"))
    assert [("bad-encoding", 1, 1)] == places(schema_text().encode("utf-16-be"))


def test_many_escapes_are_read_in_one_pass() -> None:
    """The time for a text of escapes grows as its length does."""
    hidden = "".join(f"\\U000E{code:04X}" for code in range(0x20, 0x70)) * 50
    text = schema_text().replace("doc: What", f'doc: "What {hidden}" #')
    start = time.process_time()
    assert ["hidden-character"] * 0x50 == codes(text)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("escape", "character"),
    [(r"\a", "\a"), (r"\e", "\x1b"), (r"\x07", "\x07"), (r"\u202e", "\u202e"), (r"\L", "\u2028")],
)
def test_hidden_escapes_are_placed(escape: str, character: str) -> None:
    """An escape of a character that does not show is found where it is written."""
    text = schema_text().replace("doc: What", f'doc: "\\\\ and {escape}" #')
    assert character == yaml.safe_load(f'"{escape}"')
    assert [("hidden-character", 4, 14)] == places(text)


@pytest.mark.parametrize(
    "fields",
    [
        "a: {placement: attr, type: int,\n   default: 0 # none yet\n   reason: It counts.}",
        "a:\n    placement: attr # of the model\n   type: int",
    ],
)
def test_comments_are_not_blamed_for_other_mistakes(fields: str) -> None:
    """A comma that is missing, or an indentation, is no text that a comment cut short."""
    assert ["yaml-syntax"] == codes(schema_text(field=fields))
