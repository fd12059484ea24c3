"""RabbitMQ fulfils the transport contract, also after disconnects and when processes die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.services.brokers import PORTS, broker_at_hand

BROKER = broker_at_hand("rabbitmq")

import aio_pika  # noqa: E402

from holdfast.dispatch import transport_from_url  # noqa: E402
from holdfast.dispatch.rabbitmq import RabbitTopology  # noqa: E402
from holdfast.errors import TransportMisconfigured  # noqa: E402
from holdfast.ports import Reconnected, TransportEvent  # noqa: E402
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, WireContract  # noqa: E402
from holdfast.testing.transport_contract.base import Plant, step, take, until  # noqa: E402
from tests.support.broker_fixtures import OverBroker, OverWire  # noqa: E402

pytestmark = pytest.mark.service("rabbitmq")

PREFIX = f"test-{uuid4().hex[:12]}"


async def tidy(url: str) -> None:
    connection = await aio_pika.connect(url)
    async with connection, connection.channel() as channel:
        await channel.exchange_delete(f"{PREFIX}/dead")


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    yield BROKER
    asyncio.run(tidy(BROKER))


@pytest.fixture
def address(broker: str) -> str:
    return f"{broker}?prefix={PREFIX}"


class TestRabbitTransport(OverBroker, TransportContract, TransportProcessContract):
    async def deletion_noticed(self, told: list[TransportEvent]) -> None:
        """RabbitMQ 3.10 may give a quorum queue that returns at once to the consumer of the one that was deleted."""
        await until(lambda: any(isinstance(event, Reconnected) for event in told))

    @pytest.fixture
    async def plant(self, broker: str) -> AsyncIterator[Plant]:
        connection = await aio_pika.connect(broker)
        channel = connection.channel()
        await channel.initialize()

        async def write(queue: str, data: bytes) -> None:
            await RabbitTopology(PREFIX).declare(channel, queue)
            await channel.default_exchange.publish(aio_pika.Message(data), f"{PREFIX}/{queue}")

        yield write
        await connection.close()


class TestRabbitOverABrokenWire(OverWire, WireContract):
    PORT = PORTS["rabbitmq"]


@pytest.mark.parametrize("part", ["guest:wrong@", "unknown:guest@"])
async def test_wrong_credentials_are_refused_by_open_without_showing_the_password(broker: str, part: str) -> None:
    parts = urlsplit(broker)
    wrong = f"amqp://{part}{parts.hostname}:{parts.port or 5672}/"

    with pytest.raises(TransportMisconfigured, match="Check user, password and virtual host") as told:
        await transport_from_url(wrong).open()

    assert "wrong" not in str(told.value)


async def test_an_unknown_virtual_host_is_refused(broker: str) -> None:
    with pytest.raises(TransportMisconfigured, match="virtual host"):
        await transport_from_url(broker.rstrip("/") + "/nowhere").open()


async def test_a_queue_with_other_arguments_is_refused_for_publish_and_consume(broker: str) -> None:
    connection = await aio_pika.connect(broker)
    async with connection, connection.channel() as channel:
        foreign = await channel.declare_queue(f"{PREFIX}/foreign", durable=True)
        transport = transport_from_url(f"{broker}?prefix={PREFIX}")
        await transport.open()
        try:
            with pytest.raises(TransportMisconfigured, match="another prefix"):
                await transport.publish("foreign", [step(1)])
            with pytest.raises(TransportMisconfigured, match="another prefix"):
                async with transport.consume(["foreign"]):
                    pass
        finally:
            await foreign.delete()
            await transport.delete_queue("foreign")
            await transport.close()


async def test_the_broker_dead_letters_a_ticket_that_is_returned_too_often(broker: str) -> None:
    transport = transport_from_url(f"{broker}?prefix={PREFIX}")
    await transport.open()
    await transport.publish("boomerang", [step(1)])
    async with transport.consume(["boomerang"], prefetch=1) as consumer:
        for _ in range(101):
            await (await take(consumer))[0].nack()
        await transport.publish("boomerang", [step(2)])
        found = (await take(consumer))[0]
        await found.ack()

    assert found.ticket == step(2)
    assert [one.reason for one in await transport.dead_letters("boomerang")] == ["delivery_limit"]
    await transport.delete_queue("boomerang")
    await transport.close()
