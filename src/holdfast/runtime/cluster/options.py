"""Options of a node, and the collaborators that the engine gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from holdfast.execution.plan import Plan
from holdfast.execution.segment import Limits
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import DEFAULT_QUEUE, queue_of
from holdfast.ports import Clock, DefinitionSource, MiddlewarePlacement, Outlet, Services, Store
from holdfast.runtime.cluster.plugin_tasks import RecurringTask
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.plans.triggers import Workshop
from holdfast.runtime.steps.limits.spec import Limit

TIME_TO_LIVE = timedelta(seconds=30)
SWEEP_EVERY = timedelta(seconds=5)


class NodeOptions(Struct, frozen=True, kw_only=True):
    name: str = "local"
    tenants: tuple[str, ...] = (DEFAULT_TENANT,)
    queues: tuple[str, ...] = (DEFAULT_QUEUE,)
    """Queues that the node serves if it takes work."""
    takes_work: bool = True
    does_own: bool = True
    """The node executes work rows that it adds itself at once."""
    lanes: int = 2
    time_to_live: timedelta = TIME_TO_LIVE
    """A node whose heartbeat is older counts as dead."""
    beat_every: timedelta | None = None
    sweep_every: timedelta = SWEEP_EVERY
    cancel_grace: timedelta = timedelta(seconds=10)
    step_concurrency: int = 32
    step_limits: Mapping[str, Limit] = {}
    cluster_limits: Mapping[str, Limit] = {}
    singleton_tasks: tuple[RecurringTask, ...] = ()
    snapshots: bool = False
    """The state of every commit is stored (`history = snapshots`)."""

    @property
    def stored_queues(self) -> list[str]:
        """The queues with their tenants, as work rows name them."""
        return [queue_of(tenant, queue) for tenant in self.tenants for queue in self.queues]


class NodeEnvironment(Struct, frozen=True, kw_only=True):
    store: Store
    plan_of: Callable[[Any], Plan]
    services: Services
    clock: Clock
    limits: Limits
    pools: EffectPools
    placement: Placement = Placement()
    middleware: tuple[MiddlewarePlacement, ...] = ()
    definitions: DefinitionSource | None = None
    workshop: Workshop | None = None
    outlets: tuple[Outlet, ...] = ()
    second_handle: Callable[[], Store] | None = None
    """Makes another handle of the store, for the heartbeat."""
