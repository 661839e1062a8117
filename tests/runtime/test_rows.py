"""What an operator sees: a row per session, and how a manager and a session show themselves."""

import html
import re
from typing import Any

import pytest
import torch
from session_state import SessionStateManager
from session_state.objects import LatentBuffer
from session_state.show import by_device, readable

from generated.dreamzero import DreamZeroSession

from .values import T


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_row_per_session() -> None:
    """Id, class, status, idle seconds, steps, held and exclusive bytes, in the order of last use."""
    clock = Clock()
    manager = SessionStateManager(clock=clock)
    with manager.session(DreamZeroSession, "robot-7") as view:
        view.ys = shared = T(40)
        view.clip_feas = T(2)
    clock.now = 5.0
    other = DreamZeroSession("robot-8", manager)
    other.ys = shared
    clock.now = 12.0
    with manager.session(DreamZeroSession, "robot-9"):
        clock.now = 15.0
        first, second, third = manager.sessions()
    assert ("robot-7", "DreamZeroSession", "idle", 15.0, 1) == (
        *(first.session_id, first.cls, first.status, first.idle_seconds, first.steps),
    )
    assert ({"cpu": 42}, {"cpu": 2}) == (first.held, first.exclusive)
    assert ("robot-8", 10.0, 0, {"cpu": 40}, {}) == (
        *(second.session_id, second.idle_seconds, second.steps, second.held, second.exclusive),
    )
    assert ("leased", 0.0, 3.0) == (third.status, third.idle_seconds, third.leased_seconds)


def test_every_status() -> None:
    """leased, idle, failed, detached and closed."""
    manager = SessionStateManager(max_sessions=3)
    views = {key: DreamZeroSession(key, manager) for key in ("detached", "closed", "failed")}
    manager.drop_session("closed")
    views["failed"]._status.fail("vae_enc_feat_map")
    manager.get_or_create_session("idle")
    with manager.session(DreamZeroSession, "leased"):
        rows = {row.session_id: row.status for row in manager.sessions()}
    assert {key: key for key in ("leased", "idle", "failed", "detached", "closed")} == rows


def test_what_cannot_be_seen_is_named_by_session_and_field() -> None:
    """A count in `stats()`, who and where in the rows."""
    manager = SessionStateManager()
    session = manager.get_or_create_session("a")
    session.attrs["noise"] = torch.Generator()
    assert 1 == manager.stats()["unaccounted"]
    (row,) = manager.sessions()
    assert {"noise": ("torch._C.Generator",)} == row.unaccounted
    session.attrs.clear()
    assert 0 == manager.stats()["unaccounted"]


def test_a_manager_shows_itself() -> None:
    """In a line, and as a table of the largest sessions."""
    manager = SessionStateManager(max_sessions=9)
    for at in range(3):
        DreamZeroSession(f"robot-{at}", manager).ys = T(1024 * (at + 1))
    manager.stats()
    assert "<SessionStateManager 3 of 9 sessions, 6.0 KiB on cpu>" == repr(manager)
    shown = re.findall("<td[^>]*>(robot-[0-9])<", manager._repr_html_())
    assert ["robot-2", "robot-1", "robot-0"] == shown


def test_a_session_shows_its_fields() -> None:
    """The largest first, each with its bytes as last published; nothing is walked for it."""
    manager = SessionStateManager()
    view = DreamZeroSession("robot-7", manager)
    view.ys, view.clip_feas = T(10), T(2048)
    assert "<DreamZeroSession 'robot-7' open>" == repr(view)
    manager.stats()
    view.language = T(5)
    assert "<DreamZeroSession 'robot-7' open, 2.0 KiB on cpu>" == repr(view)
    fields = re.findall("<tr><td[^>]*>([a-z_]+)<", view._repr_html_())
    assert ["clip_feas", "ys"] == fields[:2]


def test_an_object_and_a_lease_show_whose_they_are() -> None:
    """An object names its field and session; a lease that nobody opened says how to."""
    manager = SessionStateManager()
    view = DreamZeroSession("robot-7", manager)
    ring = "<FrameRing 'vae_encoder_out' of session 'robot-7'>"
    assert ring == repr(view.object("vae_encoder_out"))
    assert "<LatentBuffer of no session>" == repr(LatentBuffer[int]())
    lease = manager.session(DreamZeroSession, "robot-7")
    assert "<Lease of session 'robot-7': open it with `with`>" == repr(lease)
    with lease:
        assert "<Lease of session 'robot-7': held>" == repr(lease)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a&b", '"><b>', "'"])
def test_ids_are_text_in_a_notebook(text: str) -> None:
    """An id of a client is no markup."""
    manager = SessionStateManager()
    view = DreamZeroSession(text, manager)
    for shown in (manager._repr_html_(), view._repr_html_()):
        assert html.escape(text) in shown
        assert not re.search("<(?!/?(table|caption|thead|tbody|tr|th|td)[ >])", shown)


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (632586240, "603.3 MiB"),
        (2**50, "1024.0 TiB"),
    ],
)
def test_bytes_as_people_read_them(nbytes: int, text: str) -> None:
    """In powers of 1024."""
    assert text == readable(nbytes)


def test_bytes_by_device_in_one_phrase() -> None:
    """In the order of the devices, without those that hold nothing."""
    held: dict[str, Any] = {"cuda:0": 2048, "cpu": 10, "cuda:1": 0}
    assert "10 B on cpu, 2.0 KiB on cuda:0" == by_device(held)
