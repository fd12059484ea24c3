"""Details that a node publishes in the registry: host, process, tenants and queues. Readers tolerate unknown formats."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class NodeDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    host: str = ""
    pid: int = 0
    tenant: str | None = None
    tenants: tuple[str, ...] = ()
    """All tenants of the node, if it serves several; `tenant` is the first of them."""
    queues: tuple[str, ...] = ()
    """Queues that the node takes work from; empty for a node that takes no work."""

    def serves(self, tenant: str) -> bool:
        return tenant == self.tenant or tenant in self.tenants

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)


_decode = msgspec.json.Decoder(NodeDetails).decode


def read_details(data: bytes) -> NodeDetails:
    """The details of a node. A node of another version may write another format: its details are empty then."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return NodeDetails()
