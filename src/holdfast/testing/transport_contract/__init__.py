"""Contract tests for transports. Run them against your transport:

    class TestMyTransport(TransportContract):
        @pytest.fixture
        async def transport(self, told):
            transport = MyTransport("mine://localhost", listener=told.append)
            await transport.open()
            yield transport
            await transport.close()

        @pytest.fixture
        async def another(self, transport):  # a second transport on the same broker: another node
            ...

        @pytest.fixture
        async def plant(self, transport):  # an async function (queue, bytes) that bypasses the transport
            ...

`WireContract` adds broken connections, for brokers with an address; also provide the fixture `wire`.
`TransportProcessContract` adds processes that are killed while they hold tickets; also provide the fixture `url`. The
tests are plain pytest with asyncio in auto mode (`asyncio_mode = "auto"`).
"""

from __future__ import annotations

from holdfast.testing.transport_contract.delivery import DeliveryContract
from holdfast.testing.transport_contract.disconnects import WireContract
from holdfast.testing.transport_contract.processes import TransportProcessContract
from holdfast.testing.transport_contract.proxy import Wire
from holdfast.testing.transport_contract.shutdown import ShutdownContract

__all__ = ["TransportContract", "TransportProcessContract", "Wire", "WireContract"]


class TransportContract(DeliveryContract, ShutdownContract):
    """All obligations of the transport port within one process and with a working connection."""
