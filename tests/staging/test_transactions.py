"""Transactions, commits and discards over a session with one staged field of each kind."""

import gc
from typing import Any

import pytest
import torch
from session_state import SessionClosed, SessionStateManager

from tests.cases.generated.staged.expected import StagedSession

from .chunks import STAGED, WRITES, chunk, contents, opened, plain, tail, thumbnail, write_all


class Failed(BaseException):
    """What no handler of the runtime expects."""


@pytest.mark.parametrize("staged_before", [False, True])
@pytest.mark.parametrize("at", range(len(WRITES) + 1))
def test_an_exception_after_any_write_leaves_everything_as_it_was(
    at: int, staged_before: bool
) -> None:
    """Committed and staged content are what a deep copy from before the transaction says."""
    session = opened()
    write_all(session, 1)
    session.commit()
    if staged_before:
        write_all(session, 2)
    before = plain(contents(session))
    with pytest.raises(Failed), session.transaction():
        for write in WRITES[:at]:
            write(session, 3)
        raise Failed
    assert before == plain(contents(session))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("next_chunk_index", "seven"),
        ("camera_pitch", None),
        ("frames", torch.zeros(3)),
        ("frames", 7),
    ],
)
def test_a_write_that_is_refused_leaves_its_field_and_the_others(field: str, value: Any) -> None:
    """The refusal ends the transaction as any exception does, and by itself changes nothing."""
    session = opened()
    write_all(session, 1)
    staged = plain(contents(session))
    with pytest.raises((TypeError, ValueError), match=f"session 'robot-7', field '{field}'"):
        setattr(session, field, value)
    assert staged == plain(contents(session))
    with pytest.raises((TypeError, ValueError)), session.transaction():
        write_all(session, 2)
        setattr(session, field, value)
    assert staged == plain(contents(session))


def test_what_is_staged_is_read_and_not_committed() -> None:
    """A session reads its own writes; the committed content is the old one until the commit."""
    session = opened()
    write_all(session, 1)
    held = contents(session)
    assert 0 == held["next_chunk_index"][0] and 1 == session.next_chunk_index
    assert held["frames"][0] is None and (1, 3, 4, 6) == session.frames.shape  # type: ignore[union-attr]
    assert [] == held["thumbnails"][0] and 1 == len(session.thumbnails)
    session.commit()
    held = contents(session)
    assert all(plain(committed) == plain(read) for committed, read in held.values())


def test_what_is_staged_outlives_views_until_it_is_committed_or_discarded() -> None:
    """One call stages, a later one commits; another stages, a later one discards."""
    manager = SessionStateManager()
    write_all(StagedSession("robot-7", manager), 1)
    StagedSession("robot-7", manager).commit()
    committed = plain(contents(StagedSession("robot-7", manager)))
    assert 1 == committed["next_chunk_index"][0]
    write_all(StagedSession("robot-7", manager), 2)
    assert 2 == StagedSession("robot-7", manager).next_chunk_index
    StagedSession("robot-7", manager).discard()
    assert committed == plain(contents(StagedSession("robot-7", manager)))


def test_one_lease_stages_and_a_later_one_commits_or_discards() -> None:
    """What is staged outlives the lease, also one that ended on an exception."""
    manager = SessionStateManager()
    with manager.session(StagedSession, "robot-7") as session:
        write_all(session, 1)
    with manager.session(StagedSession, "robot-7") as session:
        assert (0, 1) == contents(session)["next_chunk_index"]
        session.commit()
        committed = plain(contents(session))
    with pytest.raises(Failed), manager.session(StagedSession, "robot-7") as session:
        write_all(session, 2)
        raise Failed
    with manager.session(StagedSession, "robot-7") as session:
        assert (1, 2) == contents(session)["next_chunk_index"]
        session.discard()
        assert committed == plain(contents(session))


def test_a_transaction_commits_what_was_staged_before_it() -> None:
    """At its end nothing is left staged."""
    session = opened()
    session.camera_pitch = 0.5
    with session.transaction():
        session.next_chunk_index = 1
    assert (0.5, 0.5) == contents(session)["camera_pitch"]
    assert (1, 1) == contents(session)["next_chunk_index"]


def test_an_inner_transaction_is_a_savepoint() -> None:
    """What it leaves waits for the outer's end; what it raises takes back its own writes only."""
    session = opened()
    with session.transaction():
        session.next_chunk_index = 1
        with session.transaction():
            session.camera_pitch = 0.5
        assert (0.0, 0.5) == contents(session)["camera_pitch"]
        with pytest.raises(Failed), session.transaction():
            session.next_chunk_index = 2
            session.camera_pitch = 1.5
            raise Failed
        assert (0, 1) == contents(session)["next_chunk_index"]
    assert (1, 1) == contents(session)["next_chunk_index"]
    assert (0.5, 0.5) == contents(session)["camera_pitch"]
    with pytest.raises(Failed), session.transaction():
        with session.transaction():
            session.next_chunk_index = 3
        raise Failed
    assert (1, 1) == contents(session)["next_chunk_index"]


def test_a_commit_inside_a_transaction_is_part_of_it() -> None:
    """An exception afterwards brings back what was committed before the transaction."""
    session = opened()
    with pytest.raises(Failed), session.transaction():
        session.next_chunk_index = 1
        session.commit()
        assert (1, 1) == contents(session)["next_chunk_index"]
        session.discard()
        session.reset_session()
        raise Failed
    assert (0, 0) == contents(session)["next_chunk_index"]


