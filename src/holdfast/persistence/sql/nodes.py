"""The registry of nodes."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.model.cluster import NodeRow, NodeState, Registration, free_worker
from holdfast.model.work import Owner
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import micros, moment
from holdfast.persistence.sql.work_tables import NODE

_ALIVE = "state <> 'left' and heartbeat + time_to_live > ?"
_SILENT = f"""heartbeat < ? and not ({_ALIVE}) and not exists (
    select 1 from hf_effect e where e.owner_node = hf_node.id and e.owner_boot = hf_node.boot)"""


class SqlNodes(SqlStoreBase):
    async def register_node(self, node_id: str, *, time_to_live: timedelta, details: bytes = b"") -> Registration:
        return await self._write(lambda: self._register(node_id, time_to_live, details))

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        return await self._write(lambda: self._renew(owner, state))

    async def leave(self, owner: Owner) -> None:
        await self._write(lambda: self._renew(owner, NodeState.LEFT))

    async def list_nodes(self) -> Sequence[NodeRow]:
        return await self._read(self._nodes())

    async def forget_nodes(self, silent_since: datetime) -> int:
        return await self._write(lambda: self._forget(silent_since))

    def _register(self, node_id: str, time_to_live: timedelta, details: bytes) -> Script[Registration]:
        boot = yield from self._count_up("boot")
        now = yield from self._micros_now()
        nodes = {node.id: node for node in (yield from self._nodes())}
        before = nodes.pop(node_id, None)
        taken = {node.worker for node in nodes.values() if node.alive_at(moment(now))}
        node = NodeRow(
            id=node_id,
            boot=boot,
            worker=free_worker(taken, boot),
            started=moment(now),
            heartbeat=moment(now),
            time_to_live=time_to_live,
            details=details,
        )
        yield execute("delete from hf_node where id = ?", node_id)
        yield execute(NODE.insert, *NODE.encode(node, self._codec))
        died = before is not None and before.state is not NodeState.LEFT
        return Registration(node=node, predecessor_died=died)

    def _renew(self, owner: Owner, state: NodeState) -> Script[bool]:
        now = yield from self._micros_now()
        found = yield execute(f"select boot from hf_node where id = ?{self._dialect.lock}", owner.node)
        if not found or found[0][0] != owner.boot:
            return False
        yield execute("update hf_node set heartbeat = ?, state = ? where id = ?", now, state.value, owner.node)
        return True

    def _nodes(self) -> Script[list[NodeRow]]:
        rows = yield execute(NODE.select + " order by id")
        return NODE.rows(rows, self._codec)

    def _forget(self, silent_since: datetime) -> Script[int]:
        now = yield from self._micros_now()
        values = (micros(silent_since), now)
        rows = yield execute(f"select id from hf_node where {_SILENT}{self._dialect.lock}", *values)
        for row in rows:
            yield execute("delete from hf_node where id = ?", row[0])
        return len(rows)
