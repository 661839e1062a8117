"""One finding in three formats, as a person, a program and GitHub read it."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from codegen.findings import Finding, Report, Severity
from codegen.render import FORMATS, render
from codegen.render.text import render as as_text
from codegen.span import Span
from codegen.visible import cells, visible

from .project import REPOSITORY, SMALL, Project

KEYS = [
    "file",
    "line",
    "column",
    "end_line",
    "end_column",
    "code",
    "severity",
    "message",
    "hint",
]
WARNED = SMALL.replace("resets:", "dims: {H: 3}\nresets:")
BROKEN = SMALL.replace("type: int", "type: itn")
WRONG = Finding(
    "schemas/demo.yaml",
    Span(8, 39, 8, 42),
    "bad-type",
    Severity.ERROR,
    "`itn` is not a type of the language.",
    "did you mean `int`?",
    BROKEN.splitlines()[7],
)
MISSING = Finding("generated/demo.py", None, "missing-file", Severity.ERROR, "It is not there.")

texts = st.text(st.characters(exclude_categories=[]))
findings = st.builds(
    Finding,
    texts,
    st.none() | st.builds(Span, *[st.integers(1, 99)] * 4),
    st.just("some-code"),
    st.sampled_from(Severity),
    texts,
    st.none() | texts,
    texts.filter(lambda text: "\n" not in text),
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.at(tmp_path / "project", demo=SMALL)


def test_json_has_the_same_keys_for_every_finding() -> None:
    """A program reads place, code, severity, message and hint, with null where there is none."""
    assert [
        dict(
            zip(
                KEYS,
                (
                    "schemas/demo.yaml",
                    *(8, 39, 8, 42),
                    "bad-type",
                    "error",
                    "`itn` is not a type of the language.",
                    "did you mean `int`?",
                ),
                strict=True,
            )
        ),
        dict(
            zip(
                KEYS,
                (
                    "generated/demo.py",
                    *[None] * 4,
                    "missing-file",
                    "error",
                    "It is not there.",
                    None,
                ),
                strict=True,
            )
        ),
    ] == json.loads(render([WRONG, MISSING], "json"))


@given(st.lists(findings, max_size=4))
def test_json_loses_nothing_and_is_ascii(several: list[Finding]) -> None:
    """Whatever a schema's text is, the document is valid, and says it to the character."""
    document = render(several, "json")
    assert document.isascii()
    # A pair of surrogates is one character to JSON, as two escapes are to any other reader.
    expected = [json.loads(json.dumps(one.message)) for one in several]
    assert expected == [row["message"] for row in json.loads(document)]


def test_the_page_on_ci_shows_what_is_printed() -> None:
    """The JSON of docs/ci.md is that of the renderer, and its YAML is YAML."""
    page = (REPOSITORY / "docs" / "ci.md").read_text("utf-8")
    (document,) = re.findall("```json\n(.*?)\n```", page, re.DOTALL)
    assert document == render([WRONG], "json")
    workflow, *hooks = map(yaml.safe_load, re.findall("```yaml\n(.*?)```", page, re.DOTALL))
    assert ["check"] == list(workflow["jobs"])
    assert [["session-state-check"]] * 2 == [
        [one["id"] for repo in hook["repos"] for one in repo["hooks"]] for hook in hooks
    ]


def test_github_annotates_the_line() -> None:
    """The command is the one of GitHub's documentation, with the code as its title."""
    assert (
        "::error file=schemas/demo.yaml,line=8,col=39,endLine=8,endColumn=42,title=bad-type::"
        "`itn` is not a type of the language.%0Ahint: did you mean `int`?"
    ) == render([WRONG], "github")
    assert "::error file=generated/demo.py,title=missing-file::It is not there." == render(
        [MISSING], "github"
    )


def test_github_escapes_what_ends_a_property_or_a_line() -> None:
    """%, CR and LF everywhere, and : and , in properties, as GitHub's own toolkit does."""
    hostile = Finding("a,b:c%.yaml", Span(1, 1, 2, 3), "x", Severity.WARNING, "50%\r\n::error::, :")
    assert (
        "::warning file=a%2Cb%3Ac%25.yaml,line=1,endLine=2,title=x::50%25%0D%0A::error::, :"
    ) == render([hostile], "github")


def unescaped(text: str) -> str:
    """What the runner makes of a command's data; its last step is the first of escaping."""
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, char)
    return text


@given(st.lists(findings, min_size=1, max_size=4))
def test_github_is_one_command_per_finding(several: list[Finding]) -> None:
    """No text of a schema ends its line, adds a property or starts a command of its own."""
    # What .NET, in which the runner is written, takes for the end of a line.
    lines = re.split("\r\n|\r|\n", render(several, "github"))
    assert len(several) == len(lines)
    for finding, line in zip(several, lines, strict=True):
        _, head, said = line.split("::", 2)
        command, properties = head.split(" ", 1)
        names = [one.partition("=")[0] for one in properties.split(",")]
        assert {"error": "error", "warning": "warning", "note": "notice"}[
            finding.severity
        ] == command
        assert set(names) <= {"file", "line", "col", "endLine", "endColumn", "title"}
        hint = "" if finding.hint is None else f"\nhint: {finding.hint}"
        assert visible(finding.message + hint, keep="\r\n") == unescaped(said)


