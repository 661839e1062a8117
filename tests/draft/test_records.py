"""Frozen classes that a state class holds are drafted as records."""

from pathlib import Path
from typing import Any

from .measure import codes
from .source import draft_of, schema_of

CAMERA = """
    @dataclass(frozen=True)
    class Intrinsics:
        focal: Tensor
        centre: torch.DoubleTensor

    @attrs.frozen
    class Tail:
        poses: Tensor
        seen: dict[str, int]
        intrinsics: Intrinsics
        label: str | None = None
        LIMIT: ClassVar[int] = 3
    """
STATE = """
    class State:
        def __init__(self) -> None:
            self.tail: Tail | None = None
            self.before: list[Tail] = []
    """


def said(folder: Path, source: str) -> dict[str, Any]:
    """The drafted schema, in which nothing is wrong but what is left to a person."""
    assert codes(draft_of(folder, source).text) <= {"todo-reason", "missing-shape"}
    return schema_of(folder, source)


def test_a_frozen_class_is_a_record(tmp_path: Path) -> None:
    """With the records that it holds above it, and each member's type and dtype."""
    schema = said(tmp_path, CAMERA + STATE)
    assert {
        "Intrinsics": {
            "focal": {"type": "Tensor"},
            "centre": {"type": "Tensor", "dtype": "float64"},
        },
        "Tail": {
            "poses": {"type": "Tensor"},
            "seen": {"type": "dict[str, int]"},
            "intrinsics": {"type": "Intrinsics"},
            "label": {"type": "str | None"},
        },
    } == schema["records"]
    assert ["Intrinsics", "Tail"] == list(schema["records"])
    assert ["Tail | None", "list[Tail]"] == [one["type"] for one in schema["fields"].values()]


def test_a_record_is_followed_into_its_file(tmp_path: Path) -> None:
    """As constants are, since a state and what it holds seldom lie in one file."""
    camera = (
        "from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Tail:\n    at: int\n"
    )
    tmp_path.joinpath("camera.py").write_text(camera, "utf-8")
    schema = said(tmp_path, "\n    from camera import Tail\n" + STATE)
    assert {"Tail": {"at": {"type": "int"}}} == schema["records"]


def test_a_class_that_is_written_in_place_is_no_record(tmp_path: Path) -> None:
    """A record is replaced as a whole, which a class that is not frozen does not promise."""
    thawed = CAMERA.replace("@attrs.frozen", "@attrs.define")
    draft = draft_of(tmp_path, thawed + STATE)
    assert "records:" not in draft.text
    assert ["tail", "before"] == [field.name for field in draft.fields if field.refused]


def test_a_record_that_cannot_be_said_takes_its_fields_along(tmp_path: Path) -> None:
    """A field in comments names the type; a record without its members would be another one."""
    for member in ("Any", "Tail", "int | _Missing"):
        source = CAMERA.replace("dict[str, int]", member) + STATE + "        self.count = 0\n"
        draft = draft_of(tmp_path, source)
        assert "records:" not in draft.text
        assert ["tail", "before"] == [field.name for field in draft.fields if field.refused]
        assert codes(draft.text) <= {"todo-reason", "missing-shape"}
