"""The intake of steps from the work table: within the room of its share, each row once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
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
from holdfast.runtime.steps.limits.per_value import Value
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.row_intake import RowIntake
from holdfast.runtime.steps.waiting_steps import LEASE as WAITING_LEASE
from tests.support.memory_node import MemoryNode

LEASE = timedelta(seconds=30)
ADA = ("customer", "ada")


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


class FakeLimit:
    """A limit per value without room, until the test makes some."""

    def __init__(self) -> None:
        self.room = 0
        self.on_room: Callable[[Sequence[Value]], None] = lambda values: None

    def most(self, values: Sequence[Value]) -> int:
        return self.room


class RefusingRunner(FakeRunner):
    """Lets a step wait while its value has no room."""

    def __init__(self, limit: FakeLimit) -> None:
        super().__init__()
        self.limit = limit
        self.refused: asyncio.Queue[str] = asyncio.Queue()

    async def run(self, ticket: Any, share: QueueShare) -> bool:
        if self.limit.room:
            return await super().run(ticket, share)
        await ticket.wait([ADA], timedelta(hours=1))
        self.refused.put_nowait(ticket.key.id)
        return False


class NoPlans:
    lacking: frozenset[str] = frozenset()


class Bench:
    def __init__(self, concurrency: int, limit: FakeLimit | None = None) -> None:
        self.store = MemoryStore()
        self.membership = Membership("a")
        per_value: Any = limit
        self.share = QueueShare(["mail@acme"], per_value=per_value)
        self.runner = FakeRunner() if limit is None else RefusingRunner(limit)
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


@asynccontextmanager
async def started(made: Bench) -> AsyncIterator[Bench]:
    made.membership.join(await made.store.register_node("a", time_to_live=LEASE), lambda: 0)
    made.watch.start()
    for service in made.intake.services:
        service.start()
    yield made
    made.watch.stop()
    for service in made.intake.services:
        await service.stop()
    await made.tasks.stop()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with started(Bench(concurrency=2)) as made:
        yield made


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


async def test_a_step_without_room_waits_under_a_lease_and_starts_when_there_is_room() -> None:
    """Other nodes leave it alone until the lease ends, and it uses no place of this node."""
    limit = FakeLimit()
    async with started(Bench(concurrency=1, limit=limit)) as made:
        runner: Any = made.runner
        await made.add("i1", "i2", "i3")
        async with asyncio.timeout(10):
            assert sorted([await runner.refused.get() for _ in range(3)]) == ["i1", "i2", "i3"]
        await made.tasks.wait()
        until_due = await made.store.until_due([f"{STEP_QUEUE}mail@acme"])

        assert (await made.left(), made.share.used) == (0, 0)
        assert until_due is not None
        assert timedelta(0) < until_due <= WAITING_LEASE

        limit.room = 1
        limit.on_room([ADA])
        assert await made.runner.next(1) == ["i1"]


async def test_steps_that_wait_are_due_again_when_the_node_stops() -> None:
    limit = FakeLimit()
    async with started(Bench(concurrency=4, limit=limit)) as made:
        runner: Any = made.runner
        await made.add("i1", "i2")
        async with asyncio.timeout(10):
            for _ in range(2):
                await runner.refused.get()
        await made.tasks.wait()
        for service in made.intake.services:
            await service.stop()

        await made.intake.release()

        assert await made.left() == 2
