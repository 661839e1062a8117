"""Any sequence of writes, transactions, commits and discards, beside an oracle of two dicts."""

from typing import Any

import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from session_state import SessionStateManager

from tests.cases.generated.staged.expected import StagedSession

from .chunks import chunk, tail, thumbnail

EMPTY: dict[str, Any] = {
    "next_chunk_index": 0,
    "generator_state": None,
    "encoder_cache": None,
    "camera_tail": None,
    "pose_scale": None,
    "frames": (),
    "thumbnails": (),
}
NEWEST = {"frames": 3, "thumbnails": 6}
KEPT_BY_WINDOW = ("frames",)


def write(session: StagedSession, name: str, how: str, seed: int) -> None:
    """One write of the session."""
    match name, how:
        case "next_chunk_index", _:
            session.next_chunk_index = seed
        case "generator_state", _:
            session.generator_state = torch.full((16,), seed, dtype=torch.uint8)
        case "encoder_cache", _:
            session.encoder_cache = [torch.full((1, 4), float(seed)), None]
        case "camera_tail", _:
            session.camera_tail = tail(seed)
        case "pose_scale", _:
            session.pose_scale = float(seed)
        case "frames", "append":
            session.append_frames(chunk(seed))
        case "frames", "assign":
            session.frames = chunk(seed, 2)
        case "frames", _:
            session.frames = None
        case _:
            session.thumbnails.append(thumbnail(seed))


def shown(name: str, value: Any) -> Any:
    """What a field holds, as the oracle has it: the seed of each value."""
    match name:
        case "generator_state" if value is not None:
            return int(value[0])
        case "encoder_cache" if value is not None:
            return int(value[0][0, 0])
        case "camera_tail" if value is not None:
            assert value.label == f"chunk {int(value.poses[0, 0, 0])}"
            return int(value.poses[0, 0, 0])
        case "frames":
            return () if value is None else tuple(map(int, value[0, :, 0, 0]))
        case "thumbnails":
            return tuple(int(one[0, 0, 0]) for one in value)
    return value


WRITES = st.tuples(
    st.sampled_from([*EMPTY, "frames", "frames", "thumbnails"]),
    st.sampled_from(["append", "assign", "clear"]),
    st.integers(1, 99),
)


class Oracle:
    """The committed and the staged content as two dicts, and whether the index is there.

    `marks` tells by identity whether the ring holds what it held: committed, staged.
    """

    def __init__(self) -> None:
        self.committed = dict(EMPTY)
        self.staged: dict[str, Any] = {}
        self.index = False
        self.marks: tuple[object, object] = (None, None)

    def copy(self) -> "Oracle":
        other = Oracle()
        other.committed, other.staged = dict(self.committed), dict(self.staged)
        other.marks = self.marks
        return other

    def read(self, name: str) -> Any:
        return self.staged.get(name, self.committed[name])

    def write(self, name: str, how: str, seed: int) -> None:
        before = self.read(name)
        if name == "frames":
            self.marks = (self.marks[0], object())
        if name in NEWEST and (how == "append" or name == "thumbnails"):
            self.staged[name] = (*before, seed)[-NEWEST[name] :]
            return
        after: Any = seed
        if name == "frames":
            after = (seed, seed) if how == "assign" else ()
            self.index = False
        self.staged[name] = after
        if name == "camera_tail":
            self.staged["pose_scale"] = None

    def commit(self) -> None:
        self.committed |= self.staged
        if "frames" in self.staged:
            self.marks = (self.marks[1] if self.staged["frames"] else None, None)
        self.staged = {}

    def discard(self) -> None:
        self.index = self.index and "frames" not in self.staged
        self.marks = (self.marks[0], None)
        self.staged = {}

    def reset(self, kept: tuple[str, ...]) -> None:
        for name in EMPTY.keys() - set(kept):
            self.committed[name] = EMPTY[name]
            self.staged.pop(name, None)
        self.index = False
        if "frames" not in kept:
            self.marks = (None, None)


class Undone(BaseException):
    pass


class Staging(RuleBasedStateMachine):
    """One session, through whatever view is at hand."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = SessionStateManager()
        self.session = StagedSession("robot-7", self.manager)
        self.oracle = Oracle()
        self.open: list[tuple[Any, Oracle]] = []

    @rule(one=WRITES)
    def write(self, one: tuple[str, str, int]) -> None:
        write(self.session, *one)
        self.oracle.write(*one)

    @rule()
    def index(self) -> None:
        self.session.frame_index = torch.zeros(1, 8, dtype=torch.int64)
        self.oracle.index = True

    @rule()
    def commit(self) -> None:
        self.session.commit()
        self.oracle.commit()

    @rule()
    def discard(self) -> None:
        self.session.discard()
        self.oracle.discard()

    @rule(window=st.booleans())
    def reset(self, window: bool) -> None:
        reset = self.session.reset_window if window else self.session.reset_session
        reset()
        self.oracle.reset(KEPT_BY_WINDOW if window else ())

    @rule()
    def look_anew(self) -> None:
        self.session = StagedSession("robot-7", self.manager)

    @precondition(lambda self: len(self.open) < 3)
    @rule()
    def begin(self) -> None:
        transaction = self.session.transaction()
        transaction.__enter__()
        self.open.append((transaction, self.oracle.copy()))

    @precondition(lambda self: self.open)
    @rule(fails=st.booleans())
    def end(self, fails: bool) -> None:
        transaction, before = self.open.pop()
        error = Undone() if fails else None
        transaction.__exit__(Undone if fails else None, error, None)
        if fails:
            before.index = self.oracle.index and before.marks == self.oracle.marks
            self.oracle = before
        elif not self.open:
            self.oracle.commit()

    @invariant()
    def agrees(self) -> None:
        for name in EMPTY:
            held = self.session.object(name)
            assert self.oracle.read(name) == shown(name, held.view())
            assert self.oracle.committed[name] == shown(name, held.view(include_staged=False))
        assert self.oracle.index == (self.session.frame_index is not None)

    @invariant()
    def reads_the_same_through_a_new_view(self) -> None:
        other = StagedSession("robot-7", self.manager)
        assert self.session.camera_tail is other.camera_tail
        assert self.session.next_chunk_index == other.next_chunk_index
        frames = other.frames
        assert self.session.frames is frames

    def teardown(self) -> None:
        while self.open:
            self.end(fails=False)
        assert {"cpu"} >= self.session.nbytes_by_device().keys()


TestStaging = Staging.TestCase
TestStaging.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
