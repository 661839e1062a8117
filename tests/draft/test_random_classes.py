"""Whatever a class says, its draft loads, and asks a person for what only a person knows."""

import ast
import tempfile
from keyword import iskeyword
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.draft.schema import ASKED
from codegen.names import EMITTED, SURFACE

from .measure import codes
from .source import draft_of

_TYPES = """
    int float bool str None Tensor torch.LongTensor np.ndarray Any object bytes "Tensor" dict
    list State Held Other Literal["a","b"] Literal[1] Missing torch.Generator Callable[[int],str] ...
"""
_VALUES = """
    None True -1 0.5 1e30 -1e-9 99999999999999999999 [] {} () set() list() dict() [0] (1,2) {1}
    float("inf") deque(maxlen=3) deque(maxlen=N) deque([],2) torch.zeros(2) np.zeros(3) x other
    [None]*4 lambda:0 x.cpu() torch.cat([x,x]) N M OrderedDict() b"a" 1j ... Kind.A (yield)
"""

NAMES = st.one_of(
    st.sampled_from(sorted({name for name in SURFACE | EMITTED if name.isidentifier()})),
    st.sampled_from(["frames", "_frames", "reset", "append_frames", "l", "größe", "session_id"]),
    st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True),
).filter(lambda name: not iskeyword(name) and name != "self")
ANNOTATIONS = st.recursive(
    st.sampled_from(_TYPES.split()),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(" | ".join),
        inner.map("Optional[{}]".format),
        inner.map("list[{}]".format),
        inner.map("set[{}]".format),
        inner.map("deque[{}]".format),
        inner.map("tuple[{}, ...]".format),
        st.tuples(inner, inner).map(lambda two: f"tuple[{two[0]}, {two[1]}]"),
        st.tuples(inner, inner).map(lambda two: f"dict[{two[0]}, {two[1]}]"),
    ),
    max_leaves=4,
)
VALUES = st.one_of(
    st.sampled_from(_VALUES.split()),
    st.text(max_size=12).map(repr),
    st.lists(st.integers() | st.none(), max_size=3).map(repr),
)
WRITES = st.sampled_from(
    [
        "self.{n} = {v}",
        "self.{n}: {a} = {v}",
        "self.{n} += {v}",
        "self.{n}[0] = {v}",
        "self.{n}.append({v})",
        "self.{n}.extend({v})",
        "self.{n}.copy_({v})",
        "self.{n} = self.{n}[-3:]",
        "self.{n} = torch.cat([self.{n}, x], dim=1)[:, -N:]",
        "self.{n}, self.{m} = {v}, 0",
        "if x: self.{n} = {v}",
        "if len(self.{n}) > N: self.{n}.pop(0)",
        "setattr(self, '{n}', {v})",
        "for self.{n} in []: pass",
        "del self.{n}",
        "self.{m}()",
        "self.{n} = self.{m} if x else {v}",
    ]
)
METHODS = st.sampled_from(
    ["__init__", "reset", "reset_window", "clear_cache", "release", "close", "step", "_reset"]
)


@st.composite
def class_sources(draw: st.DrawFn) -> str:
    """A class that Python parses, of any style, with any fields, writes and methods."""
    style = draw(st.sampled_from(["", "@dataclass", "@attrs.define"]))
    lines = ["N = 4", "M = M + N"]
    for record in ("Held", "Other"):
        lines += ["@dataclass(frozen=True)", f"class {record}:", "    number: int"]
        lines += [f"    {draw(NAMES)}: {draw(ANNOTATIONS)}"]
    lines += [style, "class State:", f"    {draw(st.text(max_size=20))!r}"]
    names = draw(st.lists(NAMES, min_size=1, max_size=5))
    for name in draw(st.lists(st.sampled_from(names), max_size=3)):
        value = draw(st.none() | VALUES)
        lines.append(f"    {name}: {draw(ANNOTATIONS)}" + (f" = {value}" if value else ""))
    for method in draw(st.lists(METHODS, min_size=1, max_size=4)):
        lines.append(f"    def {method}(self, x: {draw(ANNOTATIONS)}, keep=False):")
        for template in draw(st.lists(WRITES, min_size=1, max_size=4)):
            n, m = draw(st.sampled_from(names)), draw(st.sampled_from(names))
            written = template.format(n=n, m=m, v=draw(VALUES), a=draw(ANNOTATIONS))
            lines.append(f"        {written}")
    # A file without a field has no schema.
    lines += ["    def keep(self):", "        self.kept_always = 0"]
    return "\n".join(lines) + "\n"


@given(class_sources())
@settings(max_examples=60, deadline=None)
def test_the_draft_of_any_class_loads(source: str) -> None:
    """The only findings are what the draft leaves to a person."""
    ast.parse(source)
    with tempfile.TemporaryDirectory() as folder:
        draft = draft_of(Path(folder), source)
    assert codes(draft.text) <= ASKED
    assert len({field.name for field in draft.fields}) == len(draft.fields)
