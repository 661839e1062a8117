"""Readers beside a thread that clears or ends the session: they see values or nothing, never a gap."""

import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import torch
from session_state import SessionClosed, SessionStateManager

from generated.dreamzero import DreamZeroSession

SECONDS = 1.0


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    """Threads take turns a thousand times more often than they would."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def beside(read: Callable[[], object], write: Callable[[], object]) -> list[BaseException]:
    """What reading raises in one thread while another writes, for a second."""
    errors: list[BaseException] = []
    end = time.monotonic() + SECONDS

    def reading() -> None:
        while time.monotonic() < end and not errors:
            try:
                read()
            except BaseException as error:
                errors.append(error)

    thread = threading.Thread(target=reading)
    thread.start()
    while time.monotonic() < end and not errors:
        write()
    thread.join()
    return errors


@pytest.mark.parametrize(
    "field", ["vae_encoder_out", "video_latents", "stitched_buffer", "language"]
)
@pytest.mark.parametrize("how", ["reset", "drop"])
def test_reading_beside_a_reset_or_a_drop(field: str, how: str) -> None:
    """Every read gives a value or emptiness while the session is cleared and ended over and over."""
    manager = SessionStateManager()
    view = [DreamZeroSession("a", manager)]

    def read() -> None:
        value = getattr(view[0], field)
        if field == "stitched_buffer":
            list(value)

    def write() -> None:
        session = view[0]
        session.vae_encoder_out = torch.zeros(1, 2, 3, 1, 1)
        session.append_video_latents(torch.zeros(1, 2, 1, 1, 1))
        session.language = torch.zeros(1)
        if how == "reset":
            session.reset_session()
        else:
            manager.drop_session("a")
            view[0] = DreamZeroSession("a", manager)

    assert [] == beside(read, write)


def test_writing_beside_drops_raises_nothing_but_closed() -> None:
    """A write either lands or is refused as closed."""
    manager = SessionStateManager()
    view = [DreamZeroSession("a", manager)]

    def write() -> None:
        try:
            view[0].language = torch.zeros(1)
        except SessionClosed:
            view[0] = DreamZeroSession("a", manager)

    assert [] == beside(write, lambda: manager.drop_session("a"))
