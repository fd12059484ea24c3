"""RabbitMQ keeps the contract: also over a wire that breaks, and when processes die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

pytest.importorskip("aio_pika", reason="rabbitmq: the driver is not installed: pip install 'holdfast[rabbitmq]'")

import aio_pika

from holdfast.dispatch import transport_from_url
from holdfast.dispatch.rabbitmq import Names
from holdfast.ports import Reconnected, Transport, TransportEvent
from holdfast.testing.servers import ServiceMissing, given_or
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, Wire, WireContract
from holdfast.testing.transport_contract.base import Plant, until
from holdfast.testing.transport_contract.services import PORTS, broker_url

pytestmark = pytest.mark.service("rabbitmq")

PREFIX = f"test-{uuid4().hex[:12]}"


async def tidy(url: str) -> None:
    connection = await aio_pika.connect(url)
    async with connection, connection.channel() as channel:
        await channel.exchange_delete(f"{PREFIX}/dead")


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    try:
        url = broker_url("rabbitmq")
    except ServiceMissing as missing:
        given_or("rabbitmq", pytest.skip, pytest.fail, missing)
        raise
    yield url
    asyncio.run(tidy(url))


class TestRabbitTransport(TransportContract, TransportProcessContract):
    @pytest.fixture
    def url(self, broker: str) -> str:
        return f"{broker}?prefix={PREFIX}&hold=2"

    @pytest.fixture
    async def transport(self, url: str, told: list[TransportEvent]) -> AsyncIterator[Transport]:
        transport = transport_from_url(url, listener=told.append)
        await transport.open()
        yield transport
        await transport.close()

    @pytest.fixture
    async def another(self, url: str, transport: Transport) -> AsyncIterator[Transport]:
        another = transport_from_url(url)
        await another.open()
        yield another
        await another.close()

    async def deletion_noticed(self, told: list[TransportEvent]) -> None:
        """RabbitMQ 3.10 may give a quorum queue that returns at once to the consumer of the one that was deleted."""
        await until(lambda: any(isinstance(event, Reconnected) for event in told))

    @pytest.fixture
    async def plant(self, broker: str) -> AsyncIterator[Plant]:
        connection = await aio_pika.connect(broker)
        channel = connection.channel()
        await channel.initialize()

        async def write(queue: str, data: bytes) -> None:
            await Names(PREFIX).declare(channel, queue)
            await channel.default_exchange.publish(aio_pika.Message(data), f"{PREFIX}/{queue}")

        yield write
        await connection.close()


class TestRabbitOverABrokenWire(WireContract):
    @pytest.fixture
    async def wire(self, broker: str) -> AsyncIterator[Wire]:
        wire = await Wire.to(broker, PORTS["rabbitmq"])
        yield wire
        await wire.close()

    @pytest.fixture
    async def transport(self, broker: str, wire: Wire, told: list[TransportEvent]) -> AsyncIterator[Transport]:
        url = f"{wire.url(broker)}?prefix={PREFIX}&hold=2&patience=3"
        transport = transport_from_url(url, listener=told.append)
        await transport.open()
        yield transport
        await transport.close()

    @pytest.fixture
    async def another(self, broker: str, transport: Transport) -> AsyncIterator[Transport]:
        another = transport_from_url(f"{broker}?prefix={PREFIX}&hold=2")
        await another.open()
        yield another
        await another.close()
