"""NATS fulfils the transport contract, also after disconnects and when processes die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from uuid import uuid4

import pytest

from tests.support.services.brokers import PORTS, broker_at_hand

BROKER = broker_at_hand("nats")

import nats  # noqa: E402
from nats.js.errors import NotFoundError  # noqa: E402

from holdfast.dispatch import transport_from_url  # noqa: E402
from holdfast.dispatch.nats import token  # noqa: E402
from holdfast.errors import TransportMisconfigured  # noqa: E402
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, WireContract  # noqa: E402
from holdfast.testing.transport_contract.base import Plant  # noqa: E402
from tests.support.broker_fixtures import OverBroker, OverWire  # noqa: E402

pytestmark = pytest.mark.service("nats")

PREFIX = f"test-{uuid4().hex[:12]}"


async def tidy(url: str) -> None:
    client = await nats.connect(url)
    for name in (PREFIX, f"{PREFIX}-dead"):
        with suppress(NotFoundError):
            await client.jetstream().delete_stream(name)
    await client.close()


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    yield BROKER
    asyncio.run(tidy(BROKER))


@pytest.fixture
def address(broker: str) -> str:
    return f"{broker}?prefix={PREFIX}"


class TestNatsTransport(OverBroker, TransportContract, TransportProcessContract):
    @pytest.fixture
    async def plant(self, broker: str) -> AsyncIterator[Plant]:
        client = await nats.connect(broker)

        async def write(queue: str, data: bytes) -> None:
            await client.jetstream().publish(f"{PREFIX}.q.{token(queue)}", data)

        yield write
        await client.close()


class TestNatsOverABrokenWire(OverWire, WireContract):
    PORT = PORTS["nats"]


async def test_a_stream_with_another_configuration_is_refused(broker: str) -> None:
    client = await nats.connect(broker)
    name = f"{PREFIX}-foreign"
    await client.jetstream().add_stream(name=name, subjects=[f"{name}.>"])
    try:
        with pytest.raises(TransportMisconfigured, match="another prefix"):
            await transport_from_url(f"{broker}?prefix={name}").open()
    finally:
        await client.jetstream().delete_stream(name)
        await client.close()
