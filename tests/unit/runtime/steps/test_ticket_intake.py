"""The intake of steps from a broker: one place for each delivery, and foreign tickets are acknowledged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast.dispatch.local import LocalTransport
from holdfast.errors import TransportError
from holdfast.model.ticket import Ticket
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps import ticket_intake
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.ticket_intake import TicketIntake

QUEUE = "mail@acme"


class FakeRunner:
    """Runs a ticket until the test opens the gate."""

    def __init__(self) -> None:
        self.taken: asyncio.Queue[str] = asyncio.Queue()
        self.gate = asyncio.Event()

    async def run(self, ticket: Any, share: QueueShare) -> bool:
        self.taken.put_nowait(ticket.key.id)
        await self.gate.wait()
        await ticket.settle()
        return True

    async def next(self) -> str:
        async with asyncio.timeout(10):
            return await self.taken.get()


class Bench:
    def __init__(self, transport: LocalTransport) -> None:
        self.transport = transport
        self.share = QueueShare([QUEUE])
        self.runner = FakeRunner()
        self.tasks = BackgroundTasks("a test task failed")
        capacity = StepCapacity(Liveness(timedelta(seconds=30)), Intake(), [self.share], 1, self.tasks)
        runner: Any = self.runner
        self.intake = TicketIntake(
            transport, MemoryStore(), ("acme",), runner, capacity, [self.share], self.tasks, OutageLog("a")
        )

    async def publish(self, *names: str, tenant: str = "acme") -> None:
        tickets = [Ticket(tenant=tenant, instance_id=name, execution=1, queue=QUEUE) for name in names]
        await self.transport.publish(QUEUE, tickets)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    transport = LocalTransport()
    await transport.open()
    made = Bench(transport)
    for service in made.intake.services:
        service.start()
    yield made
    for service in made.intake.services:
        await service.stop()
    await made.tasks.stop()
    await transport.close()


async def test_deliveries_wait_for_a_free_place(bench: Bench) -> None:
    await bench.publish("i1", "i2")

    assert await bench.runner.next() == "i1"
    assert (bench.share.used, bench.runner.taken.empty()) == (1, True)
    bench.runner.gate.set()
    assert await bench.runner.next() == "i2"


async def test_a_foreign_ticket_is_acknowledged_and_never_run(bench: Bench) -> None:
    await bench.publish("stray", tenant="initech")
    await bench.publish("i1")

    assert await bench.runner.next() == "i1"


async def test_a_broker_that_failed_is_consumed_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ticket_intake, "RETRY_INTERVAL", timedelta(0))
    failures = iter([TransportError("away"), None])
    consume = LocalTransport.consume

    def flaky(transport: LocalTransport, *given: Any, **more: Any) -> Any:
        if (error := next(failures, None)) is not None:
            raise error
        return consume(transport, *given, **more)

    monkeypatch.setattr(LocalTransport, "consume", flaky)
    made = Bench(bench.transport)
    for service in bench.intake.services:
        await service.stop()
    made.intake.services[0].start()
    await made.publish("i1")

    assert await made.runner.next() == "i1"
    await made.intake.services[0].stop()
    await made.tasks.stop()
