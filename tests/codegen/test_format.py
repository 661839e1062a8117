"""`format` puts keys in order, and loses nothing of what an author wrote."""

import io
import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from codegen.findings import Report
from codegen.layout import formatted
from codegen.layout.edits import Edit
from codegen.settings import UsageError

from .project import REPOSITORY, SMALL, Project
from .schemas import SHIPPED

PAGE = (REPOSITORY / "docs" / "author.md").read_text("utf-8")
EVERYTHING = Path(__file__).parent / "everything.yaml"


def order(of: str) -> list[str]:
    """The canonical order of one kind of mapping, as the documentation says it."""
    row = re.search(rf"^\| {re.escape(of)} \| (.*) \|$", PAGE, re.MULTILINE)
    assert row
    return re.findall(r"`(\w+)`", row[1])


NAMED = re.compile(
    r"(params|axes|dims|resets|records(/\w+)?|fields|groups|handoff(/\w+/(lend|fresh))?|elsewhere"
    r"|reset_when/arguments)(?!/)"
)
"""Paths of the mappings whose keys are the author's."""

KINDS = {
    "": "a schema",
    r"params/\w+": "a param",
    r"axes/\w+": "an axis",
    "defaults": "`defaults`",
    "reset_when": "`reset_when`",
    "reset_when/rules/": "a reset rule",
    r"handoff/\w+": "a handoff",
    r"elsewhere/\w+": "a value of `elsewhere`",
    r"records/\w+/\w+": "a member of a record",
    r"fields/\w+": "a field",
    r".*/entries/": "an entry",
    r"fields/\w+/ring": "a ring",
    r"fields/\w+/grows": "`grows`",
    r"fields/\w+/view": "a view",
    r"fields/\w+/recompute": "`recompute`",
    r"fields/\w+/measured/": "a measurement",
}
"""Paths of all others, and the rows of the documentation that give the order of their keys."""


def tidy(content: bytes) -> bytes:
    """The file after `format`, which must have been able to read it."""
    report = Report()
    after = formatted(content, "schema.yaml", report)
    assert () == report.findings
    assert after is not None
    return after


@cache
def plain(text: str) -> Any:
    """What an independent reader of YAML 1.2 finds."""
    return YAML(typ="safe", pure=True).load(io.StringIO(text))


def assert_in_order(value: Any, path: str = "") -> None:
    """Every mapping has its keys in the order that the documentation gives."""
    if isinstance(value, list):
        for item in value:
            assert_in_order(item, f"{path}/")
    elif isinstance(value, dict):
        if not NAMED.fullmatch(path) and value:
            kinds = [kind for pattern, kind in KINDS.items() if re.fullmatch(pattern, path)]
            assert [key for key in order(kinds[0]) if key in value] == list(value)
        for key, item in value.items():
            assert_in_order(item, f"{path}/{key}".lstrip("/"))


