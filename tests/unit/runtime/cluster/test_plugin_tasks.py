"""Tasks of plugins: start-up tasks in order, recurring tasks by the clock of the application."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

import pytest

from holdfast.runtime.cluster.plugin_tasks import PluginTasks, RecurringTask
from holdfast.testing.clock import VirtualClock

MINUTE = timedelta(minutes=1)


class Recorder:
    def __init__(self) -> None:
        self.runs: asyncio.Queue[str] = asyncio.Queue()
        self.error: Exception | None = None

    async def run(self) -> None:
        self.runs.put_nowait("run")
        if self.error is not None:
            raise self.error

    async def next(self) -> str:
        async with asyncio.timeout(10):
            return await self.runs.get()


async def test_start_up_tasks_run_in_order_before_the_recurring_ones() -> None:
    order: list[str] = []

    async def first() -> None:
        await asyncio.sleep(0)
        order.append("first")

    async def second() -> None:
        order.append("second")

    tasks = PluginTasks(VirtualClock(jump=False), [first, second], [])
    await tasks.start()
    await tasks.stop()

    assert order == ["first", "second"]


async def test_the_error_of_a_start_up_task_is_raised() -> None:
    broken = Recorder()
    broken.error = RuntimeError("no licence")

    with pytest.raises(RuntimeError, match="no licence"):
        await PluginTasks(VirtualClock(), [broken.run], []).start()


async def test_a_recurring_task_runs_each_interval_also_after_an_error(caplog: pytest.LogCaptureFixture) -> None:
    clock, task = VirtualClock(jump=False), Recorder()
    task.error = ValueError("broken")
    tasks = PluginTasks(clock, [], [RecurringTask("sync", MINUTE, task.run)])
    await tasks.start()
    await clock.waited(1)
    assert task.runs.empty()

    with caplog.at_level(logging.ERROR, "holdfast"):
        clock.advance(MINUTE)
        assert await task.next() == "run"
        await clock.waited(2)
    assert "The recurring task 'sync' failed" in caplog.text
    clock.advance(MINUTE)
    assert await task.next() == "run"
    await tasks.stop()
    clock.advance(MINUTE)
    await asyncio.sleep(0)

    assert task.runs.empty()
