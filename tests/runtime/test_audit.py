"""The audit: it says nothing while the books are right, and finds what the books got wrong."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from session_state import Drift, LatentBuffer, SessionStateManager
from session_state.addresses import Addresses
from session_state.extents import Extent, Extents, Place
from session_state.ledger import Ledger
from session_state.survey import Surveyor

from generated.dreamzero import DreamZeroSession

from .values import T

Patch = pytest.MonkeyPatch


def scenario() -> list[Drift]:
    """Sessions that share, overlap, stage, grow, let go and leave; then what the audit says."""
    manager = SessionStateManager(max_sessions=3)
    first, second = (DreamZeroSession(key, manager) for key in ("first", "second"))
    shared = torch.zeros(100)
    first.ys = second.ys = shared
    first.clip_feas = torch.from_numpy(shared.numpy()[10:60])
    second.language = torch.from_numpy(torch.zeros(30).numpy()[3:])
    first.vae_enc_feat_map = [T(40), None, T(80)]
    second.prompt_embeds = T(50)
    first.append_video_latents(torch.zeros(1, 1, 4))
    buffer = second._session.put("kept", LatentBuffer[Any]())
    buffer.allocate()
    buffer.stage(T(500))
    manager.stats()
    second.prompt_embeds.untyped_storage().resize_(800)
    feature_map = first.vae_enc_feat_map
    feature_map[0] = T(44)
    assert first.ys is second.ys
    manager.stats()
    feature_map[1] = T(12)
    first.call_count = 2
    manager.stats()
    second.ys = None
    manager.stats()
    second.language = T(9)
    third = DreamZeroSession("third", manager)
    third.prompt_embeds = T(60)
    manager.stats()
    third.reset_session()
    third.clip_feas = third.ys = T(33)
    fourth, fifth = (DreamZeroSession(key, manager) for key in ("fourth", "fifth"))
    fourth.ys = fifth.ys = T(21)
    fourth.clip_feas = third.clip_feas
    manager.drop_session("fifth")
    return manager.audit()


def test_the_books_of_the_scenario_are_right() -> None:
    """What the planted mistakes below are compared with."""
    assert [] == scenario()


def count_a_byte_too_few(patch: Patch) -> None:
    at = Extents.at
    patch.setattr(Extents, "at", lambda self, *where: at(self, *where[:2], where[2] - 1))


def keep_what_was_let_go_of(patch: Patch) -> None:
    patch.setattr(Extents, "unclaim", lambda *args: True)


def keep_the_dead(patch: Patch) -> None:
    patch.setattr(Extents, "kill", lambda *args: None)


def count_shared_bytes_per_session(patch: Patch) -> None:
    def tally_shared(self: Extents, device: str, change: int, claims: Any) -> None:
        for claimant in claims:
            claimant.books.held[device] += change
            self.totals.at[claimant.books.place][device] += change

    patch.setattr(Extents, "_tally_shared", tally_shared)


def overlook_overlaps(patch: Patch) -> None:
    def insert(self: Extents, extent: Extent) -> Extent:
        while (extent.device, extent.start) in self._regions:
            extent.start += 1 << 60
        self._addresses.setdefault(extent.device, Addresses())
        self._list([extent])
        return extent

    patch.setattr(Extents, "_insert", insert)


def leave_the_evicted_in_the_table(patch: Patch) -> None:
    patch.setattr(Extents, "move", lambda *args: None)


def overlook_resized_storages(patch: Patch) -> None:
    patch.setattr("session_state.layouts._sizes", lambda values, holders: [10] * len(values))


def overlook_lists_that_grew(patch: Patch) -> None:
    patch.setattr(Surveyor, "is_unchanged", lambda *args: True)


def overlook_what_is_staged(patch: Patch) -> None:
    survey = Surveyor.survey
    patch.setattr(Surveyor, "survey", lambda *args: survey(*args)._replace(staged={}))


def count_staged_as_committed(patch: Patch) -> None:
    def survey(*args: Any) -> Any:
        found = original(*args)
        return found._replace(committed=found.committed | found.staged, staged={})

    original = Surveyor.survey
    patch.setattr(Surveyor, "survey", survey)


def never_end(patch: Patch) -> None:
    patch.setattr(Ledger, "_end", lambda *args: None)


def prefer_the_older_survey(patch: Patch) -> None:
    enter = Ledger._enter
    patch.setattr(
        Ledger, "_enter", lambda self, account, at, found: enter(self, account, -at, found)
    )


MISTAKES = (
    count_a_byte_too_few,
    keep_what_was_let_go_of,
    keep_the_dead,
    count_shared_bytes_per_session,
    overlook_overlaps,
    leave_the_evicted_in_the_table,
    overlook_resized_storages,
    overlook_lists_that_grew,
    overlook_what_is_staged,
    count_staged_as_committed,
    never_end,
    prefer_the_older_survey,
)


@pytest.mark.parametrize("plant", MISTAKES)
def test_a_planted_mistake_is_found(plant: Callable[[Patch], None], monkeypatch: Patch) -> None:
    """The audit uses nothing of the ledger's sums, so that no mistake in them hides itself."""
    plant(monkeypatch)
    assert [] != scenario()


def test_a_change_through_an_alias_is_reported_to_the_byte() -> None:
    """By session, field and device; the next touch takes it into the books."""
    manager = SessionStateManager()
    view, kept = DreamZeroSession("a", manager), [T(10)]
    view.vae_enc_feat_map = list(kept)
    grown = view.vae_enc_feat_map
    manager.stats()
    assert grown is not None
    grown += [T(30), T(4)]
    assert [Drift("a", "vae_enc_feat_map", "cpu", 10, 44)] == manager.audit()
    assert 10 == manager.stats()["nbytes:cpu"]
    view.call_count += 1
    assert 44 == manager.stats()["nbytes:cpu"]
    grown[0].untyped_storage().resize_(6)
    assert [-4] == [drift.nbytes for drift in manager.audit()]


def test_a_leased_session_is_as_of_its_last_publication() -> None:
    """stats() does not walk it; the audit does, and the end of the lease publishes."""
    manager = SessionStateManager()
    with manager.session(DreamZeroSession, "a") as view:
        view.ys = T(64)
        assert 0 == manager.stats()["total_nbytes"]
        assert [Drift("a", "ys", "cpu", 0, 64)] == manager.audit()
    assert 64 == manager.stats()["total_nbytes"]
    assert [] == manager.audit()


def test_places_are_in_the_order_in_which_they_claim() -> None:
    """Bytes that several hold count where the first of them is."""
    assert [Place.TABLE, Place.DETACHED, Place.LINGERING] == sorted(Place)
