"""The ways in which Python names an attribute: slots, targets, and what a method calls its object."""

from cProfile import Profile
from pathlib import Path

import pytest

from .source import IMPORTS, draft_of, fields_of


@pytest.mark.parametrize(
    "slots",
    [
        '("frames", "step")',
        '["frames", "step"]',
        '{"frames": "the newest", "step": "of the robot"}',
        '("frames",) + ("step",)',
        '(*("frames",), "step")',
        'tuple(["frames", "step"])',
    ],
)
def test_slots_are_names_and_no_other_text_is(slots: str, tmp_path: Path) -> None:
    """The docs of slots in a dict are no fields, however the names are written out."""
    source = f"""
        class State:
            __slots__ = {slots}

            def __init__(self) -> None:
                self.frames: list[int] = []
                self.step = 0
        """
    drafted = draft_of(tmp_path, source).state
    assert ["frames", "step"] == [one.name for one in drafted.attributes]


def test_slots_that_are_computed_name_nothing(tmp_path: Path) -> None:
    """A part of a name is not taken for one; a slot that nothing writes is at its own line."""
    source = """
        class State:
            __slots__ = (*(f"x{i}" for i in range(3)), "frames")
        """
    drafted = draft_of(tmp_path, source)
    assert [("frames", IMPORTS.count("\n") + 3)] == [
        (one.name, one.line) for one in drafted.state.attributes
    ]


def test_of_two_classes_of_a_name_the_later_is_drafted(tmp_path: Path) -> None:
    """Python has the later one under the name."""
    source = """
        class State:
            def __init__(self) -> None:
                self.old = 0

        class State:
            def __init__(self) -> None:
                self.new = 0
        """
    assert ["new"] == list(fields_of(tmp_path, source))


def test_a_class_of_many_fields_is_walked_once(tmp_path: Path) -> None:
    """Twice the fields take about twice the calls, and not four times as many."""

    def calls(fields: int) -> int:
        lines = "".join(f"                self.f{at} = None\n" for at in range(fields))
        source = f"\n        class State:\n            def __init__(self):\n{lines}"
        profile = Profile()
        profile.runcall(draft_of, tmp_path, source)
        return sum(entry.callcount for entry in profile.getstats())

    assert 3 > calls(80) / calls(40)


@pytest.mark.parametrize(
    "write",
    [
        "def run(this): this.found = 1",
        "def run(s, /, *others): s.found = 1",
        "def run(self):\n                with open('log') as self.found: pass",
        "def run(self):\n                for self.found in range(3): pass",
        "def run(self): first, *self.found = range(3)",
        "def run(self): (first, [second, self.found]) = 1, (2, 3)",
    ],
)
def test_whatever_binds_an_attribute_writes_it(write: str, tmp_path: Path) -> None:
    """Python has many ways to assign, and calls the object as its method does."""
    source = f"""
        class State:
            {write}
        """
    drafted = draft_of(tmp_path, source).state
    assert ["found"] == [one.name for one in drafted.attributes]


def test_a_static_method_writes_another_object(tmp_path: Path) -> None:
    """Its first argument is whatever it is given."""
    source = """
        class State:
            @staticmethod
            def move(robot): robot.place = 1
        """
    assert () == draft_of(tmp_path, source).state.attributes
