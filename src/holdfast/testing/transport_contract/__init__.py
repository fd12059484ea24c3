"""What every transport must do, as tests. Run them against yours:

    class TestMyTransport(TransportContract):
        @pytest.fixture
        async def transport(self, told):
            transport = MyTransport("mine://localhost", listener=told.append)
            await transport.open()
            yield transport
            await transport.close()

        @pytest.fixture
        async def another(self, transport):  # a second one on the same broker: another node
            ...

        @pytest.fixture
        async def plant(self, transport):  # an async function (queue, bytes) that writes past the transport
            ...

`WireContract` adds connections that break, for brokers with an address: give the fixture `wire` too.
`TransportProcessContract` adds processes that are killed with tickets in hand: give the fixture `url` too.
The tests are plain pytest with asyncio in auto mode (`asyncio_mode = "auto"`).
"""

from __future__ import annotations

from holdfast.testing.transport_contract.delivery import CarryingContract
from holdfast.testing.transport_contract.disconnects import WireContract
from holdfast.testing.transport_contract.processes import TransportProcessContract
from holdfast.testing.transport_contract.proxy import Wire
from holdfast.testing.transport_contract.shutdown import EndingContract

__all__ = ["TransportContract", "TransportProcessContract", "Wire", "WireContract"]


class TransportContract(CarryingContract, EndingContract):
    """Every obligation of the port that one process and a whole wire can show."""
