"""`session-state draft` as a person meets it: what it prints, where, and how it ends."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from codegen.cli import main

from .measure import codes
from .source import draft_of, schema_of


def run(where: str) -> Result:
    return CliRunner().invoke(main, ["draft", where])


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_schema_goes_to_stdout_and_the_summary_to_stderr(tmp_path: Path) -> None:
    """What is piped into a file is the schema, and it asks for reasons alone."""
    Path("state.py").write_text(
        "class State:\n    def __init__(self):\n        self.done = False\n"
    )
    done = run("state.py:State")
    assert (0, {"todo-reason"}) == (done.exit_code, codes(done.stdout))
    assert "state.py:State: 1 field; `session-state check` asks for the rest\n" == done.stderr


@pytest.mark.parametrize(
    ("content", "where", "said"),
    [
        ("class State: ...", "state.py", "name a class of the file, as in FILE.py:StateClass"),
        ("class State: ...", "no.py:State", "no.py: cannot be read (No such file or directory)"),
        ("class Statt: ...", "state.py:State", "has no class 'State'; did you mean Statt?"),
        ("class A: ...\nclass B: ...", "state.py:State", "there are A, B"),
        ("x = 1", "state.py:State", "has no class at all"),
        (
            "class State:\n  x = (",
            "state.py:State",
            "state.py:2: is not Python 3.",
        ),
        ("class State:\n  x = 1\0", "state.py:State", "is not Python"),
        ("class State:\n  x = " + "(" * 500 + ")" * 500, "state.py:State", "is not Python"),
    ],
)
def test_what_cannot_be_drafted_says_what_to_do(content: str, where: str, said: str) -> None:
    """One line on stderr, nothing on stdout, and exit 2."""
    Path("state.py").write_text(content)
    done = run(where)
    assert (2, "", 1) == (done.exit_code, done.stdout, done.stderr.count("\n"))
    assert said in done.stderr


PIPELINE = """
    from far import Far

    @dataclass
    class One:
        steps_done: int = 0

    class State:
        def __init__(self) -> None:
            self._sessions: dict[str, {held}] = {{}}
            self.by_layer: dict[int, Tensor] = {{}}

        def step(self, session_id: str) -> None:
            self._sessions[session_id] = None
    """


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("One", "draft what it keeps of one, with state.py:One"),
        ("Far", "draft what it keeps of one, Far of far"),
        ("Tensor", "and no class says what one of them is"),
        ("dict", "write its values as a dataclass, and draft that"),
    ],
)
def test_a_pipeline_of_sessions_is_named_as_what_it_is(
    held: str, said: str, tmp_path: Path
) -> None:
    """A class that keeps sessions by id is refused, with the class to draft in its place."""
    with pytest.raises(Exception, match="keeps sessions by id, in `_sessions`"):
        draft_of(tmp_path, PIPELINE.format(held=held))
    done = run("state.py:State")
    assert (2, "") == (done.exit_code, done.stdout)
    assert said in done.stderr
    assert "state.py:20: State keeps sessions by id, in `_sessions`" in done.stderr


def test_a_store_at_the_top_of_the_file_is_noted(tmp_path: Path) -> None:
    """The dict that holds the sessions today is what the manager takes the place of."""
    source = """
        _STORE: dict[str, "State"] = {}

        @dataclass
        class State:
            turns: int = 0
        """
    assert "# `_STORE` (line 12) keeps these by id: the manager takes its place.\n" in (
        draft_of(tmp_path, source).text
    )


def test_nothing_of_the_source_runs(tmp_path: Path) -> None:
    """A file that would end the process on import is drafted like any other."""
    source = """
        raise SystemExit("imported")

        class State:
            done: bool = __import__("os").abort()

            def __init__(self) -> None:
                self.done = False
        """
    assert ["done"] == list(schema_of(tmp_path, source)["fields"])


PATH = "C:\\new \"x\": # {{ view }} 'y'"
HOSTILE = '"\u202e: # {% raw %} {{ view }}\n\nfields: {x: y}\0 \\\\" \' ${{ secrets }}'


def test_text_of_the_source_stays_text(tmp_path: Path) -> None:
    """Docstrings, defaults and names cannot end a scalar, start a key or hide from a reviewer."""
    source = f"""
        class State:
            {HOSTILE!r}

            def __init__(self) -> None:
                self.größe = {HOSTILE!r}
                self.import_ = "yes"
                self.__x = 1e-7
                self.l = -1
                self.path = {PATH!r}
                self.mode: Literal["a: b", "#c"] = "a: b"

            def reset(self) -> None:
                {HOSTILE!r}
                self.größe = ""
        """
    draft = draft_of(tmp_path, source)
    assert {"todo-reason"} == codes(draft.text)
    fields = schema_of(tmp_path, source)["fields"]
    # Of the umlaut its letter is left, and of the ligature nothing.
    assert ["groe", "import_", "x", "l_", "path", "mode"] == list(fields)
    assert [None, "yes", 1e-7, -1, PATH, "a: b"] == [one.get("default") for one in fields.values()]
    assert "\u202e" not in draft.text


def test_a_draft_is_the_same_every_time(tmp_path: Path) -> None:
    """Nothing of it depends on the run."""
    source = """
        class State:
            __slots__ = {"c": "", "a": "", "b": ""}
        """
    assert 1 == len({draft_of(tmp_path, source).text for _ in range(3)})


def test_a_field_that_no_wording_says_is_a_comment_that_says_why(tmp_path: Path) -> None:
    """It is in the schema all the same, so that nobody misses it, and the rest of it loads."""
    source = """
        class State:
            def __init__(self, codec) -> None:
                self.codec = codec
                self.turns = 0
        """
    draft = draft_of(tmp_path, source)
    assert ["turns"] == list(schema_of(tmp_path, source)["fields"])
    assert {"todo-reason"} == codes(draft.text)
    assert "  # codec:  # line 14; not said: Nothing in the source says its type.\n" in draft.text
    assert draft.summary.endswith(
        "2 fields, 1 of them in comments, since the language cannot say them; "
        "`session-state check` asks for the rest"
    )
