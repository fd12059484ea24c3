"""The registry of nodes, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from holdfast.model.cluster import NodeRow, NodeState, Registration, free_worker
from holdfast.model.work import Owner
from holdfast.persistence.memory.tables import MemoryStoreBase


class MemoryNodes(MemoryStoreBase):
    async def now(self) -> datetime:
        return self._now()

    async def register_node(self, node_id: str, *, time_to_live: timedelta, details: bytes = b"") -> Registration:
        now = self._now()
        before = self._tables.nodes.pop(node_id, None)
        taken = {node.worker for node in self._tables.nodes.values() if node.alive_at(now)}
        self._tables.boots += 1
        node = NodeRow(
            id=node_id,
            boot=self._tables.boots,
            worker=free_worker(taken, self._tables.boots),
            started=now,
            heartbeat=now,
            time_to_live=time_to_live,
            details=details,
        )
        self._tables.nodes[node_id] = node
        died = before is not None and before.state is not NodeState.LEFT
        return Registration(node=node, predecessor_died=died)

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        return self._renew(owner, state)

    async def leave(self, owner: Owner) -> None:
        self._renew(owner, NodeState.LEFT)
        self._changed()

    async def list_nodes(self) -> Sequence[NodeRow]:
        return sorted(self._tables.nodes.values(), key=lambda node: node.id)

    async def forget_nodes(self, silent_since: datetime) -> int:
        now = self._now()
        owners = {row.owner for row in self._tables.effects.values()}
        silent = [
            node.id
            for node in self._tables.nodes.values()
            if not node.alive_at(now) and node.heartbeat < silent_since and node.owner not in owners
        ]
        for node_id in silent:
            del self._tables.nodes[node_id]
        return len(silent)

    def _renew(self, owner: Owner, state: NodeState) -> bool:
        node = self._tables.nodes.get(owner.node)
        if node is None or node.boot != owner.boot:
            return False
        self._tables.nodes[owner.node] = replace(node, heartbeat=self._now(), state=state)
        return True
