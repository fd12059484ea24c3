"""Queues with overdue work that no live node serves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from holdfast.model.cluster import NodeState
from holdfast.model.node_details import NodeDetails, read_details
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import queue_of, tenant_of
from holdfast.ports import Store
from holdfast.runtime.commits.placement import STEP_QUEUE

OVERDUE_AFTER = timedelta(seconds=30)
"""Work of a queue without a node is reported when it is due for this long."""
EFFECTS_MAX = 1_000
"""Waiting effects per tenant that one report reads."""


class Unserved(Struct, frozen=True, kw_only=True):
    """Work in a queue that no live node serves."""

    queue: str
    """As work rows name it: with its tenant."""
    since: datetime
    tenant_is_served: bool = True
    """Whether a live node takes other work of the tenant."""

    @property
    def tenant(self) -> str:
        return tenant_of(self.queue)

    @property
    def name(self) -> str:
        """The queue without its tenant."""
        return self.queue.rpartition("@")[0] if "@" in self.queue else self.queue


async def unserved_queues(store: Store, tenants: Collection[str]) -> Sequence[Unserved]:
    """Queues with overdue work of these tenants that no live node serves: starts, resumes, timers and steps."""
    now = await store.now()
    open_to = await _taking(store, now)
    served = {
        queue_of(tenant, queue) for one in open_to for tenant in tenants if one.serves(tenant) for queue in one.queues
    }
    waiting: dict[str, datetime] = {}
    for tenant in tenants:
        for row in await store.waiting_effects(tenant, now - OVERDUE_AFTER, EFFECTS_MAX):
            if row.queue and row.queue not in served:
                waiting[row.queue] = min(row.created, waiting.get(row.queue, row.created))
    for queue in await store.queues_with_work():
        if queue in served or queue.startswith(STEP_QUEUE) or tenant_of(queue) not in tenants:
            continue
        left = await store.until_due([queue])
        if left is not None and left <= -OVERDUE_AFTER:
            waiting[queue] = min(now + left, waiting.get(queue, now + left))
    return [
        Unserved(
            queue=queue,
            since=since,
            tenant_is_served=any(one.queues and one.serves(tenant_of(queue)) for one in open_to),
        )
        for queue, since in sorted(waiting.items())
    ]


async def tenants_with_work(store: Store) -> list[str]:
    """The default tenant, the tenants of live nodes, and the tenants that have work rows."""
    open_to = await _taking(store, await store.now())
    of_nodes = {tenant for one in open_to for tenant in (one.tenant, *one.tenants) if tenant is not None}
    return sorted({DEFAULT_TENANT} | of_nodes | set(map(tenant_of, await store.queues_with_work())))


async def _taking(store: Store, now: datetime) -> list[NodeDetails]:
    """Details of the nodes that take work: a draining node is alive but takes none."""
    nodes = [row for row in await store.list_nodes() if row.alive_at(now) and row.state is NodeState.LIVE]
    return [read_details(row.details) for row in nodes]
