"""Singleton tasks: of all nodes that find a task due, one runs it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.cluster.plugin_tasks import PluginTasks, RecurringTask
from holdfast.runtime.cluster.singleton_tasks import SingletonTasks
from holdfast.runtime.intake import Intake
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.testing import VirtualClock

MINUTE = timedelta(minutes=1)


async def test_one_node_claims_a_due_task() -> None:
    clock = VirtualClock(jump=False)
    store = MemoryStore(now=clock.now)
    await store.open()

    async def tidy() -> None: ...

    task = RecurringTask("tidy", MINUTE, tidy)
    nodes = [SingletonTasks(store, "", Membership(name), Intake(), OutageLog(name), [task]) for name in "abc"]

    assert await nodes[0].claim(task) == (MINUTE, False)  # The first run is one interval after the task was first seen.
    clock.advance(MINUTE)
    found = await asyncio.gather(*(node.claim(task) for node in nodes))
    assert sum(is_mine for _, is_mine in found) == 1
    assert {due for due, _ in found} == {MINUTE}
    await store.close()


async def test_a_failed_recurring_task_runs_again_at_its_next_time() -> None:
    clock, runs = VirtualClock(jump=False), asyncio.Queue[int]()

    async def fail() -> None:
        runs.put_nowait(1)
        raise ValueError("broken")

    tasks = PluginTasks(clock, [], [RecurringTask("fail", MINUTE, fail)])
    await tasks.start()
    for _ in range(2):
        await asyncio.sleep(0.01)
        clock.advance(MINUTE)
        await asyncio.wait_for(runs.get(), 1)
    await tasks.stop()
