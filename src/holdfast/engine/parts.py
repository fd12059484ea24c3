"""What an engine makes: the runner, stores, transports, and runtimes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.engine.library import Library
from holdfast.execution.segment import Limits
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.ports import Clock, Outlet, Services, StepDispatcher, Store, Transport, WorkflowDispatcher
from holdfast.runtime.cluster.plugin_tasks import Recurring
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.inline.runner import Runner
from holdfast.runtime.steps.limits.spec import parse_limits

if TYPE_CHECKING:
    from holdfast.runtime.commits.placement import Placement
    from holdfast.runtime.facade import Runtime

DATABASE = "database"
"""The address of the transport that needs none: the store's work table."""


class Parts(Library):
    services: Services
    clock: Clock
    _pools: EffectPools

    @cached_property
    def runner(self) -> Runner:
        """Executes workflows here and now, with no storage."""
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
        )

    def store(self, url: str | None = None) -> Store:
        """The store of that address, or of the settings, with the settings' codec and retries; not open yet."""
        # Imported here: who keeps nothing need not load it.
        from holdfast.persistence.codec import codec_of_keys
        from holdfast.persistence.retry import RetryPolicy
        from holdfast.persistence.url import store_from_url

        settings = self.settings
        return store_from_url(
            url or settings.store,
            plugins=self.registry.stores,
            codec=codec_of_keys(settings.encryption_keys),
            retry=RetryPolicy(retries=settings.store_retries, delay=settings.store_retry_delay),
        )

    def transport(self, url: str | None = None) -> Transport | None:
        """What carries steps, by its address or by the settings; not open yet. None: the store's own work table."""
        from holdfast.dispatch.url import transport_from_url

        address = url or self.settings.transport
        if address == DATABASE:
            return None
        return transport_from_url(address, plugins=self.registry.transports)

    def placement(
        self, transport: Transport | None = None, *, steps: StepDispatcher | None = None, takes_work: bool = True
    ) -> Placement:
        """Where effects run: by the settings, with steps carried by that transport, or handed to that dispatcher. Who takes no
        work leaves those that name no queue to the workers: it may be a command, gone before they end."""
        from holdfast.dispatch.steps import TransportSteps
        from holdfast.runtime.commits.placement import INLINE, Placement

        queue = self.settings.effects_queue
        if steps is None:
            queue = DEFAULT_QUEUE if queue == INLINE and not takes_work else queue
            steps = None if transport is None else TransportSteps(transport)
        return Placement(default=queue, dispatcher=steps, transport=transport)

    def second_handle(self, url: str | None = None) -> Callable[[], Store] | None:
        """Makes another handle of a store, for the heartbeat; None where a handle is all that there is."""
        address = url or self.settings.store
        return None if address.startswith("memory:") else lambda: self.store(address)

    def runtime_on(
        self,
        store: Store,
        *,
        tenant: str = DEFAULT_TENANT,
        node: str = "local",
        lanes: int = 2,
        dispatcher: Callable[[Any], WorkflowDispatcher] | None = None,
        queues: Sequence[str] | None = None,
        takes_work: bool = True,
        does_own: bool | None = None,
        placement: Placement | None = None,
        second_handle: Callable[[], Store] | None = None,
        outlets: Iterable[Outlet] = (),
    ) -> Runtime:
        """A runtime on a store that is open: `async with engine.runtime_on(store) as runtime`. It takes no work by itself.

        `queues` are those that it serves when it takes work (else those of the settings); `takes_work=False` tells the others
        that it never will, and leaves to them what it writes itself, unless it `does_own`. `placement` says where effects run
        and what carries steps, `second_handle` makes another handle of the store, for the heartbeat. `outlets` are there beside
        those of the settings.
        """
        from holdfast.engine.outlets import outlets_of
        from holdfast.runtime.cluster.node import Node
        from holdfast.runtime.commits.placement import Placement
        from holdfast.runtime.facade import Runtime
        from holdfast.settings import History

        settings = self.settings
        return Runtime(
            Node(
                store,
                plan_of=self.plan,
                services=self.services,
                clock=self.clock,
                limits=self._limits(),
                pools=self._pools,
                middleware=self.registry.middleware,
                cancel_grace=settings.cancel_grace,
                tenant=tenant,
                name=node,
                lanes=lanes,
                time_to_live=settings.node_alive,
                beat_every=settings.node_beat,
                sweep_every=settings.node_sweep,
                second_handle=second_handle,
                definitions=self.definitions,
                queues=queues or [name.strip() for name in settings.queues.split(",") if name.strip()],
                takes_work=takes_work,
                does_own=takes_work if does_own is None else does_own,
                step_concurrency=settings.step_concurrency,
                step_limits=parse_limits(settings.step_limits),
                cluster_limits=parse_limits(settings.cluster_limits),
                single_tasks=[
                    Recurring(item.name, item.every, item.task)
                    for item in self.registry.recurring_tasks
                    if item.single_node
                ],
                placement=placement or Placement(default=settings.effects_queue),
                keeps_states=settings.history is History.SNAPSHOTS,
            ),
            self,
            dispatcher=dispatcher,
            deployment=settings.deployment,
            outlets=(*outlets, *outlets_of(settings)),
        )

    def _limits(self) -> Limits:
        settings = self.settings
        return Limits(
            activities=settings.segment_activities,
            nanoseconds=int(settings.segment_time.total_seconds() * 1_000_000_000),
            runaway=settings.runaway_activities,
        )

    def close(self) -> None:
        """Let go of threads and processes."""
        self._pools.close()
