"""Shared parts of the transport contract: tickets, separate queues, and waits with a timeout."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence, Set as AbstractSet
from datetime import timedelta
from uuid import uuid4

import pytest

from holdfast.model.ticket import Ticket
from holdfast.ports import Consumer, Delivery, Transport, TransportEvent

WITHIN = timedelta(seconds=60)
"""Timeout after which a test fails. No passing test waits this long."""

Plant = Callable[[str, bytes], Awaitable[None]]
"""Writes bytes to a queue without the transport: (queue, bytes)."""


def step(number: int, *, tenant: str = "acme", priority: int = 0) -> Ticket:
    return Ticket(tenant=tenant, instance_id="order-1", execution=number, priority=priority)


def steps(number: int) -> list[Ticket]:
    return [step(execution) for execution in range(number)]


def numbers(deliveries: Sequence[Delivery]) -> list[int | None]:
    return [delivery.ticket.execution for delivery in deliveries]


async def take(consumer: Consumer, number: int = 1) -> list[Delivery]:
    """The next deliveries, unsettled."""
    async with asyncio.timeout(WITHIN.total_seconds()):
        return [await anext(consumer) for _ in range(number)]


async def take_all(consumer: Consumer, expected: AbstractSet[int | None]) -> list[int | None]:
    """Take and ack until all expected tickets were seen. Returns all deliveries, including repetitions."""
    seen: list[int | None] = []
    while not expected <= set(seen):
        delivery = (await take(consumer))[0]
        seen.append(delivery.ticket.execution)
        await delivery.ack()
    return seen


async def next_of(transport: Transport, queue: str) -> Delivery:
    """The first delivery to a new consumer. It is acked."""
    async with transport.consume([queue], prefetch=1) as consumer:
        delivery = (await take(consumer))[0]
        await delivery.ack()
        return delivery


async def until(told: Callable[[], bool]) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(WITHIN.total_seconds()):
        while not told():  # noqa: ASYNC110 - an arbitrary condition, not an event
            await asyncio.sleep(0.005)


class TransportTests:
    """Fixtures of the contract. Provide `transport`; the others may be overridden."""

    @pytest.fixture
    def told(self) -> list[TransportEvent]:
        """Events of the transport. Pass `listener=told.append` to your transport."""
        return []

    @pytest.fixture
    async def transport(self, told: list[TransportEvent]) -> Transport:
        """An open transport."""
        raise NotImplementedError("provide the fixture `transport`")

    @pytest.fixture
    async def another(self, transport: Transport) -> Transport:
        """A second transport on the same broker: another node. Provide it if your broker is outside the process."""
        return transport

    @pytest.fixture
    async def plant(self, transport: Transport) -> Plant:
        pytest.skip("the tests of this transport cannot bypass it")

    @pytest.fixture
    async def queue(self, transport: Transport) -> AsyncIterator[str]:
        name = f"test-{uuid4().hex[:12]}"
        yield name
        await transport.delete_queue(name)

    @pytest.fixture
    async def other_queue(self, transport: Transport) -> AsyncIterator[str]:
        name = f"test.{uuid4().hex[:12]}:b@acme"
        yield name
        await transport.delete_queue(name)
