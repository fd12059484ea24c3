"""Redis keeps the contract: also over a wire that breaks, and when processes die."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from holdfast.testing.transport_contract.services import PORTS, broker_at_hand

BROKER = broker_at_hand("redis")

from redis.asyncio import Redis  # noqa: E402

from holdfast.dispatch import transport_from_url  # noqa: E402
from holdfast.errors import TransportMisconfigured  # noqa: E402
from holdfast.ports import Transport, TransportEvent  # noqa: E402
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, Wire, WireContract  # noqa: E402
from holdfast.testing.transport_contract.base import Plant  # noqa: E402

pytestmark = pytest.mark.service("redis")

PREFIX = f"test-{uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def broker() -> str:
    return BROKER


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
        url = f"{wire.url(broker)}?prefix={PREFIX}&hold=2&patience=5"
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


async def test_a_password_that_is_not_right_is_told_at_opening_and_not_shown(broker: str) -> None:
    parts = urlsplit(broker)

    with pytest.raises(TransportMisconfigured, match="Check user, password") as told:
        await transport_from_url(f"redis://somebody:wrong@{parts.hostname}:{parts.port or 6379}").open()

    assert "wrong@" not in str(told.value)
