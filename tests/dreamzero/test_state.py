"""DreamZero's own part: what it refuses, what it keeps alive, and what eviction leaves."""

import numpy as np
import pytest
import torch
from session_state.accounting import walk
from session_state.manager import SessionStateManager

from examples.dreamzero.state import DreamZeroState


@pytest.fixture
def state() -> DreamZeroState:
    return DreamZeroState("robot", SessionStateManager())


def test_frames_of_a_clip_do_not_keep_the_clip(state: DreamZeroState) -> None:
    """After a clip of 100 frames the ring holds the bytes of four."""
    state.accumulate_frames(np.zeros((100, 6, 8, 3), np.uint8))
    assert 4 * 6 * 8 * 3 == state.object("stitched_buffer").nbytes


def test_a_frame_cut_from_a_clip_does_not_keep_the_clip(state: DreamZeroState) -> None:
    """A single frame that is a view of a clip is held as that frame alone."""
    state.accumulate_frames(np.zeros((100, 6, 8, 3), np.uint8)[7])
    assert 6 * 8 * 3 == state.object("stitched_buffer").nbytes


def test_a_chunk_cut_from_a_rollout_does_not_keep_the_rollout(state: DreamZeroState) -> None:
    """A chunk that is a slice of all latents is held as that chunk alone."""
    state.append_video_latents(torch.zeros(1, 50, 4, 3, 2)[:, 10:12])
    assert {"cpu": 2 * 4 * 3 * 2 * 4} == walk(state.video_latents_across_time, set()).nbytes


def test_the_first_call_reads_one_frame_and_later_ones_a_chunk(state: DreamZeroState) -> None:
    """While frames are few the oldest is repeated in front."""
    frames = np.arange(3, dtype=np.uint8).reshape(3, 1, 1, 1)
    assert [0] == state.accumulate_frames(frames[0]).ravel().tolist()
    assert [0, 0, 0, 1] == state.accumulate_frames(frames[1]).ravel().tolist()
    assert [0, 0, 1, 2] == state.accumulate_frames(frames[2]).ravel().tolist()


def test_frames_of_another_rank_are_refused(state: DreamZeroState) -> None:
    """The error names the session and the field, and nothing was taken."""
    with pytest.raises(ValueError, match="'robot': stitched_buffer"):
        state.accumulate_frames(np.zeros((6, 8), np.uint8))
    assert 0 == len(state.stitched_buffer) == state.call_count


def test_latents_of_another_rank_are_refused(state: DreamZeroState) -> None:
    """The error names the session and the field, and nothing was taken."""
    with pytest.raises(ValueError, match="'robot': video_latents"):
        state.append_video_latents(torch.zeros(1, 4, 3, 2))
    assert state.video_latents is None


def test_a_chunk_before_the_first_frame_is_refused(state: DreamZeroState) -> None:
    """Appending to an encoder stream that was never seeded raises, as by hand."""
    with pytest.raises(RuntimeError, match="'robot': vae_encoder_out has no first frame"):
        state.append_vae_encoder_chunk(torch.zeros(1, 8, 1, 3, 2))


def test_of_five_sessions_the_newest_three_stay() -> None:
    """With a cap of 3 the oldest two leave the table, and the eviction count says so."""
    manager = SessionStateManager(max_sessions=3)
    for name in "abcde":
        DreamZeroState(name, manager)
    assert list("cde") == [name for name in "abcde" if name in manager]
    assert (3, 2) == (len(manager), manager.evictions)


def test_an_evicted_session_that_a_view_holds_keeps_its_state() -> None:
    """The view goes on with its own session; a new view under the id begins an empty one."""
    manager = SessionStateManager(max_sessions=3)
    held = DreamZeroState("a", manager)
    held.language = torch.ones(1, 4)
    held.append_video_latents(torch.ones(1, 2, 4, 3, 2))
    for name in "bcde":
        DreamZeroState(name, manager)
    again = DreamZeroState("a", manager)
    held.call_count += 1
    held.append_video_latents(torch.ones(1, 2, 4, 3, 2))
    latents = held.get_concatenated_video_latents()
    assert latents is not None
    assert (1, 4, 4, 3, 2) == latents.shape
    assert torch.equal(torch.ones(1, 4), held.language)
    assert (1, 0) == (held.call_count, again.call_count)
    assert again.language is None


def test_chunks_appended_or_assigned_from_outside_are_kept() -> None:
    """The list of chunks is the session's own, as it is of the hand-written state."""
    state = DreamZeroState("a", SessionStateManager())
    chunk = torch.ones(1, 2, 1, 3, 2)
    state.video_latents_across_time.append(chunk)
    assert [chunk] == list(state.video_latents_across_time)
    state.video_latents_across_time = [chunk, *state.video_latents_across_time]
    assert 2 == len(state.video_latents_across_time)
    state.video_latents_across_time = []
    assert state.get_concatenated_video_latents() is None
