"""Nodes for people: who is there, what each serves, and what nobody serves; pausing this one, and draining it."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.work import DEFAULT_QUEUE, queue_of

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

LATE = timedelta(seconds=30)
"""Work that is due for so long, and that no live node serves, shows."""


class NodeDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a node says of itself when it registers."""

    host: str = ""
    pid: int = 0
    tenant: str | None = None
    queues: tuple[str, ...] = ()
    """Those that it takes work from; a node that takes none serves none."""

    def serves(self, tenant: str) -> bool:
        return self.tenant == tenant


class NodeInfo(Struct, frozen=True, kw_only=True):
    id: str
    boot: int
    state: str
    """`live`, `draining`, `left`; or `dead`: it was heard of last at `heartbeat`, and said no goodbye."""
    alive: bool
    this: bool
    started: datetime
    heartbeat: datetime
    details: NodeDetails
    paused: bool = False
    """Takes no new work; known of this node only."""
    careful: bool = False


class Unserved(Struct, frozen=True, kw_only=True):
    """Work that waits on a queue that no live node serves."""

    queue: str
    since: datetime


_decode = msgspec.json.Decoder(NodeDetails).decode


def describe_node(node: Node) -> bytes:
    queues = node.queues if node.takes_work else ()
    details = NodeDetails(host=socket.gethostname(), pid=os.getpid(), tenant=node.tenant, queues=queues)
    return msgspec.json.encode(details)


def read_details(data: bytes) -> NodeDetails:
    """Of another version they may be otherwise: they are for people, and nothing depends on them."""
    try:
        return _decode(data)
    except msgspec.DecodeError:
        return NodeDetails()


class Nodes:
    def __init__(self, node: Node) -> None:
        self._node = node

    async def list(self) -> list[NodeInfo]:
        """All that the registry knows; a dead one stays for a while."""
        store = self._node.store
        now = await store.now()
        return [self._info(row, now) for row in await store.list_nodes()]

    async def this(self) -> NodeInfo:
        return next(item for item in await self.list() if item.this)

    def _info(self, row: NodeRow, now: datetime) -> NodeInfo:
        node, alive = self._node, row.alive_at(now)
        this = row.owner == node.owner
        return NodeInfo(
            id=row.id,
            boot=row.boot,
            state=row.state.value if alive or row.state.value == "left" else "dead",
            alive=alive,
            this=this,
            started=row.started,
            heartbeat=row.heartbeat,
            details=read_details(row.details),
            paused=this and node.gate.paused,
            careful=this and node.gate.careful,
        )

    # -- verbs, for this node ------------------------------------------------------------------------------------------

    def pause_intake(self) -> None:
        """Take no new work; what is in hand goes on. Starts and resumes that are asked of this node are still done."""
        self._node.gate.paused = True

    def resume_intake(self) -> None:
        self._node.gate.paused = False

    async def drain(self, limit: timedelta = timedelta(seconds=30)) -> bool:
        """Take no new work, and let what is in hand end; whether it did within the limit."""
        return await self._node.drain(limit)

    # -- what nobody does ----------------------------------------------------------------------------------------------

    async def unserved(self, queues: Sequence[str] = (DEFAULT_QUEUE,)) -> Sequence[Unserved]:
        """Queues with work, due for a while, that no live node of this tenant serves; for health and metrics. Looks at
        `queues` beside those that steps wait on."""
        node = self._node
        now = await node.store.now()
        # One that drains takes nothing any more, though it is alive.
        taking = [row for row in await node.store.list_nodes() if row.alive_at(now) and row.state is NodeState.LIVE]
        open_to = [read_details(row.details) for row in taking]
        served = {queue_of(node.tenant, queue) for one in open_to if one.serves(node.tenant) for queue in one.queues}
        waiting: dict[str, datetime] = {}
        for row in await node.store.waiting_effects(node.tenant, now - LATE, 1_000):
            if row.queue and row.queue not in served:
                waiting[row.queue] = min(row.created, waiting.get(row.queue, row.created))
        for name in queues:
            queue = queue_of(node.tenant, name)
            left = None if queue in served else await node.store.until_due([queue])
            if left is not None and left <= -LATE:
                waiting[queue] = min(now + left, waiting.get(queue, now + left))
        return [Unserved(queue=queue, since=since) for queue, since in sorted(waiting.items())]
