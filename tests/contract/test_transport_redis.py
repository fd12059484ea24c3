"""Redis keeps the contract: also over a wire that breaks, and when processes die."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

pytest.importorskip("redis", reason="redis: the driver is not installed: pip install 'holdfast[redis]'")

from redis.asyncio import Redis

from holdfast.dispatch import transport_from_url
from holdfast.ports import Transport, TransportEvent
from holdfast.testing.servers import ServiceMissing, given_or
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, Wire, WireContract
from holdfast.testing.transport_contract.base import Plant
from holdfast.testing.transport_contract.services import PORTS, broker_url

pytestmark = pytest.mark.service("redis")

PREFIX = f"test-{uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def broker() -> str:
    try:
        return broker_url("redis")
    except ServiceMissing as missing:
        given_or("redis", pytest.skip, pytest.fail, missing)
        raise


class TestRedisTransport(TransportContract, TransportProcessContract):
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

    @pytest.fixture
    async def plant(self, broker: str) -> AsyncIterator[Plant]:
        client = Redis.from_url(broker)

        async def write(queue: str, data: bytes) -> None:
            await client.xadd(f"{PREFIX}/{queue}", {b"ticket": data})

        yield write
        await client.aclose()


class TestRedisOverABrokenWire(WireContract):
    @pytest.fixture
    async def wire(self, broker: str) -> AsyncIterator[Wire]:
        wire = await Wire.to(broker, PORTS["redis"])
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
