"""Fixtures for transports whose broker has an address. The test module provides `address` with a queue prefix of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from holdfast.dispatch import transport_from_url
from holdfast.ports import Transport, TransportEvent
from holdfast.testing.transport_contract import Wire


class OverBroker:
    @pytest.fixture
    def url(self, address: str) -> str:
        return f"{address}&hold=2"

    @pytest.fixture
    async def transport(self, url: str, told: list[TransportEvent]) -> AsyncIterator[Transport]:
        transport = transport_from_url(url, listener=told.append)
        await transport.open()
        yield transport
        await transport.close()

    @pytest.fixture
    async def another(self, address: str, transport: Transport) -> AsyncIterator[Transport]:
        another = transport_from_url(f"{address}&hold=2")
        await another.open()
        yield another
        await another.close()


class OverWire(OverBroker):
    """The same, but `transport` has a wire that can be cut."""

    PORT: int
    """The usual one."""

    @pytest.fixture
    async def wire(self, address: str) -> AsyncIterator[Wire]:
        wire = await Wire.to(address, self.PORT)
        yield wire
        await wire.close()

    @pytest.fixture
    def url(self, address: str, wire: Wire) -> str:
        return f"{wire.url(address)}&hold=2&patience=5"
