"""Nodes of the cluster: the registry, the queues without a node, and pause and drain of this node."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.node_details import NodeDetails, read_details
from holdfast.model.work import queue_of, tenant_of
from holdfast.runtime.commits.placement import STEP_QUEUE
from holdfast.runtime.facade import Runtime

OVERDUE_AFTER = timedelta(seconds=30)
"""Work of a queue without a node is reported when it is due for this long."""


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


class Unserved(Struct, frozen=True, kw_only=True):
    """Work in a queue that no live node serves."""

    queue: str
    since: datetime


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
        runtime = self._runtime
        now = await runtime.store.now()
        # A draining node is alive but takes no work.
        taking = [row for row in await runtime.store.list_nodes() if row.alive_at(now) and row.state is NodeState.LIVE]
        open_to = [read_details(row.details) for row in taking]
        served = {
            queue_of(runtime.tenant, queue) for one in open_to if one.serves(runtime.tenant) for queue in one.queues
        }
        waiting: dict[str, datetime] = {}
        for row in await runtime.store.waiting_effects(runtime.tenant, now - OVERDUE_AFTER, 1_000):
            if row.queue and row.queue not in served:
                waiting[row.queue] = min(row.created, waiting.get(row.queue, row.created))
        for queue in await runtime.store.queues_with_work():
            if queue in served or queue.startswith(STEP_QUEUE) or tenant_of(queue) != runtime.tenant:
                continue
            left = await runtime.store.until_due([queue])
            if left is not None and left <= -OVERDUE_AFTER:
                waiting[queue] = min(now + left, waiting.get(queue, now + left))
        return [Unserved(queue=queue, since=since) for queue, since in sorted(waiting.items())]
