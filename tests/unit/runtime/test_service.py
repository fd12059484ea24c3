"""Background work of a node: periodic rounds, one-off tasks, and the reliable end of both."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast.runtime import service
from holdfast.runtime.observability.outage_log import OutageLog


async def test_all_have_ended() -> None:
    tasks = [asyncio.create_task(asyncio.Event().wait()) for _ in range(3)]

    await service.end_tasks(tasks)

    assert all(task.cancelled() for task in tasks)
    await service.end_tasks(tasks)
    await service.end_tasks([])


async def test_one_that_did_not_hear_it_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "CANCEL_AGAIN_AFTER", 0.01)
    deaf = 2

    async def hardly_hears() -> None:
        nonlocal deaf
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not deaf:
                    raise
                deaf -= 1

    task = asyncio.create_task(hardly_hears())
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        await service.end_tasks([task])

    assert (task.cancelled(), deaf) == (True, 0)


# -- periodic service --------------------------------------------------------------------------------------------------

HOUR = timedelta(hours=1)


class Rounds:
    """A round that notes each call, and returns or raises the given results; later calls return None."""

    def __init__(self, *results: timedelta | Exception | None) -> None:
        self._results = list(results)
        self._ran = asyncio.Semaphore(0)
        self.count = 0

    async def __call__(self) -> timedelta | None:
        self.count += 1
        self._ran.release()
        found = self._results.pop(0) if self._results else None
        if isinstance(found, Exception):
            raise found
        return found

    async def wait(self, count: int) -> None:
        """Wait until so many more rounds have run."""
        async with asyncio.timeout(30):
            for _ in range(count):
                await self._ran.acquire()


def periodic(rounds: Rounds, every: Any = HOUR, **more: Any) -> service.PeriodicService:
    return service.PeriodicService("sweeper", rounds, every=every, failure="sweep failed", log=OutageLog("n"), **more)


async def test_wake_ends_the_pause() -> None:
    rounds = Rounds()
    sweeper = periodic(rounds)
    assert not sweeper.is_running
    sweeper.start()
    await rounds.wait(1)
    assert sweeper.is_running

    sweeper.wake()
    await rounds.wait(1)
    await sweeper.stop()
    assert (rounds.count, sweeper.is_running) == (2, False)


async def test_a_wake_during_a_round_is_not_lost() -> None:
    inside, go_on = asyncio.Event(), asyncio.Event()
    rounds = Rounds()

    async def slow() -> timedelta | None:
        inside.set()
        await go_on.wait()
        return await rounds()

    sweeper = service.PeriodicService("sweeper", slow, every=HOUR, failure="sweep failed", log=OutageLog("n"))
    sweeper.start()
    await inside.wait()
    sweeper.wake()
    go_on.set()
    await rounds.wait(2)
    await sweeper.stop()


async def test_a_round_that_found_work_is_repeated_at_once() -> None:
    rounds = Rounds(service.NOW, service.NOW, None)
    sweeper = periodic(rounds)
    sweeper.start()
    await rounds.wait(3)
    await sweeper.stop()

    assert rounds.count == 3


async def test_the_usual_pause_may_be_computed_for_each_round() -> None:
    pauses = [service.NOW, service.NOW, HOUR]
    rounds = Rounds()
    sweeper = periodic(rounds, every=lambda: pauses.pop(0))
    sweeper.start()
    await rounds.wait(3)
    await sweeper.stop()

    assert pauses == []


async def test_a_round_that_fails_is_logged_and_repeated(caplog: pytest.LogCaptureFixture) -> None:
    rounds = Rounds(ValueError("broken"))
    sweeper = periodic(rounds, every=service.NOW)
    sweeper.start()
    await rounds.wait(2)
    await sweeper.stop()

    assert [item.message for item in caplog.records] == ["sweep failed"]


async def test_a_service_that_pauses_first_runs_when_it_is_woken() -> None:
    rounds = Rounds()
    sweeper = periodic(rounds, pause_first=True)
    sweeper.start()
    await asyncio.sleep(0)
    assert rounds.count == 0

    sweeper.wake()
    await rounds.wait(1)
    await sweeper.stop()


async def test_a_service_that_never_started_can_be_stopped() -> None:
    await periodic(Rounds()).stop()


# -- background tasks --------------------------------------------------------------------------------------------------


async def test_wait_returns_when_every_task_has_ended() -> None:
    tasks, go_on, done = service.BackgroundTasks("work failed"), asyncio.Event(), list[int]()

    async def work(number: int) -> None:
        await go_on.wait()
        done.append(number)

    for number in (1, 2):
        tasks.start(work(number))
    assert len(tasks) == 2

    go_on.set()
    await tasks.wait()
    assert (done, len(tasks)) == ([1, 2], 0)
    await tasks.wait()


async def test_the_error_of_a_task_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    tasks = service.BackgroundTasks("work failed")

    async def fail() -> None:
        raise ValueError("broken")

    tasks.start(fail())
    await tasks.wait()

    (record,) = caplog.records
    assert (record.levelname, record.message) == ("ERROR", "work failed")
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], ValueError)


async def test_stop_cancels_tasks_without_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    tasks = service.BackgroundTasks("work failed")
    task = tasks.start(asyncio.Event().wait())
    await tasks.stop()

    assert (task.cancelled(), len(tasks), caplog.text) == (True, 0, "")
