"""The JSON Schema that editors get says what the checker says, as far as it can."""

import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, ValidationError
from ruamel.yaml import YAML, YAMLError

from codegen.findings import Finding, Report
from codegen.jsonschema import document
from codegen.nodes import Mapping, Node, Sequence
from codegen.source import decode, parse
from codegen.span import Span

from .project import REPOSITORY, Project
from .schemas import CASES, SHIPPED, examine

FILE = REPOSITORY / "schemas" / "session-state.schema.json"
PAGE = (REPOSITORY / "docs" / "author.md").read_text("utf-8")
GOOD = [
    *SHIPPED,
    *sorted(CASES.glob("generated/*/schema.yaml")),
    *Path(__file__).parent.glob("*.yaml"),
]
BAD = sorted(path for path in CASES.glob("*/*/schema.yaml") if path.parts[-3] != "generated")


def validator() -> Draft7Validator:
    return Draft7Validator(json.loads(document()))


def instance(content: bytes) -> Any:
    """What an editor reads: YAML 1.2, by an independent parser."""
    return YAML(typ="safe", pure=True).load(io.StringIO(decode(content, "").text))


def mappings(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of the JSON Schema that describes a mapping."""
    if schema.get("type") == "object":
        yield path, schema
    for name, one in schema.get("properties", {}).items():
        yield from mappings(one, f"{path}/{name}")
    inner = [
        schema[key]
        for key in ("items", "additionalProperties")
        if isinstance(schema.get(key), dict)
    ]
    for one in [*inner, *schema.get("anyOf", [])]:
        yield from mappings(one, f"{path}/*")


def test_the_committed_file_is_what_the_command_prints(tmp_path: Path) -> None:
    """A key that the loader learns is a key that editors know."""
    done = Project.at(tmp_path).run("jsonschema")
    assert (0, FILE.read_text("utf-8")) == (done.code, done.out)


def test_it_is_a_schema_of_draft_07() -> None:
    """The validator's own check of schemas finds nothing."""
    assert "http://json-schema.org/draft-07/schema#" == json.loads(document())["$schema"]
    Draft7Validator.check_schema(json.loads(document()))


def test_every_key_is_described_and_no_other_is_allowed() -> None:
    """A mapping lists its keys, each with a sentence, or takes names that the author chose."""
    found = list(mappings(json.loads(document())))
    assert 18 < len(found)
    for path, one in found:
        if "properties" in one:
            assert one["additionalProperties"] is False, path
            for name, described in one["properties"].items():
                assert re.fullmatch(r"\S.*\.", described["description"]), f"{path}/{name}"
        else:
            assert isinstance(one["additionalProperties"], dict), path


@pytest.mark.parametrize("path", GOOD, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_good_schemas_pass(path: Path) -> None:
    """An editor underlines nothing in a schema that the checker accepts."""
    assert [] == [error.message for error in validator().iter_errors(instance(path.read_bytes()))]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_schemas_name_it(path: Path) -> None:
    """The first line is the one by which an editor finds the JSON Schema beside the file."""
    first, *_ = path.read_text("utf-8").split("\n")
    assert f"# yaml-language-server: $schema={FILE.name}" == first


@cache
def seen_in_editor() -> dict[str, set[bool]]:
    """For each code, whether an editor underlines what has it, over every bad case."""
    seen: dict[str, set[bool]] = {}
    for path in BAD:
        content = path.read_bytes()
        _, findings = examine(content)
        lines = underlined(content)
        for finding in findings:
            if finding.severity == "error":
                seen.setdefault(finding.code, set()).add(touches(finding, lines))
    return seen


def touches(finding: Finding, places: list[Span] | None) -> bool:
    """Whether the editor underlines a character of what the finding points at."""
    at = finding.span
    assert at
    return places is None or any(
        (one.line, one.column) < (at.end_line, max(at.end_column, at.column + 1))
        and (at.line, at.column) < (one.end_line, max(one.end_column, one.column + 1))
        for one in places
    )


def underlined(content: bytes) -> list[Span] | None:
    """The places of the editor's errors; None where it can read no YAML at all."""
    try:
        found = instance(content)
    except (YAMLError, UnicodeDecodeError):
        return None
    root = parse(decode(content, ""), Report())
    errors = list(validator().iter_errors(found))
    if root is None:
        return [Span(1, 1, 1, 2)] * bool(errors)
    return [span for error in errors for span in places(error, root)]


def places(error: ValidationError, root: Node) -> Iterator[Span]:
    """Where an error is: at the value, at its key, or at the keys that should not be there."""
    for inner in error.context or ():
        yield from places(inner, root)
    node, at = root, root.span
    for step in error.absolute_path:
        if isinstance(node, Mapping):
            entry = next(one for one in node.entries if one.key.value == str(step))
            node, at = entry.value, entry.key.span
        elif isinstance(node, Sequence):
            node = node.items[int(step)]
            at = node.span
    if isinstance(node, Mapping) and error.validator == "additionalProperties":
        wrong = set(re.findall(r"'([^']*)'", error.message))
        yield from (one.key.span for one in node.entries if one.key.value in wrong)
    elif isinstance(node, Mapping) and "propertyNames" in error.absolute_schema_path:
        yield from (one.key.span for one in node.entries if one.key.value == error.instance)
    elif error.validator == "required":
        yield at
    else:
        yield Span(at.line, at.column, node.span.end_line, node.span.end_column)


def listed(heading: str) -> set[str]:
    """The codes below a heading of the documentation."""
    section = PAGE.partition(f"**{heading}**")[2].partition("\n\n")[0]
    return set(re.findall(r"`([a-z-]+)`", section))


def test_what_editors_see_is_written_down() -> None:
    """The documentation says of every error whether an editor sees it: always, at times, never."""
    seen = seen_in_editor()
    assert listed("Always") == {code for code, found in seen.items() if found == {True}}
    assert listed("At times") == {code for code, found in seen.items() if found == {True, False}}
    assert listed("Never") == {code for code, found in seen.items() if found == {False}}
