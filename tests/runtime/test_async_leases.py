"""Leases of tasks: the loop goes on, and a cancelled task leaves nothing behind."""

import asyncio
import threading
import time

import pytest
from session_state import SessionBusy, SessionStateManager

from generated.dreamzero import DreamZeroSession

PATIENCE = 20.0


async def until_waiting(manager: SessionStateManager, count: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while len(manager._table.queues.get("a", ())) != count:
            await asyncio.sleep(0)


def leased(manager: SessionStateManager) -> bool:
    record = manager._table.records.get("a")
    return record is not None and record.lease is not None


def test_a_lease_is_an_asynchronous_context_manager() -> None:
    """It gives the view, and the session is free afterwards."""
    manager = SessionStateManager()

    async def step() -> int:
        async with manager.session(DreamZeroSession, "a", vae_encoder_window=3) as session:
            session.call_count += 1
            with pytest.raises(SessionBusy):
                async with manager.session(DreamZeroSession, "a", vae_encoder_window=3):
                    pass
            return session.call_count

    assert [asyncio.run(step()), asyncio.run(step())] == [1, 2]
    assert not leased(manager)


def test_waiting_tasks_are_served_in_their_order_and_the_loop_goes_on() -> None:
    """Another task runs while they wait."""
    manager, order, ticks = SessionStateManager(), list[int](), list[int]()

    async def step(number: int) -> None:
        async with manager.session(DreamZeroSession, "a", wait=PATIENCE):
            order.append(number)
            await asyncio.sleep(0.001)

    async def tick() -> None:
        while len(order) < 5:
            ticks.append(len(order))
            await asyncio.sleep(0)

    async def main() -> None:
        async with manager.session(DreamZeroSession, "a"):
            tasks = []
            for number in range(5):
                tasks.append(asyncio.create_task(step(number)))
                await until_waiting(manager, number + 1)
            beside = asyncio.create_task(tick())
            await asyncio.sleep(0.01)
        await asyncio.gather(beside, *tasks)

    asyncio.run(main())
    assert order == [0, 1, 2, 3, 4]
    assert set(ticks) >= {0, 4}
    assert not manager._table.queues


def test_a_task_that_is_cancelled_inside_a_lease_gives_it_back() -> None:
    """There is no lease, and the session is as it was."""
    manager = SessionStateManager()

    async def main() -> None:
        inside = asyncio.Event()

        async def step() -> None:
            async with manager.session(DreamZeroSession, "a") as session:
                session.call_count = 7
                inside.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(step())
        await inside.wait()
        assert leased(manager)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not leased(manager)
        async with manager.session(DreamZeroSession, "a") as session:
            assert session.call_count == 7

    asyncio.run(main())


def test_a_task_that_is_cancelled_while_it_waits_leaves_the_queue() -> None:
    """Those behind it move up."""
    manager, order = SessionStateManager(), list[int]()

    async def step(number: int) -> None:
        async with manager.session(DreamZeroSession, "a", wait=PATIENCE):
            order.append(number)

    async def main() -> None:
        async with manager.session(DreamZeroSession, "a"):
            tasks = []
            for number in range(3):
                tasks.append(asyncio.create_task(step(number)))
                await until_waiting(manager, number + 1)
            tasks[0].cancel()
            await asyncio.sleep(0)
            await until_waiting(manager, 2)
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert order == [1, 2]
    assert not leased(manager) and not manager._table.queues


def test_a_task_that_is_cancelled_when_its_turn_has_come_hands_it_on() -> None:
    """It was woken and did not run again: the next one must not sleep for ever."""
    manager, order = SessionStateManager(), list[int]()

    async def step(number: int) -> None:
        async with manager.session(DreamZeroSession, "a", wait=PATIENCE):
            order.append(number)

    async def main() -> None:
        lease = manager.session(DreamZeroSession, "a")
        await lease.__aenter__()
        tasks = []
        for number in range(2):
            tasks.append(asyncio.create_task(step(number)))
            await until_waiting(manager, number + 1)
        await lease.__aexit__(None, None, None)
        tasks[0].cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE)

    asyncio.run(main())
    assert order == [1]
    assert not leased(manager)


def test_a_task_waits_no_longer_than_it_said() -> None:
    """The error is that of a thread."""
    manager = SessionStateManager()

    async def main() -> None:
        async with manager.session(DreamZeroSession, "a"):
            begin = time.monotonic()
            with pytest.raises(SessionBusy, match=r"waited 0\.05 s"):
                async with manager.session(DreamZeroSession, "a", wait=0.05):
                    pass
            assert 0.05 <= time.monotonic() - begin < PATIENCE

    asyncio.run(main())


def test_loops_of_several_threads_share_one_queue() -> None:
    """Each step sees the one before, whichever loop it ran in."""
    manager, errors = SessionStateManager(), list[BaseException]()

    async def steps() -> None:
        async def step() -> None:
            async with manager.session(DreamZeroSession, "a", wait=PATIENCE) as session:
                before = session.call_count
                await asyncio.sleep(0)
                session.call_count = before + 1

        await asyncio.gather(*(step() for _ in range(10)))

    def run() -> None:
        try:
            asyncio.run(steps())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert errors == []
    assert DreamZeroSession("a", manager).call_count == 40


def test_a_loop_that_was_closed_keeps_nobody_waiting() -> None:
    """A task that never runs again is passed over."""
    manager = SessionStateManager()
    lease = manager.session(DreamZeroSession, "a")
    lease.__enter__()

    async def step() -> None:
        async with manager.session(DreamZeroSession, "a", wait=PATIENCE):
            pass

    loop = asyncio.new_event_loop()
    task = loop.create_task(step())
    loop.run_until_complete(until_waiting(manager, 1))
    loop.close()
    lease.__exit__(None, None, None)
    with manager.session(DreamZeroSession, "a"):
        pass
    task._log_destroy_pending = False  # type: ignore[attr-defined]
