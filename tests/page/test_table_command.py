"""`session-state table` in its four forms, as a person or another tool runs it."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.declared import ITEMSIZE

from ..codegen.project import REPOSITORY, SMALL, Project


@pytest.fixture
def shipped(tmp_path: Path) -> Project:
    """The schemas of this repository, in a project of their own."""
    texts = {path.stem: path.read_text("utf-8") for path in REPOSITORY.glob("schemas/*.yaml")}
    return Project.at(tmp_path / "project", **texts)


def as_json(project: Project, *arguments: str) -> dict[str, Any]:
    done = project.run("table", "--format", "json", *arguments)
    assert (0, "") == (done.code, done.err)
    found: dict[str, Any] = json.loads(done.out)
    return found


def commit(project: Project) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "first")):
        subprocess.run(["git", "-C", str(project.root), *command], check=True)


def test_markdown_is_what_decisions_has_below_its_head(shipped: Project) -> None:
    """The same text, of all models; of one, its section alone."""
    assert 0 == shipped.run("generate").code
    text = (shipped.root / "generated" / "DECISIONS.md").read_text("utf-8")
    body = text[text.index("-->\n") + 4 :]
    assert body.rstrip() == shipped.run("table", "--format", "markdown").out.rstrip()
    one = shipped.run("table", "--format", "markdown", "Cosmos3").out
    assert body[: body.index("\n## DreamZero")].rstrip() == one.rstrip()


def test_json_has_every_field_with_all_that_is_decided(shipped: Project) -> None:
    """Names, permissions, bytes and the formulas that they come from."""
    document = as_json(shipped)
    assert (1, 64, None) == (document["version"], document["sessions"], document["changes"])
    cosmos3, dreamzero = document["models"]
    und_kv = cosmos3["fields"][0]
    assert {
        "name": "und_kv",
        "placement": "object",
        "kind": "EncodeOnce",
        "manager_may": ["release", "rebuild"],
        "per": ["branch", "layer"],
        "device": "accelerator",
        "declared": 150_994_944,
    }.items() <= und_kv.items()
    assert "text_tokens" == und_kv["rebuilt_from"]["sources"][0]
    assert ["branches", 2] == [cosmos3["config"][0][key] for key in ("name", "size")]
    encoder = dreamzero["fields"][2]
    assert [{"bytes": 450_887, "text": "0.43 MiB", "where": "A100, 400 steps"}] == encoder[
        "measured"
    ]
    assert ["//", "H", 8] == next(one["size"] for one in dreamzero["config"] if one["name"] == "h")


def test_json_can_be_computed_with(shipped: Project) -> None:
    """Another tool gets the declared bytes from the document alone."""
    operate: dict[str, Callable[..., int]] = {
        "*": lambda a, b: a * b,
        "+": lambda a, b: a + b,
        "//": lambda a, b: a // b,
    }
    operate |= {"max": max}

    def value(formula: Any, values: dict[str, int]) -> int:
        if isinstance(formula, list):
            operation, *operands = formula
            return operate[operation](*(value(one, values) for one in operands))
        return values[formula] if isinstance(formula, str) else int(formula)

    for model in as_json(shipped)["models"]:
        values: dict[str, int] = {}
        for one in model["config"]:
            values[one["name"]] = value(one["size"], values)
        for field in model["fields"]:
            assert field["declared"] == sum(
                ITEMSIZE.get(one["dtype"] or model["dtype"], 1) * value(size, values)
                for one in field["elements"]
                for size in one["sizes"]
            )


def test_output_is_written_whole_or_not_at_all(shipped: Project) -> None:
    """A finding leaves the older page as it was; a file that cannot be is one line."""
    page = shipped.root / "page.html"
    done = shipped.run("table", "--format", "html", "--output", "page.html")
    assert (0, "") == (done.code, done.out)
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    before = page.read_bytes()
    schema = shipped.root / "schemas" / "cosmos3.yaml"
    schema.write_text(schema.read_text("utf-8").replace("placement: attr", "placement: atr"))
    done = shipped.run("table", "--format", "html", "--output", "page.html")
    assert (1, "") == (done.code, done.out)
    assert "error[bad-choice]" in done.err
    assert before == page.read_bytes()


def test_a_warning_stays_out_of_what_is_sent_on(tmp_path: Path) -> None:
    """Standard output is the document alone."""
    project = Project.at(tmp_path, demo=SMALL.replace("resets:", "dims: {H: 3}\nresets:"))
    done = project.run("table", "--format", "json")
    assert "warning[unused-dim]" in done.err
    assert "Demo" == json.loads(done.out)["models"][0]["model"]


def test_against_says_what_changed(shipped: Project) -> None:
    """Compared with a commit, a shorter ring is a row; of a model left out, nothing is said."""
    commit(shipped)
    schema = shipped.root / "schemas" / "dreamzero.yaml"
    schema.write_text(schema.read_text("utf-8").replace("size: frames_per_chunk", "size: 2"))
    changes = as_json(shipped, "--against", "HEAD")["changes"]
    assert changes["against"].startswith("HEAD (")
    assert [("ring-shrunk", True, "DreamZero", "stitched_buffer")] == [
        tuple(row[key] for key in ("code", "breaking", "model", "field")) for row in changes["rows"]
    ]
    assert [] == as_json(shipped, "--against", "HEAD", "Cosmos3")["changes"]["rows"]


def test_against_is_refused_where_it_would_show_nothing(shipped: Project) -> None:
    """A terminal has `breaking` for it, and says so."""
    done = shipped.run("table", "--against", "HEAD")
    assert (2, "") == (done.code, done.out)
    assert "`session-state breaking`" in done.err
