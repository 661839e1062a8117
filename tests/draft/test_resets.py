"""Which methods are resets, and what each of them clears."""

from pathlib import Path

import pytest

from .source import fields_of, schema_of

RESETS = """
    class State:
        def __init__(self) -> None:
            self.reset()

        def reset(self, *, keep_prompt: bool = False) -> None:
            \"\"\"The client starts again. Everything goes.\"\"\"
            kept = self.video if keep_prompt else []
            self.video: list[str] = kept
            self.step_count = 0
            if not keep_prompt:
                self.prompt: str | None = None
                self.reset_stream()

        def reset_stream(self) -> None:
            self.started = False

        def reset_window(self) -> None:
            self.reset(keep_prompt=True)

        def close(self) -> None:
            self.reset()
    """


def test_a_reset_clears_what_its_arguments_let_it_clear(tmp_path: Path) -> None:
    """A call is followed with the arguments that it gives; what it keeps survives."""
    schema = schema_of(tmp_path, RESETS)
    assert {"session": "The client starts again.", "window": "What `reset_window()` clears."} == (
        schema["resets"]
    )
    assert {
        "video": ["window"],
        "step_count": [],
        "prompt": ["window"],
        "started": ["window"],
    } == {name: field.get("survives", []) for name, field in schema["fields"].items()}


def test_a_partial_clear_is_a_group(tmp_path: Path) -> None:
    """`reset_stream()` clears some fields of one session, and is no event of its life."""
    assert {"stream": ["started"]} == schema_of(tmp_path, RESETS)["groups"]


def test_an_argument_that_nobody_calls_with_is_a_reset_of_its_own(tmp_path: Path) -> None:
    """What the caller outside decides by a flag, the schema names."""
    source = """
        class State:
            def __init__(self) -> None:
                self.step_count = 0
                self.prompt = ""

            def reset(self, keep_prompt=False):
                self.step_count = 0
                if not keep_prompt:
                    self.prompt = ""
        """
    schema = schema_of(tmp_path, source)
    assert ["session", "keep_prompt"] == list(schema["resets"])
    assert ["keep_prompt"] == schema["fields"]["prompt"]["survives"]


@pytest.mark.parametrize(
    "clear",
    [
        "self.tokens = []",
        "self.tokens.clear()",
        "self.tokens = None if False else []",
        "setattr(self, 'tokens', [])",
        "for name in ('tokens',): setattr(self, name, [])",
        "self.tokens, other = [], 1",
        "match flag:\n                    case _: self.tokens = []",
        "try: pass\n                except OSError: pass\n                else: self.tokens = []",
        "try: self.tokens = []\n                except* OSError: pass",
        "self._empty()",
        "self.__init__()",
    ],
)
def test_many_ways_to_clear_are_one(clear: str, tmp_path: Path) -> None:
    """A field that a reset clears in any usual way does not survive it."""
    source = f"""
        class State:
            def __init__(self) -> None:
                self.tokens: list[int] = []
                self.step_count = 0

            def _empty(self) -> None:
                self.tokens = []

            def reset(self, flag: int = 0) -> None:
                self.step_count = 0
                {clear}
        """
    assert {"type": "list[int]", "default": []} == {
        key: value
        for key, value in fields_of(tmp_path, source)["tokens"].items()
        if key != "written"
    }


@pytest.mark.parametrize(
    "keep", ["pass", "self.tokens = list(self.tokens)", "self.tokens = self.tokens[-1:]"]
)
def test_handing_the_old_value_on_is_no_clear(keep: str, tmp_path: Path) -> None:
    """A copy of what was there, or a part of it, survives the reset."""
    source = f"""
        class State:
            def __init__(self) -> None:
                self.tokens: list[int] = []
                self.step_count = 0

            def reset(self) -> None:
                self.step_count = 0
                {keep}
        """
    assert ["session"] == fields_of(tmp_path, source)["tokens"]["survives"]
