"""Nodes of the cluster: the registry, the queues without a node, and pause and drain of this node."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from holdfast.management.unserved import Unserved, unserved_queues
from holdfast.model.cluster import NodeRow
from holdfast.model.node_details import NodeDetails, read_details
from holdfast.runtime.facade import Runtime


class NodeInfo(Struct, frozen=True, kw_only=True):
    id: str
    boot: int
    state: str
    """`live`, `draining`, `left`; or `dead`: its last heartbeat is too old, and it did not leave."""
    alive: bool
    this: bool
    started: datetime
    heartbeat: datetime
    details: NodeDetails
    paused: bool = False
    """The node takes no new work; only known of this node."""
    careful: bool = False


class Nodes:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def list(self) -> list[NodeInfo]:
        """All nodes of the registry; a dead node stays for a while."""
        store = self._runtime.store
        now = await store.now()
        return [self._info(row, now) for row in await store.list_nodes()]

    async def this(self) -> NodeInfo:
        return next(item for item in await self.list() if item.this)

    def _info(self, row: NodeRow, now: datetime) -> NodeInfo:
        runtime, alive = self._runtime, row.alive_at(now)
        this = row.owner == runtime.membership.owner
        return NodeInfo(
            id=row.id,
            boot=row.boot,
            state=row.state.value if alive or row.state.value == "left" else "dead",
            alive=alive,
            this=this,
            started=row.started,
            heartbeat=row.heartbeat,
            details=read_details(row.details),
            paused=this and runtime.intake.paused,
            careful=this and runtime.intake.in_quarantine,
        )

    # -- this node -----------------------------------------------------------------------------------------------------

    def pause_intake(self) -> None:
        """Take no new work; work in hand continues. Starts and resumes that are requested of this node are still executed."""
        self._runtime.intake.paused = True

    def resume_intake(self) -> None:
        self._runtime.intake.paused = False

    async def drain(self, limit: timedelta = timedelta(seconds=30)) -> bool:
        """Take no new work and wait until the work in hand has ended; False if the limit passed first."""
        return await self._runtime.drain(limit)

    # -- queues without a node -----------------------------------------------------------------------------------------

    async def unserved(self) -> Sequence[Unserved]:
        """Queues with overdue work of this tenant that no live node serves: starts, resumes, timers and steps; for health
        and metrics."""
        return await unserved_queues(self._runtime.store, (self._runtime.tenant,))
