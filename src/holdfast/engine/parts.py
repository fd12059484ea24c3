"""Parts that an engine makes: the runner, stores, transports, and runtimes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.engine.library import Library
from holdfast.execution.segment import Limits
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.ports import Clock, Outlet, Services, StepDispatcher, Store, Transport, WorkflowDispatcher
from holdfast.runtime.cluster.plugin_tasks import RecurringTask
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.inline.runner import Runner
from holdfast.runtime.steps.limits.spec import parse_limits

if TYPE_CHECKING:
    from holdfast.management.runtime import ManagedRuntime
    from holdfast.runtime.commits.placement import Placement

DATABASE = "database"
"""The address of the default transport: the work table of the store."""


class Parts(Library):
    services: Services
    clock: Clock
    tenant: str = DEFAULT_TENANT
    """The tenant of the application and of its runner."""
    _pools: EffectPools

    @cached_property
    def runner(self) -> Runner:
        """Executes workflows in this process, without storage."""
        settings = self.settings
        return Runner(
            plan_of=self.plan,
            services=self.services,
            clock=self.clock,
            limits=self._limits(),
            pools=self._pools,
            middleware=self.registry.middleware,
            cancel_grace=settings.cancel_grace,
            definitions=self.definitions,
            tenant=self.tenant,
        )

    def store(self, url: str | None = None, *, connections: int | None = None) -> Store:
        """The store of that address, or of the settings, with the settings' codec, retries and number of connections; not open
        yet."""
        # Imported here: an engine without a store does not need it.
        from holdfast.persistence.codec import codec_of_keys
        from holdfast.persistence.retry import RetryPolicy
        from holdfast.persistence.url import store_from_url

        settings = self.settings
        limit = connections or settings.store_connections
        return store_from_url(
            url or settings.store,
            plugins=self.registry.stores,
            codec=codec_of_keys(settings.encryption_keys),
            retry=RetryPolicy(retries=settings.store_retries, delay=settings.store_retry_delay),
            **({"connections": limit} if limit else {}),
        )

    def transport(self, url: str | None = None) -> Transport | None:
        """The transport of steps, by its address or by the settings; not open yet. None: the work table of the store."""
        from holdfast.dispatch.url import transport_from_url

        address = url or self.settings.transport
        if address == DATABASE:
            return None
        return transport_from_url(address, plugins=self.registry.transports)

    def placement(
        self, transport: Transport | None = None, *, steps: StepDispatcher | None = None, takes_work: bool = True
    ) -> Placement:
        """The placement of effects by the settings; steps are carried by that transport or dispatcher.

        A process that takes no work leaves effects without a queue to workers: it may be a command that ends before the effects.
        """
        from holdfast.dispatch.steps import TransportSteps
        from holdfast.runtime.commits.placement import INLINE, Placement

        queue = self.settings.effects_queue
        if steps is None:
            queue = DEFAULT_QUEUE if queue == INLINE and not takes_work else queue
            steps = None if transport is None else TransportSteps(transport)
        return Placement(default=queue, dispatcher=steps, transport=transport)

    def second_handle(self, url: str | None = None) -> Callable[[], Store] | None:
        """Makes another handle of a store, for the heartbeat; None for a store in memory, which has only one handle."""
        address = url or self.settings.store
        return None if address.startswith("memory:") else lambda: self.store(address)

    def runtime_on(
        self,
        store: Store,
        *,
        tenant: str = DEFAULT_TENANT,
        tenants: Sequence[str] = (),
        node: str = "local",
        lanes: int | None = None,
        dispatcher: Callable[[Any], WorkflowDispatcher] | None = None,
        queues: Sequence[str] | None = None,
        takes_work: bool = True,
        does_own: bool | None = None,
        placement: Placement | None = None,
        step_concurrency: int | None = None,
        second_handle: Callable[[], Store] | None = None,
        outlets: Iterable[Outlet] = (),
    ) -> ManagedRuntime:
        """A runtime on an open store: `async with engine.runtime_on(store) as runtime`. It takes work after `take_work()`.

        `tenants` are all tenants that the node serves; `runtime.of_tenant(name)` is the view of another one of them. `queues`
        are the queues that it serves, `lanes` is the number of its lanes (default: the settings). `takes_work=False` announces
        that it serves none, and leaves the work rows that it adds to other nodes, unless it `does_own`. `placement` is the
        place of effects and the carrier of steps. `second_handle` makes another handle of the store, for the heartbeat.
        `outlets` are added to those of the settings.
        """
        from holdfast.engine.outlets import outlets_of
        from holdfast.management.runtime import ManagedRuntime
        from holdfast.runtime.cluster.node import Node
        from holdfast.runtime.cluster.options import NodeEnvironment, NodeOptions
        from holdfast.runtime.commits.placement import Placement
        from holdfast.settings import History

        settings = self.settings
        environment = NodeEnvironment(
            store=store,
            plan_of=self.plan,
            services=self.services,
            clock=self.clock,
            limits=self._limits(),
            pools=self._pools,
            placement=placement or Placement(default=settings.effects_queue),
            middleware=self.registry.middleware,
            definitions=self.definitions,
            workshop=self,
            outlets=(*outlets, *outlets_of(settings)),
            second_handle=second_handle,
        )
        options = NodeOptions(
            name=node,
            tenants=tuple(tenants) or (tenant,),
            queues=tuple(queues or [name.strip() for name in settings.queues.split(",") if name.strip()]),
            takes_work=takes_work,
            does_own=takes_work if does_own is None else does_own,
            lanes=settings.lanes if lanes is None else lanes,
            time_to_live=settings.node_alive,
            beat_every=settings.node_beat,
            sweep_every=settings.node_sweep,
            cancel_grace=settings.cancel_grace,
            step_concurrency=settings.step_concurrency if step_concurrency is None else step_concurrency,
            step_limits=parse_limits(settings.step_limits),
            cluster_limits=parse_limits(settings.cluster_limits),
            singleton_tasks=tuple(
                RecurringTask(item.name, item.every, item.task)
                for item in self.registry.recurring_tasks
                if item.single_node
            ),
            snapshots=settings.history is History.SNAPSHOTS,
        )
        return ManagedRuntime(
            Node(environment, options).parts,
            tenant,
            self,
            make_dispatcher=dispatcher,
            deployment=settings.deployment,
        )

    def _limits(self) -> Limits:
        settings = self.settings
        return Limits(
            activities=settings.segment_activities,
            nanoseconds=int(settings.segment_time.total_seconds() * 1_000_000_000),
            runaway=settings.runaway_activities,
        )

    def close(self) -> None:
        """Close the thread and process pools."""
        self._pools.close()