class Writer:
    """Writes schemas as no careful person would: keys in any order, comments wherever they may be.

    A comment `#^ key` stands above a key, and `#= key` behind its value.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.comments: list[str] = []

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def comment(self, sign: str, key: str) -> str:
        self.comments.append(f"#{sign} {key} {len(self.comments)}")
        return self.comments[-1]

    def entries(self, value: dict[str, Any], path: str) -> list[tuple[str, Any, str]]:
        """The entries with their paths, in any order where that is not the author's."""
        found = [(key, one, f"{path}/{key}".lstrip("/")) for key, one in value.items()]
        if not NAMED.fullmatch(path):
            self.chance.shuffle(found)
        return found

    def flow(self, value: Any, path: str) -> str:
        match value:
            case list():
                return f"[{', '.join(self.flow(item, f'{path}/') for item in value)}]"
            case dict():
                pairs = (
                    f"{key}: {self.flow(one, at)}" for key, one, at in self.entries(value, path)
                )
                return f"{{{', '.join(pairs)}}}"
            case str() if "'" not in value and "\n" not in value and self.often(0.3):
                return f"'{value}'"
        return json.dumps(value, ensure_ascii=False)

    def broken(self, value: dict[str, Any], path: str, indent: int) -> str:
        """A mapping in braces, with a line for each entry and comments between them."""
        lines = []
        entries = self.entries(value, path)
        for key, one, at in entries:
            if self.often(0.3):
                lines.append(self.comment("^", key))
            comma = "" if key == entries[-1][0] and self.often(0.5) else ","
            behind = f"  {self.comment('=', key)}" if self.often(0.3) else ""
            lines.append(f"{key}: {self.flow(one, at)}{comma}{behind}")
        inside = "".join(f"{' ' * indent}{line}\n" for line in lines)
        return f"{{\n{inside}{' ' * indent}}}"

    def block(self, value: dict[str, Any], path: str = "", indent: int = 0, first: str = "") -> str:
        """A mapping with a key in each line; `first` stands before the first."""
        text = ""
        for key, one, at in self.entries(value, path):
            # What stands above the first key of a file or an item is about the file or the item.
            if self.often(0.2) and (text or (path and not first)):
                text += f"{' ' * indent}{self.comment('^', key)}\n"
            start = first if first and not text else " " * indent
            text += f"{start}{key}:{self.value(one, at, indent, key)}"
            text += "\n" * self.often(0.1)
        return text

    def value(self, value: Any, path: str, indent: int, key: str) -> str:
        braces = isinstance(value, dict) and value and path.count("/") > 0 and self.often(0.3)
        if braces:
            return f" {self.broken(value, path, indent + 2)}\n"
        behind = f"  {self.comment('=', key)}" if self.often(0.2) else ""
        match value:
            case dict() if value and (path.count("/") < 1 or self.often(0.7)):
                return f"{behind}\n{self.block(value, path, indent + 2)}"
            case [dict(), *_] if self.often(0.7):
                dash = f"{' ' * indent}  - "
                items = (self.block(one, f"{path}/", indent + 4, dash) for one in value)
                return f"{behind}\n{''.join(items)}"
            case str() if "\n" in value or (len(value) > 30 and self.often(0.5)):
                style = "|" if value.endswith("\n") else self.chance.choice(["|-", ">-"])
                inside = f"\n{' ' * indent}  ".join(value.rstrip("\n").split("\n"))
                return f" {style}{behind}\n{' ' * indent}  {inside}\n".replace("  \n", "\n")
        return f" {self.flow(value, path)}{behind}\n"


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([*SHIPPED, EVERYTHING]), st.randoms(use_true_random=False))
def test_any_order_becomes_the_canonical_one(path: Path, chance: random.Random) -> None:
    """Keys come in order, values and names stay, comments stay with their keys, and once is enough."""
    writer = Writer(chance)
    # Only this language puts a text in brackets together again behind a comma.
    given = path.read_text("utf-8").replace("max(3, frames_per_chunk)", "frames_per_chunk")
    text = writer.block(plain(given))
    newline = chance.choice(["\n", "\r\n"])
    mark = chance.choice(["", "\ufeff"])
    content = (mark + text.replace("\n", newline)).encode()
    after = tidy(content)
    assert after == tidy(after)
    assert mark == after.decode()[: len(mark)]
    assert content.count(b"\r") == after.count(b"\r")
    result = after.decode().removeprefix(mark).replace("\r\n", "\n")
    assert plain(text) == plain(result)
    assert_in_order(plain(result))
    assert names_in(plain(text)) == names_in(plain(result))
    assert sorted(re.findall(r"""'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[|>]-?(?= |$)""", text)) == sorted(
        re.findall(r"""'[^'\n]*'|"(?:[^"\\\n]|\\.)*"|[|>]-?(?= |$)""", result)
    )
    assert_comments_belong(result, writer.comments)


def names_in(value: Any, path: str = "") -> list[str]:
    """The names that the author chose, in order."""
    if not isinstance(value, dict):
        return []
    own = list(value) if NAMED.fullmatch(path) else []
    within = (names_in(value[key], f"{path}/{key}".lstrip("/")) for key in sorted(value))
    return [*own, *(name for found in within for name in found)]


def assert_comments_belong(text: str, comments: list[str]) -> None:
    """Each comment is there once, above its key or behind it."""
    lines = text.split("\n")
    for comment in comments:
        sign, key, _ = comment[1:].split()
        [at] = [number for number, line in enumerate(lines) if line.endswith(comment)]
        if sign == "=":
            assert re.match(rf"[ -]*\{{?{key}:", lines[at])
        else:
            below = next(line for line in lines[at:] if line.strip() and line.lstrip()[0] != "#")
            assert re.match(rf"[ -]*{key}:", below)


COMMENTED = b"""\
# The file.

# Still the file.
model: Demo
schema: 1   # the version

# About the class.
class: DemoSession
doc: |+
  A demo.

resets: {session: Again.}
fields:
  b:
    reason: "Only the model counts."   # why
    # About the default.
    default: 0
    type: int
      # Below the type.
    placement: attr
    # At the end of b.
  # About a.
  a: {reason: "The other counter",  # why
      # A number.
      default: 0, placement: attr, type: int}
reset_when:
  rules:
    # About the rule.
    - if: "b == 1"   # when
      # Which.
      reset: session
# At the end.
"""

ORDERED = b"""\
# The file.

# Still the file.
schema: 1   # the version
model: Demo

# About the class.
class: DemoSession
doc: |+
  A demo.

resets: {session: Again.}
reset_when:
  rules:
    # About the rule.
    # Which.
    - reset: session
      if: "b == 1"   # when
fields:
  b:
    placement: attr
    type: int
      # Below the type.
    # About the default.
    default: 0
    reason: "Only the model counts."   # why
    # At the end of b.
  # About a.
  a: {
      placement: attr,
      type: int,
      # A number.
      default: 0,
      reason: "The other counter"  # why
      }
# At the end.
"""


