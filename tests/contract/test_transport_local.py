"""The in-process transport fulfils the transport contract."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from holdfast.dispatch import transport_from_url
from holdfast.dispatch.local import LocalTransport, QueuedMessage
from holdfast.ports import Transport, TransportEvent
from holdfast.testing.transport_contract import TransportContract
from holdfast.testing.transport_contract.base import Plant


class TestLocalTransport(TransportContract):
    @pytest.fixture
    async def transport(self, told: list[TransportEvent]) -> AsyncIterator[Transport]:
        transport = transport_from_url("local://contract", listener=told.append)
        await transport.open()
        yield transport
        await transport.close()

    @pytest.fixture
    async def another(self, transport: Transport) -> AsyncIterator[Transport]:
        another = transport_from_url("local://contract")
        await another.open()
        yield another
        await another.close()

    @pytest.fixture
    async def plant(self, transport: Transport) -> Plant:
        async def write(queue: str, data: bytes) -> None:
            assert isinstance(transport, LocalTransport)
            transport.bus.put(queue, QueuedMessage(0, data))

        return write
