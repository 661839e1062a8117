"""What fields are rebuilt from and end with, against other ways to work the same out."""

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .schemas import examine

NAMES = [f"f{index}" for index in range(6)]
HEAD = """\
schema: 1
model: Graph
class: GraphSession
doc: Fields that depend on each other.
dims: {B: 1}
defaults: {dtype: bfloat16}
resets: {session: It starts again., window: It rolled.}
elsewhere: {text: {owner: the request, reason: It outlives the session.}}
fields:
"""
graphs = st.fixed_dictionaries(
    {name: st.lists(st.sampled_from(NAMES), unique=True, max_size=3) for name in NAMES}
)


def derived(graph: dict[str, list[str]]) -> str:
    return HEAD + "".join(
        f"  {name}: {{placement: attr, type: Tensor | None, shape: [B], "
        f"derived_from: [{', '.join(sources)}], reason: Only the model knows {name}.}}\n"
        for name, sources in graph.items()
    )


def rebuilt(graph: dict[str, list[str]]) -> str:
    return HEAD + "".join(
        f"  {name}: {{placement: object, kind: EncodeOnce, type: Tensor, shape: [B], "
        f"manager_may: [rebuild], reason: The manager rebuilds {name}., "
        f"recompute: {{from: [{', '.join([*sources, 'text'])}], cost: 1, doc: One pass.}}}}\n"
        for name, sources in graph.items()
    )


def reaches_itself(graph: dict[str, list[str]], name: str) -> bool:
    seen: set[str] = set()
    ahead = list(graph[name])
    while ahead:
        one = ahead.pop()
        if one not in seen:
            seen.add(one)
            ahead.extend(graph[one])
    return name in seen


@pytest.mark.parametrize("write", [derived, rebuilt])
@given(graph=graphs)
def test_every_cycle_is_found_and_none_is_invented(
    write: Callable[[dict[str, list[str]]], str], graph: dict[str, list[str]]
) -> None:
    """Paths lead along arrows and back, each is named once, and without them no cycle is left."""
    _, findings = examine(write(graph))
    assert {"cycle"} >= {finding.code for finding in findings}
    paths = [re.findall(r"f\d", finding.message.partition(": ")[2]) for finding in findings]
    left = {name: list(sources) for name, sources in graph.items()}
    for path in paths:
        assert path[0] == path[-1] == min(path, key=list(graph).index)
        assert all(after in graph[before] for before, after in itertools.pairwise(path))
        assert len(set(path)) == len(path) - 1
        left[path[0]].remove(path[1])
    assert len(paths) == len({tuple(path) for path in paths})
    assert not any(reaches_itself(left, name) for name in NAMES)


@given(
    st.fixed_dictionaries({name: st.sets(st.sampled_from(["session", "window"])) for name in "ab"})
)
def test_nothing_outlives_its_source(survives: dict[str, set[str]]) -> None:
    """A reset that leaves a field and takes its source is named, and no other is."""
    lines = "".join(
        f"  {name}: {{placement: attr, type: Tensor | None, shape: [B], "
        f"survives: [{', '.join(sorted(survives[name]))}], {extra}"
        f"reason: Only the model knows {name}.}}\n"
        for name, extra in (("a", ""), ("b", "derived_from: [a], "))
    )
    _, findings = examine(HEAD + lines)
    named = {re.findall(r"`(\w+)`", finding.message)[1] for finding in findings}
    assert survives["b"] - survives["a"] == named
    assert {"outlives-source"} >= {finding.code for finding in findings}


PERMISSIONS = ["accumulate", "release", "rebuild"]
SUBSETS = [
    list(subset) for count in (1, 2, 3) for subset in itertools.combinations(PERMISSIONS, count)
]


@pytest.mark.parametrize("permissions", SUBSETS, ids="-".join)
@pytest.mark.parametrize("kind", ["LatentBuffer", "EncodeOnce"])
@pytest.mark.parametrize("recompute", [False, True], ids=["", "recompute"])
def test_an_object_may_what_it_does(kind: str, permissions: list[str], recompute: bool) -> None:
    """Appending asks for accumulate, a way back for rebuild, and letting go for a way back."""
    ring = "ring: {size: 2}, " if kind == "LatentBuffer" else ""
    back = "recompute: {from: [text], cost: 1, doc: One pass.}, " if recompute else ""
    _, findings = examine(
        f"{HEAD}  kv: {{placement: object, kind: {kind}, type: Tensor, shape: [B], {ring}{back}"
        f"manager_may: [{', '.join(permissions)}], reason: The manager acts on it.}}\n"
    )
    may = set(permissions)
    expected = {
        "missing-permission": (bool(ring) and "accumulate" not in may)
        or (recompute and "rebuild" not in may),
        "missing-recompute": not recompute and bool(may & {"release", "rebuild"}),
        "wrong-kind": kind == "EncodeOnce" and "accumulate" in may,
    }
    assert {code for code, wrong in expected.items() if wrong} == {f.code for f in findings}


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("None of the resets keeps it.", None),
        ("Todos of the user, which only the model reads.", None),
        ("The number of what was kept.", None),
        ("Kept is what the model reads next.", None),
        ("n/a", "missing-reason"),
        ("None.", "missing-reason"),
        ("???", "missing-reason"),
        ("what_kept", None),
        ("The kept value.", "missing-reason"),
        ("This is kept", "missing-reason"),
        ("KEPT", "missing-reason"),
        ("to be written, TBD", "todo-reason"),
        ("Todo", "todo-reason"),
        ("tbd by Ann", "todo-reason"),
        ("Big. XXX", "todo-reason"),
    ],
)
def test_reasons_that_say_nothing(reason: str, code: str | None) -> None:
    """A place holder is none, nor is the field's name with words around it that say nothing."""
    text = f"{HEAD}  kept: {{placement: attr, type: int, default: 0, reason: '{reason}'}}\n"
    _, findings = examine(text.replace("dims: {B: 1}\n", ""))
    assert ([] if code is None else [code]) == [finding.code for finding in findings]
