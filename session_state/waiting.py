"""Queues of threads and tasks that wait for a session, or for a place in the table."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from math import inf
from threading import TIMEOUT_MAX, Lock


class Ticket(ABC):
    """One who waits. Waking it means: try again; it keeps its turn until it leaves the queue."""

    __slots__ = ("key", "is_queued", "spare")

    def __init__(self) -> None:
        self.key: str | None = None
        self.is_queued = False
        self.prepare()

    def prepare(self) -> None:
        """Get ready for another try: a queue may be needed, and the lock is no place to make one."""
        self.spare: deque[Ticket] = deque()

    @abstractmethod
    def wake(self) -> bool:
        """Make it try again; False when there is nobody left to wake. Never blocks."""


class ThreadTicket(Ticket):
    """A thread that waits."""

    __slots__ = ("_asleep",)

    def __init__(self) -> None:
        super().__init__()
        self._asleep = Lock()
        self._asleep.acquire()

    def wait(self, seconds: float) -> bool:
        """Sleep until woken; False when that took longer than `seconds`."""
        return self._asleep.acquire(timeout=min(max(seconds, 0.0), TIMEOUT_MAX))

    def wake(self) -> bool:
        # RuntimeError when it is awake already.
        with suppress(RuntimeError):
            self._asleep.release()
        return True


class TaskTicket(Ticket):
    """A task that waits; its event loop goes on."""

    __slots__ = ("_loop", "_woken")

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()

    async def wait(self, seconds: float) -> bool:
        """Sleep until woken; False when that took longer than `seconds`."""
        try:
            async with asyncio.timeout(None if seconds == inf else max(seconds, 0.0)):
                await self._woken.wait()
        except TimeoutError:
            return False
        self._woken.clear()
        return True

    def wake(self) -> bool:
        try:
            self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:
            # The loop was closed before its task could leave.
            return False
        return True


class Queues(dict[str | None, deque[Ticket]]):
    """Who waits for which session, and under None for a place; first come, first served.

    It has no queue that is empty. `join` and `leave` are for the holder of the table's lock.
    """

    def is_behind(self, key: str | None, ticket: Ticket | None) -> bool:
        """Whether somebody else is first in the queue for `key`."""
        first = self.first(key)
        return first is not None and first is not ticket

    def join(self, key: str | None, ticket: Ticket | None) -> None:
        """Wait for `key`; one that waits for it already keeps its turn."""
        if ticket is None or (ticket.is_queued and ticket.key == key):
            return
        self.leave(ticket)
        ticket.key, ticket.is_queued = key, True
        self.setdefault(key, ticket.spare).append(ticket)

    def leave(self, ticket: Ticket) -> None:
        """Wait no longer."""
        if not ticket.is_queued:
            return
        ticket.is_queued = False
        queue = self[ticket.key]
        queue.remove(ticket)
        if not queue:
            del self[ticket.key]

    def first(self, key: str | None) -> Ticket | None:
        """Whose turn it is to have `key`."""
        try:
            return self[key][0]
        except LookupError:
            return None
