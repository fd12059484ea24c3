"""The sender of steps: tickets after a commit, resends with pauses, and a broker that is unavailable."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Workflow, activity
from holdfast.errors import DelayUnsupported, TransportError
from holdfast.model.work import EffectRow
from holdfast.runtime.commits.placement import RESEND_AFTER, STEP_QUEUE, Placement
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps import sender as sender_module
from holdfast.runtime.steps.sender import TICKET_PAUSE, StepSender
from tests.support.memory_node import MemoryNode


@activity
async def charge() -> str:
    return "charged"


charging = Workflow(charge.bind(queue="mail", priority=4), id="charges")


class FakeBroker:
    def __init__(self) -> None:
        self.sent: list[tuple[str, int, timedelta]] = []
        self.error: Exception | None = None

    async def enqueue_step(self, context: Any, definition: Any, step: EffectRow) -> None:
        await self.schedule_step(context, definition, step, timedelta(0))

    async def schedule_step(self, context: Any, definition: Any, step: EffectRow, delay: timedelta) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append((step.instance_id, context.priority, delay))


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [100.0]
    monkeypatch.setattr(sender_module, "monotonic", lambda: moment[0])
    return moment


class Bench:
    def __init__(self, memory: MemoryNode, broker: FakeBroker | None) -> None:
        parts = memory.components
        self.tasks = BackgroundTasks("a step could not be sent")
        self.sender = StepSender(
            memory.store, Placement(dispatcher=broker), parts.cache, parts.plans, parts.log, self.tasks
        )

    async def resend(self, row: EffectRow) -> None:
        self.sender.resend(row)
        await self.tasks.wait()


async def recorded(memory: MemoryNode) -> EffectRow:
    await memory.runtime.start(charging, instance_id="order")
    (row,) = await memory.store.effects_of("", "order")
    return row


async def step_rows(memory: MemoryNode) -> list[str]:
    async with memory.store.claim([f"{STEP_QUEUE}mail"], 10) as claim:
        return [row.id for row in claim.rows]


async def test_steps_are_sent_to_the_broker_with_priority_and_delay(memory: MemoryNode) -> None:
    row, broker = await recorded(memory), FakeBroker()
    bench = Bench(memory, broker)
    stored, live = await memory.components.reader.live(memory.runtime.key("order"))
    late = EffectRow("order", 9, row.activity_id, row.type, row.created + RESEND_AFTER, queue="mail")

    bench.sender.send(live, stored, [row, late])
    await bench.tasks.wait()

    assert broker.sent == [("order", 4, timedelta(0)), ("order", 4, RESEND_AFTER)]


async def test_without_a_broker_the_commit_has_written_the_rows_already(memory: MemoryNode) -> None:
    row = await recorded(memory)
    bench, rows = Bench(memory, None), await step_rows(memory)
    stored, live = await memory.components.reader.live(memory.runtime.key("order"))

    bench.sender.send(live, stored, [row])
    await bench.tasks.wait()

    assert await step_rows(memory) == rows


async def test_a_delay_that_the_broker_does_not_support_uses_the_work_table(memory: MemoryNode) -> None:
    row, broker = await recorded(memory), FakeBroker()
    broker.error = DelayUnsupported("no delay")
    stored, live = await memory.components.reader.live(memory.runtime.key("order"))
    late = EffectRow("order", 9, row.activity_id, row.type, row.created + RESEND_AFTER, queue="mail")
    bench = Bench(memory, broker)

    bench.sender.send(live, stored, [late])
    await bench.tasks.wait()

    memory.clock.advance(RESEND_AFTER)
    assert "order.s9.1" in await step_rows(memory)


async def test_a_step_is_sent_again_with_growing_pauses(memory: MemoryNode, now: list[float]) -> None:
    row, broker = await recorded(memory), FakeBroker()
    bench = Bench(memory, broker)
    counts = []
    for seconds in (0, 29, 1, 59, 1):
        now[0] += seconds
        await bench.resend(row)
        counts.append(len(broker.sent))

    assert counts == [1, 1, 2, 2, 3]


async def test_one_ticket_probes_a_broker_that_is_unavailable(memory: MemoryNode, now: list[float]) -> None:
    row, broker = await recorded(memory), FakeBroker()
    bench = Bench(memory, broker)
    broker.error = TransportError("away")
    await bench.resend(row)
    broker.error = None
    others = [EffectRow("order", number, row.activity_id, row.type, row.created, queue="mail") for number in (8, 9)]

    for other in others:
        bench.sender.resend(other)
    await bench.tasks.wait()
    assert len(broker.sent) == 1

    await bench.resend(others[1])
    assert len(broker.sent) == 2


async def test_a_step_of_a_deleted_instance_is_not_sent(memory: MemoryNode) -> None:
    row, broker = await recorded(memory), FakeBroker()
    gone = EffectRow("gone", 1, row.activity_id, row.type, row.created, queue="mail")

    await Bench(memory, broker).resend(gone)

    assert broker.sent == []


async def test_the_ticket_of_a_returned_attempt_is_sent_again_soon(memory: MemoryNode, now: list[float]) -> None:
    row = replace(await recorded(memory), attempt=2)
    bench = Bench(memory, None)
    asked = [
        bench.sender.may_lack_ticket(row, row.created)
    ]  # The node that returned it may be about to write the ticket.
    now[0] += TICKET_PAUSE.total_seconds()
    asked.append(bench.sender.may_lack_ticket(row, row.created))

    await bench.resend(row)
    asked.append(bench.sender.may_lack_ticket(row, row.created))
    now[0] += RESEND_AFTER.total_seconds()
    asked.append(bench.sender.may_lack_ticket(row, row.created))

    assert asked == [False, True, False, True]
    assert "order.s2.2" in await step_rows(memory)


@pytest.mark.parametrize(("attempt", "broker"), [(1, None), (2, FakeBroker())], ids=["first attempt", "broker"])
async def test_other_tickets_count_as_lost_after_a_while(
    memory: MemoryNode, now: list[float], attempt: int, broker: FakeBroker | None
) -> None:
    row = replace(await recorded(memory), attempt=attempt)
    sender = Bench(memory, broker).sender

    assert not sender.may_lack_ticket(row, row.created)
    now[0] += TICKET_PAUSE.total_seconds()
    assert not sender.may_lack_ticket(row, row.created)
    assert sender.may_lack_ticket(row, row.created + RESEND_AFTER)


async def test_a_step_that_is_given_back_has_a_ticket_of_its_own(memory: MemoryNode) -> None:
    row = await recorded(memory)

    await Bench(memory, None).sender.give_back(row, "x")

    assert sorted(await step_rows(memory)) == ["order.s2.1", "order.s2.1.x"]
