"""The intake of steps from the work table: within the room of its share, each row once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Workflow, activity
from holdfast.model.work import EffectRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.commits.placement import STEP_QUEUE, step_row
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.queue_watch import QueueWatch
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.row_intake import RowIntake
from tests.support.memory_node import MemoryNode

LEASE = timedelta(seconds=30)


class FakeRunner:
    """Runs a ticket until the test ends it, then deletes its row."""

    def __init__(self) -> None:
        self.taken: asyncio.Queue[str] = asyncio.Queue()
        self.gate = asyncio.Event()

    async def run(self, ticket: Any, share: QueueShare) -> bool:
        self.taken.put_nowait(ticket.key.id)
        await self.gate.wait()
        await ticket.settle()
        return True

    async def next(self, count: int) -> list[str]:
        async with asyncio.timeout(10):
            return sorted([await self.taken.get() for _ in range(count)])


class NoPlans:
    lacking: frozenset[str] = frozenset()


class Bench:
    def __init__(self, concurrency: int) -> None:
        self.store = MemoryStore()
        self.membership = Membership("a")
        self.share = QueueShare(["mail@acme"])
        self.runner = FakeRunner()
        self.tasks = BackgroundTasks("a test task failed")
        log = OutageLog("a")
        runner: Any = self.runner
        plans: Any = NoPlans()
        self.watch = QueueWatch(self.store, SystemClock())
        self.intake = RowIntake(
            self.store,
            self.watch,
            plans,
            SpentRows(self.store, self.membership, log),
            runner,
            StepCapacity(Liveness(LEASE), Intake(), [self.share], concurrency, self.tasks),
            [self.share],
            self.tasks,
            log,
        )

    async def add(self, *names: str) -> None:
        now = await self.store.now()
        rows = [EffectRow(name, 1, "charge", "Charge", now, queue="mail@acme", tenant="acme") for name in names]
        await self.store.enqueue([step_row(row, "", now, 0) for row in rows])

    async def left(self) -> int:
        async with self.store.claim([f"{STEP_QUEUE}mail@acme"], 10) as claim:
            return len(claim.rows)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    made = Bench(concurrency=2)
    made.membership.join(await made.store.register_node("a", time_to_live=LEASE), lambda: 0)
    made.watch.start()
    for service in made.intake.services:
        service.start()
    yield made
    made.watch.stop()
    for service in made.intake.services:
        await service.stop()
    await made.tasks.stop()


async def test_rows_are_taken_within_the_concurrency(bench: Bench) -> None:
    await bench.add("i1", "i2", "i3")

    assert await bench.runner.next(2) == ["i1", "i2"]
    assert (bench.share.used, bench.runner.taken.empty()) == (2, True)
    bench.runner.gate.set()
    assert await bench.runner.next(1) == ["i3"]


async def test_a_taken_row_is_deleted_and_not_taken_again(bench: Bench) -> None:
    await bench.add("i1")
    await bench.runner.next(1)
    bench.runner.gate.set()
    await bench.tasks.wait()

    assert (await bench.left(), bench.share.starting) == (0, set())
    await bench.add("i2")
    assert await bench.runner.next(1) == ["i2"]


@activity
async def charge() -> str:
    return "charged"


async def test_committed_steps_start_without_a_read_of_the_table(memory: MemoryNode) -> None:
    """As many as have room, the ones with the highest priority first, and none before it is due."""
    steps = Workflow(charge.bind(queue="mail"), id="charges")
    await memory.runtime.start(steps, instance_id="order")
    stored, live = await memory.components.reader.live(memory.runtime.key("order"))
    (row,) = await memory.store.effects_of("", "order")
    made = Bench(concurrency=1)
    due = EffectRow("i1", 1, row.activity_id, "Charge", stored.updated, queue="mail@acme", tenant="acme")
    later = EffectRow("i2", 1, row.activity_id, "Charge", stored.updated + LEASE, queue="mail@acme", tenant="acme")
    foreign = EffectRow("i3", 1, row.activity_id, "Charge", stored.updated, queue="gpu@acme", tenant="acme")

    made.intake.take_committed(live, stored, [later, foreign, due])
    made.intake.take_committed(live, stored, [due])

    assert await made.runner.next(1) == ["i1"]
    assert (made.share.used, made.runner.taken.empty()) == (1, True)
    await made.tasks.stop()