def test_github_names_files_from_the_root_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that runs in a folder of the repository annotates the file that is meant."""
    inner = tmp_path / "models" / "demo"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert render([WRONG], "github").startswith("::error file=models/demo/schemas/demo.yaml,")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "other"))
    assert render([WRONG], "github").startswith("::error file=schemas/demo.yaml,")


def test_text_of_a_file_as_a_whole_has_no_caret() -> None:
    """What is about no line quotes none."""
    assert "error[missing-file] generated/demo.py\n  It is not there." == as_text(MISSING)


@given(findings)
def test_text_sends_no_control_character(finding: Finding) -> None:
    """Four kinds of lines, and nothing in them that a terminal obeys or that hides."""
    page = as_text(finding)
    assert all(char.isprintable() or char in "\n\t" for char in page)
    assert 2 + 2 * (finding.span is not None) + (finding.hint is not None) == len(page.split("\n"))


# Scripts whose widths no version of Unicode changed: Latin, its marks, Devanagari's marks, Hangul
# whole and decomposed, kana, Han, full and half width, enclosing marks, emoji.
SCRIPTS = (
    "\u0021\u007e \u00c0\u024f \u0300\u036f \u0900\u0902 \u1100\u115e \u1161\u11ff \u3041\u3096 "
    "\u30a1\u30ff \u4e00\u9fff \uac00\ud7a3 \uff01\uff9f \u20d0\u20f0 \U0001f300\U0001f64f"
)
shown = st.one_of(
    st.characters(min_codepoint=ord(first), max_codepoint=ord(last))
    for first, last in SCRIPTS.split(" ")
)


@given(
    st.text(shown, max_size=20), st.text(shown, min_size=1, max_size=6), st.text(shown, max_size=20)
)
def test_the_caret_is_under_what_is_marked(before: str, marked: str, after: str) -> None:
    """The caret starts in the column of the first character and is as wide as a terminal draws."""
    span = Span(1, len(before) + 1, 1, len(before) + len(marked) + 1)
    finding = Finding("a", span, "x", Severity.ERROR, "m", None, before + marked + after)
    _, _, caret, _ = as_text(finding).split("\n")
    columns, wide = sum(map(wcwidth, before)), max(1, sum(map(wcwidth, marked)))
    assert "    | " + " " * columns + "^" * wide == caret


@pytest.mark.parametrize(
    "text",
    [
        "漢字",
        "ｘ",
        "e\u0301",
        "\u1112\u1161\u11ab",
        "한글",
        "🤖",
        "👍🏽",
        "नमस्ते",
        "Größe",
        "\u20dd",
        "ｶﾞ",
    ],
)
def test_cells_are_those_of_a_terminal(text: str) -> None:
    """Wide, combining and conjoining characters take the columns that terminals give them."""
    assert sum(map(wcwidth, text)) == cells(text)


def test_strict_lets_warnings_fail_and_notes_never() -> None:
    """An error always fails, a warning where asked for, a note in no case."""
    assert [(True, True), (False, True), (False, False)] == [
        (report.fails(strict=False), report.fails(strict=True))
        for report in map(reported, (Severity.ERROR, Severity.WARNING, Severity.NOTE))
    ]


def reported(severity: Severity) -> Report:
    report = Report()
    report.add("a.yaml", "x", severity, Span(1, 1, 1, 2), "Said.")
    return report


def test_findings_about_a_file_come_before_those_within() -> None:
    """Without a place a finding is the first of its file, and none is lost for it."""
    report = Report()
    report.add("a.yaml", "within", Severity.ERROR, Span(1, 1, 1, 2), "Said.")
    report.add("a.yaml", "whole", Severity.ERROR, None, "Said.")
    assert ["whole", "within"] == [one.code for one in report.findings]


@pytest.mark.parametrize("command", ["check", "generate"])
@pytest.mark.parametrize("output_format", ["json", "github"])
def test_nothing_but_findings_is_on_standard_output(
    project: Project, command: str, output_format: str
) -> None:
    """Clean, warned of or broken: a program reads findings alone, and how it went is beside them."""
    schema = project.root / "schemas" / "demo.yaml"
    codes = []
    for text in (SMALL, WARNED, BROKEN):
        schema.write_text(text)
        project.run("generate")
        done = project.run(command, "--format", output_format)
        if output_format == "json":
            found = [row["code"] for row in json.loads(done.out)]
        else:
            assert all(line.startswith("::") for line in done.out.splitlines())
            found = re.findall("title=([a-z-]+)::", done.out)
        codes.append((done.code, found))
    assert [(0, []), (0, ["unused-dim"]), (1, ["bad-type"])] == codes


def test_drift_is_findings(project: Project) -> None:
    """A missing, a changed, a left over and a foreign file are found in every format."""
    (project.root / "schemas" / "other.yaml").write_text(SMALL.replace("Demo", "Other"))
    project.run("generate")
    (project.root / "schemas" / "other.yaml").unlink()
    (project.root / "generated" / "demo.py").unlink()
    (project.root / "generated" / "mine.py").write_text("")
    rows = json.loads(project.run("check", "--format", "json").out)
    expected = {
        ("generated/DECISIONS.md", "changed-file", "error"),
        ("generated/__init__.py", "changed-file", "error"),
        ("generated/demo.py", "missing-file", "error"),
        ("generated/mine.py", "foreign-file", "warning"),
        ("generated/other.py", "orphaned-file", "error"),
    }
    assert expected == {(row["file"], row["code"], row["severity"]) for row in rows}
    annotations = project.run("check", "--format", "github").out
    assert expected == {
        (file, code, severity)
        for severity, file, code in re.findall("::(.*) file=(.*),title=(.*)::", annotations)
    }


def test_programs_get_every_finding(project: Project) -> None:
    """Twenty fill a screen, but a program reads on."""
    fields = "".join(
        f"  value_{n}: {{placement: attr, type: int, default: x, reason: The {n}th.}}\n"
        for n in range(30)
    )
    schema = SMALL[: SMALL.index("  steps")] + fields
    (project.root / "schemas" / "demo.yaml").write_text(schema)
    assert 30 == len(json.loads(project.run("check", "--format", "json").out))
    assert 30 == project.run("check", "--format", "github").out.count("\n")


def test_the_formats_offered_are_those_that_render() -> None:
    """`--format` takes what a renderer is there for, and refuses the rest as a mistake in use."""
    assert {"text", "json", "github"} == set(FORMATS)
    for output_format in FORMATS:
        assert render([WRONG], output_format)
        assert render([], output_format) == ("[]" if output_format == "json" else "")


def in_terminal(project: Project, *arguments: str, **environment: str) -> str:
    """What the command shows somebody who sits at a terminal."""
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "codegen", *arguments],
        cwd=project.root,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **environment},
        stdout=terminal,
        stdin=subprocess.DEVNULL,
    ):
        os.close(terminal)
        page = b""
        # A terminal whose other end is closed is an error to read from, and so its end.
        try:
            while part := os.read(main, 65536):
                page += part
        except OSError:
            pass
    os.close(main)
    return page.decode().replace("\r\n", "\n")


def test_colours_are_for_a_terminal_alone(project: Project) -> None:
    """A terminal shows colours; NO_COLOR, a dumb one, a pipe and other formats show none."""
    (project.root / "schemas" / "demo.yaml").write_text(BROKEN)
    plain = project.run("check").out
    coloured = in_terminal(project, "check", TERM="xterm")
    assert "\x1b[31m\x1b[1merror[bad-type]\x1b[0m" in coloured
    assert "\x1b" not in plain
    assert plain == re.sub(r"\x1b\[\d+m", "", coloured)
    assert plain == in_terminal(project, "check", NO_COLOR="1")
    assert plain == in_terminal(project, "check", TERM="dumb")
    assert coloured == in_terminal(project, "check", NO_COLOR="")
    assert "\x1b" not in in_terminal(project, "check", "--format", "github")


def hook() -> dict[str, object]:
    (found,) = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text("utf-8"))
    return found


def test_the_hook_has_what_pre_commit_needs() -> None:
    """It is installed as Python, takes no names, and starts for schemas and generated files."""
    found = hook()
    assert {"id", "name", "entry", "language", "files"} <= found.keys()
    assert ("python", False) == (found["language"], found["pass_filenames"])
    files = re.compile(str(found["files"]))
    assert all(
        files.search(path)
        for path in ("schemas/demo.yaml", "models/schemas/demo.yaml", "generated/demo.py")
    )
    assert not files.search("docs/schemas.md")


def test_the_hook_fails_where_check_does(project: Project) -> None:
    """Its entry, run as pre-commit runs it, passes on a clean project and fails on a drifted one."""
    command, *arguments = shlex.split(str(hook()["entry"]))
    script = shutil.which(command, path=str(Path(sys.executable).parent))
    run = [script] if script else [sys.executable, "-m", "codegen"]
    project.run("generate")

    def commit() -> int:
        environment = {"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            [*run, *arguments], cwd=project.root, env=environment, check=False, capture_output=True
        ).returncode

    assert 0 == commit()
    (project.root / "generated" / "demo.py").unlink()
    assert 1 == commit()