def test_comments_of_every_place_move_with_what_they_belong_to() -> None:
    """Above a key, behind it, below it, behind a dash, in braces; what is of the file stays."""
    assert ORDERED.decode() == tidy(COMMENTED).decode()


def test_a_last_line_without_an_end_gets_one() -> None:
    """The last line becomes another line, and is still a line."""
    text = SMALL.removesuffix("\n").encode()
    assert text == tidy(text)
    first, rest = text.split(b"\n", 1)
    assert SMALL.encode() == tidy(rest + b"\n" + first)


def test_an_order_that_is_right_keeps_the_file_to_the_byte() -> None:
    """Line ends of both kinds are nobody's business while no key moves."""
    mixed = SMALL.replace("class: DemoSession\n", "class: DemoSession\r\n").encode()
    assert mixed == tidy(mixed)


def test_format_writes_what_is_out_of_order_and_names_it(tmp_path: Path) -> None:
    """Files in order keep their time; the others are written, once."""
    turned = SMALL.replace("model: Demo\n", "").replace("schema: 1\n", "model: Demo\nschema: 1\n")
    project = Project.at(tmp_path, turned=turned, right=SMALL.replace("Demo", "Right"))
    path = tmp_path / "schemas" / "turned.yaml"
    path.chmod(0o640)
    seen = project.run("format", "--check")
    assert (1, "would format schemas/turned.yaml\n") == (seen.code, seen.out)
    assert turned == path.read_text("utf-8")
    done = project.run("format")
    assert (0, "formatted schemas/turned.yaml\n") == (done.code, done.out)
    assert SMALL == path.read_text("utf-8")
    assert 0o640 == path.stat().st_mode & 0o777
    again = project.run("format", "--check")
    assert (0, "2 schemas in canonical order\n") == (again.code, again.out)


def test_format_leaves_what_it_cannot_read_and_says_why(tmp_path: Path) -> None:
    """A finding that stops the loading is printed; the file stays, and the others are formatted."""
    bad = "model: Demo\n" + SMALL.replace("model: Demo\n", "").replace("type: int", "typo: int")
    turned = "model: Other\n" + SMALL.replace("model: Demo\n", "")
    project = Project.at(tmp_path, bad=bad, turned=turned)
    done = project.run("format")
    assert 1 == done.code
    assert "error[unknown-key] schemas/bad.yaml:8:33" in done.out
    assert "formatted schemas/turned.yaml" in done.out
    assert bad == (tmp_path / "schemas" / "bad.yaml").read_text("utf-8")


def test_format_takes_a_draft_whose_reasons_are_missing(tmp_path: Path) -> None:
    """A reason that is still to be written does not hide where its key belongs."""
    draft = SMALL.replace("placement: attr, ", "").replace(
        "reason: Only the model counts its steps.", "reason: TODO, placement: attr"
    )
    project = Project.at(tmp_path, draft=draft)
    assert 0 == project.run("format", "schemas/draft.yaml").code
    written = (tmp_path / "schemas" / "draft.yaml").read_text("utf-8")
    assert "steps_done: {placement: attr, type: int, default: 0, reason: TODO}" in written


def test_format_refuses_what_it_cannot_move(tmp_path: Path) -> None:
    """A key that is written with `?` is named, and nothing is written."""
    text = SMALL.replace("model: Demo\n", "").replace("schema: 1\n", "? model\n: Demo\nschema: 1\n")
    project = Project.at(tmp_path, demo=text)
    done = project.run("format")
    assert 2 == done.code
    assert (
        "session-state: schemas/demo.yaml:1: write `key: value`; a key with `?` stays\n" == done.err
    )
    assert text == (tmp_path / "schemas" / "demo.yaml").read_text("utf-8")


@pytest.mark.parametrize("found", ["default: 0", "# A number."])
def test_a_change_of_meaning_or_a_lost_comment_is_refused(
    monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    """Where ordering would go wrong, nothing is returned to be written."""
    text = SMALL + "  # A number.\n"
    at = text.index(found)
    wrong = Edit(at, at + len(found), "default: 1" if found.startswith("d") else "")
    monkeypatch.setattr("codegen.layout.file.edits", lambda *_: [wrong])
    with pytest.raises(UsageError, match="schema.yaml: its keys cannot be put in order without"):
        tidy(text.encode())


def test_format_follows_a_link_and_says_what_it_cannot_open(tmp_path: Path) -> None:
    """What a link leads to is written; a file that is not there is a mistake of the call."""
    project = Project.at(tmp_path, demo="model: Demo\n" + SMALL.replace("model: Demo\n", ""))
    (tmp_path / "link.yaml").symlink_to("schemas/demo.yaml")
    assert 0 == project.run("format", "link.yaml").code
    assert (tmp_path / "link.yaml").is_symlink()
    assert SMALL == (tmp_path / "schemas" / "demo.yaml").read_text("utf-8")
    assert 2 == project.run("format", "none.yaml").code


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_schemas_are_in_order(path: Path) -> None:
    """What ships is what `format` would write."""
    assert path.read_bytes() == tidy(path.read_bytes())
