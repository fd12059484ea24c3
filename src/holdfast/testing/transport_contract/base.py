"""What the transport's tests are made of: tickets, queues of their own, and waiting that ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence, Set as AbstractSet
from datetime import timedelta
from uuid import uuid4

import pytest

from holdfast.model.ticket import Ticket
from holdfast.ports import Consumer, Delivery, Transport, TransportEvent

WITHIN = timedelta(seconds=60)
"""A test that hears nothing for so long has failed; none is made to wait for it."""

Plant = Callable[[str, bytes], Awaitable[None]]
"""Puts bytes on a queue past the transport, as a stranger would: (queue, bytes)."""


def step(number: int, *, tenant: str = "acme", priority: int = 0) -> Ticket:
    return Ticket(tenant=tenant, instance_id="order-1", execution=number, priority=priority)


def steps(number: int) -> list[Ticket]:
    return [step(execution) for execution in range(number)]


def numbers(deliveries: Sequence[Delivery]) -> list[int | None]:
    return [delivery.ticket.execution for delivery in deliveries]


async def take(consumer: Consumer, number: int = 1) -> list[Delivery]:
    """So many deliveries, as they come; none is settled."""
    async with asyncio.timeout(WITHIN.total_seconds()):
        return [await anext(consumer) for _ in range(number)]


async def take_all(consumer: Consumer, expected: AbstractSet[int | None]) -> list[int | None]:
    """Take and ack until each was seen; returns all that came, repetitions too."""
    seen: list[int | None] = []
    while not expected <= set(seen):
        delivery = (await take(consumer))[0]
        seen.append(delivery.ticket.execution)
        await delivery.ack()
    return seen


async def next_of(transport: Transport, queue: str) -> Delivery:
    """What a new consumer gets first. It is acked."""
    async with transport.consume([queue], prefetch=1) as consumer:
        delivery = (await take(consumer))[0]
        await delivery.ack()
        return delivery


async def until(told: Callable[[], bool]) -> None:
    """Let the others work until it is so."""
    async with asyncio.timeout(WITHIN.total_seconds()):
        while not told():  # noqa: ASYNC110 - a question about anything, not an event of ours
            await asyncio.sleep(0.005)


class TransportTests:
    """The fixtures that every part of the contract needs. `transport` is yours; the rest may be overridden."""

    @pytest.fixture
    def told(self) -> list[TransportEvent]:
        """Give your transport `listener=told.append`."""
        return []

    @pytest.fixture
    async def transport(self, told: list[TransportEvent]) -> Transport:
        """An open one."""
        raise NotImplementedError("give the contract a fixture `transport`")

    @pytest.fixture
    async def another(self, transport: Transport) -> Transport:
        """A second one on the same broker: another node. Give yours, if your broker is outside the process."""
        return transport

    @pytest.fixture
    async def plant(self, transport: Transport) -> Plant:
        pytest.skip("this transport's tests cannot write past it")

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
