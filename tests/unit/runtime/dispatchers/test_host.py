"""The host of dispatchers: the facade has every member that the protocol names."""

from __future__ import annotations

from holdfast.runtime.dispatchers.host import DispatchHost
from tests.support.memory_node import MemoryNode


async def test_the_facade_implements_the_host(memory: MemoryNode) -> None:
    host: DispatchHost = memory.runtime
    names = [name for name in vars(DispatchHost) if not name.startswith("_")]

    assert len(names) >= 20
    assert [name for name in names if not hasattr(host, name)] == []
    assert (host.tenant, host.store) == ("", memory.store)
