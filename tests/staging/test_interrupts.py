"""An exception at every line that runs while a session commits, discards or goes back."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import session_state
from session_state import staging

from tests.cases.generated.staged.expected import StagedSession

from .chunks import contents, opened, plain, write_all

RUNTIME = Path(session_state.__file__).parent
# The line on which an `__exit__` begins runs before anything can protect it, as in any context
# manager.
FIRST_LINES = {
    (method.__code__, method.__code__.co_firstlineno + offset)
    for method in (staging.Transaction.__exit__, staging.Savepoint.__exit__)
    for offset in range(7)
}


@contextmanager
def interrupted(at: int, error: type[BaseException], *within: CodeType) -> Iterator[list[int]]:
    """Raise `error` at the line number `at` of those of the runtime that run in the block.

    With `within`, lines count only while one of these functions is running. The list gets the
    number of lines that were seen.
    """
    seen = [0]

    def counts(frame: FrameType | None) -> bool:
        while frame is not None and within:
            if frame.f_code in within:
                return True
            frame = frame.f_back
        return not within

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and (frame.f_code, frame.f_lineno) not in FIRST_LINES and counts(frame):
            seen[0] += 1
            if seen[0] == at:
                raise error
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if Path(frame.f_code.co_filename).is_relative_to(RUNTIME) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        yield seen
    finally:
        sys.settrace(before)


def two_chunks() -> StagedSession:
    """A session with one chunk committed and another staged."""
    session = opened()
    write_all(session, 1)
    session.commit()
    write_all(session, 2)
    return session


def outcomes(
    use: Callable[[StagedSession], None], error: type[BaseException], *within: CodeType
) -> list[Any]:
    """What the staged fields hold after `use` was interrupted at its first line, its second, ..."""
    found = []
    for at in range(1, 10_000):
        session = two_chunks()
        with interrupted(at, error, *within) as seen, suppress(error):
            use(session)
        found.append(plain(contents(session)))
        if seen[0] < at:
            return found
    raise AssertionError("it never ended")


def committed_whole(session: StagedSession) -> None:
    with session.transaction():
        pass


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (StagedSession.commit, MemoryError),
        (StagedSession.discard, KeyboardInterrupt),
        (committed_whole, KeyboardInterrupt),
    ],
    ids=["commit", "discard", "transaction"],
)
def test_an_interrupt_leaves_all_or_nothing(
    use: Callable[[StagedSession], None], error: type[BaseException]
) -> None:
    """Up to some line everything is as before, and from there on everything is done."""
    before = plain(contents(two_chunks()))
    done = two_chunks()
    use(done)
    after = plain(contents(done))
    found = outcomes(use, error)
    turn = found.index(after)
    assert 50 < turn
    assert [before] * turn == found[:turn]
    assert [after] * (len(found) - turn) == found[turn:]


def test_a_second_interrupt_does_not_stop_the_way_back() -> None:
    """One while a transaction is being undone finds every staged field as it was all the same."""

    def fails(session: StagedSession) -> None:
        with session.transaction():
            write_all(session, 3)
            session.commit()
            session.reset_session()
            raise KeyboardInterrupt

    before = plain(contents(two_chunks()))
    found = outcomes(fails, KeyboardInterrupt, staging.Savepoint._bring_back.__code__)
    assert 20 < len(found)
    assert [before] * len(found) == found
