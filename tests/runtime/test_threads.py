"""Many threads over many sessions: no update is lost, nobody waits for ever, the books agree."""

import contextlib
import faulthandler
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest
import torch
from session_state import SessionBusy, SessionStateManager

from generated.dreamzero import DreamZeroSession

SECONDS = float(os.environ.get("SESSION_STATE_THREADS_SECONDS", "3"))
WATCHDOG = SECONDS * 10 + 60
IDS = [f"s{number}" for number in range(64)]


class Work:
    """What the threads share, and what they counted besides."""

    def __init__(self) -> None:
        self.manager = SessionStateManager(max_sessions=48)
        self.end = time.monotonic() + SECONDS
        self.lock = threading.Lock()
        self.hooks = 0
        self.told: Counter[str] = Counter()
        self.errors: list[BaseException] = []

    def step(self, key: str) -> None:
        """One read, one write and a count of its own, under a lease."""
        with self.manager.session(DreamZeroSession, key, wait=1.0) as session:
            if session.call_count == 0:
                with self.lock:
                    self.hooks += 1
                session._session.on_close(self.tell)
            before = session.call_count
            session.ys = torch.zeros(before % 7 + 1)
            session.append_video_latents(torch.ones(1, 1, 1))
            time.sleep(0)
            assert session.ys.shape[0] == before % 7 + 1
            assert session.call_count == before
            session.call_count = before + 1

    def tell(self, session_id: str, why: str) -> None:
        assert session_id in IDS
        with self.lock:
            self.told[why] += 1

    def act(self, draw: random.Random) -> None:
        key = draw.choice(IDS)
        match draw.randrange(12):
            case 0:
                self.manager.close(key)
            case 1:
                with contextlib.suppress(KeyError, SessionBusy):
                    self.manager.reset(key)
            case 2:
                self.manager.get_or_create_session(key)
            case 3:
                self.manager.sweep(SECONDS)
            case _:
                with contextlib.suppress(SessionBusy):
                    self.step(key)

    def run(self, seed: int) -> None:
        draw = random.Random(seed)
        try:
            while time.monotonic() < self.end and not self.errors:
                self.act(draw)
        except BaseException as error:
            self.errors.append(error)

    def count(self) -> None:
        try:
            while time.monotonic() < self.end and not self.errors:
                stats = self.manager.stats()
                assert stats["sessions"] <= len(IDS)
        except BaseException as error:
            self.errors.append(error)


@pytest.fixture(autouse=True)
def _watchdog() -> Iterator[None]:
    """A deadlock shows where every thread stands, and ends the run."""
    faulthandler.dump_traceback_later(WATCHDOG, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def test_eight_threads_over_64_sessions_beside_one_that_counts() -> None:
    """They open, step, reset, close and evict; in the end there is no lease and the books agree."""
    work = Work()
    threads = [threading.Thread(target=work.run, args=(seed,)) for seed in range(8)]
    threads.append(threading.Thread(target=work.count))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG)
    assert work.errors == []
    manager = work.manager
    assert not manager.close("nobody")
    records = manager._table.snapshot()
    assert [record.lease for record in records] == [None] * len(records)
    assert not manager._table.queues
    assert len(manager) <= 48
    stats = manager.stats()
    ended = sum(count for key, count in stats.items() if key.startswith("closed:"))
    assert ended == stats["misses"] - len(manager)
    assert manager.audit() == []
    manager.close_all()
    assert sum(work.told.values()) == work.hooks
    assert "nbytes:cpu" not in manager.stats()
