"""Redis fulfils the transport contract, also after disconnects and when processes die."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.services.brokers import PORTS, broker_at_hand

BROKER = broker_at_hand("redis")

from redis.asyncio import Redis  # noqa: E402

from holdfast.dispatch import transport_from_url  # noqa: E402
from holdfast.errors import TransportMisconfigured  # noqa: E402
from holdfast.testing.transport_contract import TransportContract, TransportProcessContract, WireContract  # noqa: E402
from holdfast.testing.transport_contract.base import Plant  # noqa: E402
from tests.support.broker_fixtures import OverBroker, OverWire  # noqa: E402

pytestmark = pytest.mark.service("redis")

PREFIX = f"test-{uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def broker() -> str:
    return BROKER


@pytest.fixture
def address(broker: str) -> str:
    return f"{broker}?prefix={PREFIX}"


class TestRedisTransport(OverBroker, TransportContract, TransportProcessContract):
    @pytest.fixture
    async def plant(self, broker: str) -> AsyncIterator[Plant]:
        client = Redis.from_url(broker)

        async def write(queue: str, data: bytes) -> None:
            await client.xadd(f"{PREFIX}/{queue}", {b"ticket": data})

        yield write
        await client.aclose()


class TestRedisOverABrokenWire(OverWire, WireContract):
    PORT = PORTS["redis"]


async def test_a_wrong_password_is_refused_by_open_and_not_shown(broker: str) -> None:
    parts = urlsplit(broker)

    with pytest.raises(TransportMisconfigured, match="Check user, password") as told:
        await transport_from_url(f"redis://unknown:wrong@{parts.hostname}:{parts.port or 6379}").open()

    assert "wrong@" not in str(told.value)