def test_a_transaction_that_was_let_go_of_is_over() -> None:
    """One that never ended keeps no later one from committing."""
    session = opened()
    session.transaction().__enter__()
    gc.collect()
    with session.transaction():
        session.next_chunk_index = 1
    assert (1, 1) == contents(session)["next_chunk_index"]


def test_other_writes_stand() -> None:
    """An attr, and an object that is not staged, keep what was written before the exception."""
    session = opened()
    poses, anchor = {"a": tail(1)}, torch.zeros(1, 4)
    with pytest.raises(Failed), session.transaction():
        session.poses_seen = poses
        session.anchor = anchor
        raise Failed
    assert poses is session.poses_seen and anchor is session.anchor
    assert anchor is session.object("anchor").view(include_staged=False)


def test_a_reset_drops_what_is_staged_of_the_fields_that_it_clears() -> None:
    """Those that survive it keep both contents."""
    session = opened()
    write_all(session, 1)
    session.commit()
    write_all(session, 2)
    session.reset_window()
    held = plain(contents(session))
    assert (0, 0) == tuple(held["next_chunk_index"])
    assert [[1, 2], [2, 3]] == held["seen_ids"]
    assert [[], []] == held["thumbnails"]
    assert torch.equal(torch.cat([chunk(1), chunk(1, 2)], 1), contents(session)["frames"][0])


def test_a_field_that_fails_to_reset_comes_back_with_its_object() -> None:
    """The object that a failed reset took out of the session is in it again."""
    session = opened()
    write_all(session, 1)
    held, before = session.object("camera_tail"), plain(contents(session))

    def refuse() -> None:
        raise OSError

    held.reset = refuse
    with pytest.raises(OSError), session.transaction():
        session.reset_session()
    assert held is session.object("camera_tail")
    assert before == plain(contents(session))


def test_what_is_derived_goes_when_its_source_reads_otherwise() -> None:
    """A carried value is cleared by a staged write and by a discard, and kept by a commit."""
    session = opened()
    session.frame_index = torch.zeros(1, 8, dtype=torch.int64)
    session.frames = chunk(1)
    assert session.frame_index is None
    index = session.frame_index = torch.ones(1, 8, dtype=torch.int64)
    session.commit()
    assert index is session.frame_index
    with pytest.raises(Failed), session.transaction():
        session.frames = chunk(2)
        session.frame_index = torch.ones(1, 8, dtype=torch.int64)
        raise Failed
    assert session.frame_index is None
    session.append_frames(chunk(3))
    session.frame_index = index
    session.discard()
    assert session.frame_index is None


def test_what_is_derived_and_staged_comes_back_with_its_source() -> None:
    """Its clearing is staged too."""
    session = opened()
    session.camera_tail, session.pose_scale = tail(1), 2.0
    session.commit()
    session.camera_tail = tail(2)
    assert session.pose_scale is None
    assert 2.0 == session.object("pose_scale").view(include_staged=False)
    session.discard()
    assert 2.0 == session.pose_scale
    session.camera_tail = tail(3)
    session.commit()
    assert session.object("pose_scale").view(include_staged=False) is None


def test_a_mutable_default_is_made_anew_for_each_session() -> None:
    """What one session does to its list is not seen in another, and a reset makes a new one."""
    manager = SessionStateManager()
    first, second = StagedSession("a", manager), StagedSession("b", manager)
    first.seen_ids.append(1)
    assert [1] == first.seen_ids and [] == second.seen_ids
    first.reset_session()
    assert [] == first.seen_ids


def test_a_closed_session_refuses_and_holds_nothing() -> None:
    """Nothing is committed, discarded or brought back; reading gives defaults."""
    manager = SessionStateManager()
    session = StagedSession("robot-7", manager)
    write_all(session, 1)
    with pytest.raises(Failed), session.transaction():
        manager.drop_session("robot-7")
        raise Failed
    refused = "session 'robot-7' is closed, so field 'next_chunk_index'"
    for use in (session.commit, session.discard, lambda: session.transaction().__enter__()):
        with pytest.raises(SessionClosed, match=refused):
            use()
    with pytest.raises(SessionClosed, match=refused):
        session.next_chunk_index = 1
    assert {} == session.nbytes_by_device()
    assert 0 == session.next_chunk_index and session.frames is None and [] == session.seen_ids


def test_a_session_that_is_closed_inside_a_transaction_cannot_be_committed() -> None:
    """The end of the block says so."""
    manager = SessionStateManager()
    session = StagedSession("robot-7", manager)
    with pytest.raises(SessionClosed), session.transaction():
        session.next_chunk_index = 1
        manager.drop_session("robot-7")
    assert {} == session.nbytes_by_device()


def test_the_newest_count_where_all_is_staged() -> None:
    """A ring and a buffer keep their bound in what is staged, and when it is committed."""
    session = opened()
    for seed in range(9):
        session.append_thumbnails(thumbnail(seed))
        session.append_frames(chunk(seed))
    for _ in range(2):
        assert [3, 4, 5, 6, 7, 8] == [int(one[0, 0, 0]) for one in session.thumbnails]
        assert [6.0, 7.0, 8.0] == session.frames[0, :, 0, 0].tolist()  # type: ignore[index]
        assert 6 == len(session.thumbnails) and 3 == len(session.object("frames"))
        session.commit()


@pytest.mark.parametrize("name", STAGED)
def test_an_object_of_a_staged_field_commits_and_discards_by_itself(name: str) -> None:
    """By hand, one field at a time, and none of the others."""
    session = opened()
    write_all(session, 1)
    before = plain(contents(session))
    session.object(name).commit()
    after = plain(contents(session))
    assert [before[name][1], before[name][1]] == after.pop(name)
    before.pop(name)
    assert before == after
    session.object(name).discard()
