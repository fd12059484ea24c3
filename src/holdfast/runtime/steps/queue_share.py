"""Shares of queues: queues that a worker takes steps from together, with their limits on this node and in the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from holdfast.model.work import queue_of
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.effects.running_effects import EffectKey
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.cluster import ClusterLimit
from holdfast.runtime.steps.limits.local import POLL_SECONDS, LocalLimit
from holdfast.runtime.steps.limits.per_value import LimitPerValue, Value
from holdfast.runtime.steps.limits.spec import Limit


class QueueShare:
    """The queues of one tenant that have no limit of their own, or one queue that has a limit."""

    def __init__(
        self,
        queues: Sequence[str],
        local_limit: LocalLimit | None = None,
        cluster_limit: ClusterLimit | None = None,
        per_value: LimitPerValue | None = None,
    ) -> None:
        """`queues` are full names, with their tenant."""
        self.queues = list(queues)
        self._local_limit = local_limit
        self.cluster_limit = cluster_limit
        self.per_value = per_value
        self.counted_values: dict[EffectKey, Sequence[Value]] = {}
        """The values by which each running step is counted."""
        self.starting: set[str] = set()
        """Work rows and tickets of steps that are being taken."""
        self.running: set[EffectKey] = set()
        self.reserved = 0
        """Places that are promised to an intake which looks for work now."""

    @property
    def used(self) -> int:
        return len(self.starting) + len(self.running)

    @property
    def takes_committed(self) -> bool:
        """Whether a step may start without a look at the store: only its room on this node counts."""
        return self.cluster_limit is None and self.per_value is None

    @property
    def poll_seconds(self) -> float:
        """Seconds until there may be room again."""
        limits = (self._local_limit, self.cluster_limit)
        return min([POLL_SECONDS, *(limit.poll_seconds for limit in limits if limit is not None)])

    def room(self, free: int) -> int:
        """How many of the free places of this node the share may use."""
        return free if self._local_limit is None else min(free, self._local_limit.room(self.used + self.reserved))

    def begin(self, mark: str) -> None:
        """Count a step that is being taken, by its work row or ticket."""
        self.starting.add(mark)
        if self._local_limit is not None:
            self._local_limit.take(1)


def shares_of(
    store: Store,
    membership: Membership,
    reader: InstanceReader,
    log: OutageLog,
    tenants: Collection[str],
    queues: Sequence[str],
    limits: Mapping[str, Limit],
    cluster_limits: Mapping[str, Limit],
) -> Iterator[QueueShare]:
    """One share for each tenant and limited queue, and one for each tenant with all its unlimited queues.

    The shares of the tenants take turns at the free places of the node, so no tenant waits behind the backlog of another.
    """
    unlimited = [queue for queue in queues if queue not in limits and queue not in cluster_limits]
    for tenant in tenants:
        if unlimited:
            yield QueueShare([queue_of(tenant, queue) for queue in unlimited])
        for queue in queues:
            if queue in unlimited:
                continue
            local, cluster = limits.get(queue, Limit()), cluster_limits.get(queue, Limit())
            yield QueueShare(
                [queue_of(tenant, queue)],
                LocalLimit(local) if local.covers_queue else None,
                ClusterLimit(store, membership, log, tenant, queue, cluster) if cluster.covers_queue else None,
                LimitPerValue(store, membership, reader, log, tenant, queue, local.per_value, cluster.per_value)
                if local.per_value or cluster.per_value
                else None,
            )
