"""How the drafts of real state classes compare with what was written down before the tool ran."""

import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from codegen import rules
from codegen.draft import drafted
from codegen.draft.schema import Draft
from codegen.draft.state import Attribute
from codegen.draft.types import show
from codegen.findings import Report
from codegen.load import load
from codegen.source import decode

HERE = Path(__file__).parent
EXPECTED: list[dict[str, Any]] = yaml.safe_load(HERE.joinpath("expected.yaml").read_text("utf-8"))
CORRECTIONS: list[dict[str, Any]] = yaml.safe_load(
    HERE.joinpath("corrections.yaml").read_text("utf-8")
)

PAGE = HERE.parents[1] / "docs" / "draft.md"
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)

RESETS = {"window": "inference_state", "release": "release"}
"""The survey's word for a reset, and what the class calls it."""


@attrs.frozen
class Result:
    """One class: its fields that came out as expected, otherwise, not at all, and as comments."""

    where: str
    loads: bool
    right: tuple[str, ...]
    wrong: Mapping[str, tuple[str, ...]]
    missed: tuple[str, ...]
    in_comments: tuple[str, ...]


def corrected() -> list[dict[str, Any]]:
    """What was expected, with what the source itself says where the survey was wrong about it."""
    said = {(one["file"], one["class"], one["field"]): one for one in CORRECTIONS}
    classes = []
    for one in EXPECTED:
        fields = {}
        for name, facts in one["fields"].items():
            correction = said.get((one["file"], one["class"], name), {})
            fields[correction.get("name", name)] = {**facts, **correction.get("says", {})}
        classes.append({**one, "fields": fields})
    return classes


def unpack(wheel: Path, folder: Path) -> Path:
    """The Python files of the wheel: a class is read with what its file imports."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [name for name in archive.namelist() if name.endswith(".py")])
    return folder / "vllm_omni"


def measure(root: Path, expected: list[dict[str, Any]]) -> Iterator[Result]:
    """Draft every class, and compare."""
    for one in expected:
        draft = drafted(f"{root / one['file']}:{one['class']}")
        compared = {
            name: tuple(differences(draft, name, facts)) for name, facts in one["fields"].items()
        }
        missed = tuple(name for name in compared if found(draft, name) is None)
        there = {name: said for name, said in compared.items() if name not in missed}
        yield Result(
            where=f"{one['class']} ({one['file']})",
            loads=codes(draft.text) <= {"todo-reason", "missing-shape", "missing-bound"},
            right=tuple(name for name, said in there.items() if not said),
            wrong={name: said for name, said in there.items() if said},
            missed=missed,
            in_comments=tuple(
                field.kept for field in draft.fields if field.refused and field.kept in compared
            ),
        )


def codes(text: str) -> set[str]:
    """The codes of all findings about a schema."""
    report = Report()
    schema = load(decode(text.encode(), "draft.yaml"), report)
    if schema is not None:
        rules.check(schema, report)
    return {finding.code for finding in report.findings}


def found(draft: Draft, name: str) -> Attribute | str | None:
    """The attribute as the draft has it, its name where it is the session's id, or None."""
    for one in (*draft.state.attributes, *draft.state.params):
        if one.name == name:
            return one
    return name if name in draft.state.identity else None


def differences(draft: Draft, name: str, facts: Mapping[str, Any]) -> Iterator[str]:
    """What the draft says otherwise than expected."""
    attribute = found(draft, name)
    # A session's id has the type and the life that every session's has.
    if not isinstance(attribute, Attribute):
        return
    keys = said(draft, name)
    checks: dict[str, set[str | int | None]] = {
        "type": {show(attribute.type), keys.get("type")},
        "written": {attribute.written},
        "ring": {_ring(draft, keys)},
        "device": {keys.get("device", "accelerator")},
    }
    for fact, values in checks.items():
        if fact in facts and facts[fact] not in values:
            yield f"{fact} is {' or '.join(sorted(map(str, values)))}, not {facts[fact]}"
    if "default" in facts and facts["default"] != yaml.safe_load(keys.get("default") or "null"):
        yield f"default is {keys.get('default')}, not {facts['default']}"
    if "survives" in facts:
        wanted = [RESETS[reset] for reset in facts["survives"]]
        if wanted != yaml.safe_load(keys.get("survives", "[]")):
            yield f"survives {keys.get('survives', '[]')}, not {wanted}"


def said(draft: Draft, name: str) -> dict[str, str]:
    """The keys of a drafted field or param, as they are printed."""
    for field in draft.fields:
        if field.kept == name:
            return {key.name: key.value for key in field.keys}
    for attribute, param in zip(draft.state.params, draft.params, strict=True):
        if attribute.name == name:
            return {"type": param.type, "default": param.default or "null"}
    return {}


def _ring(draft: Draft, keys: Mapping[str, str]) -> int | None:
    """The size of a ring, at the default of the param that gives it."""
    size: int | str | None = yaml.safe_load(keys.get("ring", "{}")).get("size")
    if isinstance(size, str):
        return next(int(one.default or 0) for one in draft.params if one.name == size)
    return size


def table(results: list[Result]) -> str:
    """The numbers, as the documentation shows them."""
    heads = ["class", "loads", "right", "wrong", "missed", "in comments"]
    rows = [heads, ["---"] * len(heads)]
    for one in results:
        name, _, file = one.where.partition(" ")
        place = f"`{name}` of {file.strip('()').rpartition('/')[2]}"
        rows.append([place, "yes" if one.loads else "no", *map(str, _counts([one]))])
    loading = str(sum(one.loads for one in results))
    rows.append([f"**{len(results)} classes**", loading, *map(str, _counts(results))])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _counts(results: list[Result]) -> tuple[int, int, int, int]:
    """Right, wrong, missed and in comments."""
    return (
        sum(len(one.right) for one in results),
        sum(len(one.wrong) for one in results),
        sum(len(one.missed) for one in results),
        sum(len(one.in_comments) for one in results),
    )


def main(wheel: Path) -> None:
    """Measure, say what is wrong, and write the numbers into the documentation."""
    with tempfile.TemporaryDirectory() as folder:
        root = unpack(wheel, Path(folder))
        before, after = (list(measure(root, expected)) for expected in (EXPECTED, corrected()))
    for one in after:
        for name, why in one.wrong.items():
            print(f"{one.where}: {name}: {'; '.join(why)}")
    tables = iter((table(before), table(after).splitlines()[-1]))
    head, heading, measured = PAGE.read_text("utf-8").partition("## Measured")
    measured = TABLE.sub(lambda _: f"{next(tables)}\n", measured)
    PAGE.write_text(head + heading + measured, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
