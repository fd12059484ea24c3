"""The composition root: wires registries, languages, activities and the runner together. No logic of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, cast

from holdfast.activities.http.outbound import OutboundHttp
from holdfast.engine.arguments import check_store, checked_definition, checked_settings, listed
from holdfast.engine.host import Host, node_name
from holdfast.engine.parts import Parts
from holdfast.engine.standard import GivenPlugin, StandardPlugin
from holdfast.errors import HoldfastError
from holdfast.execution.pipeline import ordered
from holdfast.identity.directory import StoredDirectory
from holdfast.identity.links import StoredLinks
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.plugins import load_plugins
from holdfast.ports import (
    Clock,
    EndpointPolicies,
    EndpointPolicy,
    HttpSelectors,
    MiddlewarePlacement,
    Outlet,
    Plugin,
    PrincipalDirectory,
    ResumeLinks,
    StepDispatcher,
    Store,
    WorkflowDispatcher,
)
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.cluster.plugin_tasks import PluginTasks, RecurringTask
from holdfast.runtime.dispatchers.event_names import named_event
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.observability.subscription import Handler, subscribe
from holdfast.runtime.plans.catalog import DefinitionCatalog
from holdfast.runtime.service_table import ServiceTable

if TYPE_CHECKING:
    from holdfast.authoring.compiled import WorkflowFunction
    from holdfast.management.runtime import ManagedRuntime
    from holdfast.model.requests import Receipt
    from holdfast.runtime.handles import Handle, Startable

P = ParamSpec("P")
R = TypeVar("R")


class Holdfast(Parts):
    """The engine. Each of its parts can be replaced here.

    `activities` are functions and classes that JSON documents may name; workflows of Python objects register their activities
    themselves. `definitions` are workflows that other workflows execute or use as activities.

    With a `store` (an address or a `Store`, or the setting `store` in HOLDFAST_STORE or holdfast.toml) it is an application:
    `async with app:` opens the store, joins the cluster as `node`, publishes `workflows` (a `Path` is a file or folder of
    documents; `watch` publishes them again when they change), and takes work unless `worker` is False; `app.runtime` is
    available while it is open. `dispatcher` is called with the runtime and returns the dispatcher of requests; `steps` carries
    effects that are placed on a queue. `outlets` receive lifecycle events. `policies` are rules for HTTP endpoints, by name.
    """

    def __init__(
        self,
        *,
        store: str | Store | None = None,
        workflows: Iterable[Any] = (),
        dispatcher: Callable[[Any], WorkflowDispatcher] | None = None,
        steps: StepDispatcher | None = None,
        outlets: Iterable[Outlet] = (),
        node: str | None = None,
        tenant: str = DEFAULT_TENANT,
        worker: bool = True,
        watch: bool = False,
        plugins: Iterable[Plugin] = (),
        activities: Iterable[Any] = (),
        definitions: Iterable[Any] = (),
        services: Mapping[type, Any] | None = None,
        middleware: Iterable[MiddlewarePlacement] = (),
        types: Iterable[type] | Mapping[str, type] = (),
        policies: Mapping[str, EndpointPolicy] | None = None,
        clock: Clock | None = None,
        entry_points: bool = True,
        **settings: Any,
    ) -> None:
        check_store(store)
        given = listed("workflows", workflows)
        catalog = DefinitionCatalog()
        own = GivenPlugin(listed("activities", activities), services or {}, middleware, types, policies or {})
        standard = StandardPlugin(catalog)
        registry = load_plugins([standard, *plugins, own], entry_points=entry_points)
        ordered(registry.middleware)  # Raises for an unknown place now, not with the first workflow.
        if isinstance(store, str):
            settings["store"] = store
        super().__init__(catalog, registry, checked_settings(settings, registry))
        standard.configure(self.settings)
        self.clock = clock or SystemClock()
        self.tenant = tenant
        self.services = ServiceTable({**self._own_services(), **self.registry.services})
        self.workflows = tuple(item for item in given if not isinstance(item, Path))
        """Workflows that are published when the application is opened."""
        for definition in (*listed("definitions", definitions), *self.workflows):
            self.definitions.add(checked_definition(self.definition(definition), registry))
        self.refresh()
        self._subscriptions: list[Callable[[], None]] = []
        by_address = store is None or isinstance(store, str)
        has_store = not by_address or "store" in self.settings.chosen
        self._host = Host(
            store=(self.store if by_address else lambda: cast("Store", store)) if has_store else None,
            transport=self.transport,
            make=lambda found, carrier: self.runtime_on(
                found,
                tenant=tenant,
                node=node or node_name(),
                takes_work=worker,
                dispatcher=dispatcher,
                outlets=outlets,
                placement=self.placement(carrier, steps=steps, takes_work=worker),
                second_handle=self.second_handle() if by_address else None,
            ),
            workflows=self.workflows,
            files=[item for item in given if isinstance(item, Path)],
            watch=watch,
            worker=worker,
        )
        self._pools = EffectPools(self.settings.threads_max, self.settings.processes_max)
        self.background = self._plugin_tasks(has_node=has_store)

    def _plugin_tasks(self, *, has_node: bool) -> PluginTasks:
        """The tasks of plugins that this process runs. Its node, if it has one, runs the tasks of a single node."""
        recurring = [
            RecurringTask(item.name, item.every, item.task)
            for item in self.registry.recurring_tasks
            if not (has_node and item.single_node)
        ]
        return PluginTasks(self.clock, self.registry.start_tasks, recurring)

    def _own_services(self) -> dict[type, Any]:
        """Services of the standard activities; registered services of the same type replace them."""
        settings = self.settings
        self._outbound = OutboundHttp(settings.http_private_allowed)
        return {
            OutboundHttp: self._outbound,
            EndpointPolicies: EndpointPolicies(self.registry.endpoint_policies),
            HttpSelectors: HttpSelectors(),
            PrincipalDirectory: StoredDirectory(self.clock.now),
            ResumeLinks: StoredLinks(
                lambda: self.runtime, self.clock.now, secret=settings.auth_secret, url=settings.public_url
            ),
        }

    # -- life ----------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the application: its store and node, if it has one, then the tasks of plugins."""
        await self._host.open()
        self._outbound.keep()
        try:
            await self.background.start()
        except BaseException:
            await self._host.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.background.stop()
        await self._host.close()
        await self._outbound.let_go()
        for end in self._subscriptions:
            end()
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the application is between `async with` and its end, with a store."""
        return self._host.is_open

    @property
    def runtime(self) -> ManagedRuntime:
        """The runtime of the open application."""
        return self._host.runtime

    def on(self, handler: Handler, *events: str, tenant: str | None = None) -> Callable[[], None]:
        """Subscribe to events of this process (docs/reference/events.md): to the named events, or to all. The handler is called
        with the name and the fields of the event, after the commit; an async handler runs as a task. Its errors are logged.
        It receives the events of the application's tenant, of another `tenant`, or with `tenant="*"` of all tenants.
        Returns a function that ends the subscription, which also ends with the application."""
        if not callable(handler) or not all(isinstance(name, str) for name in events):
            raise HoldfastError("Pass the handler first, then names of events: app.on(handler, 'instance.finished').")
        end = subscribe(handler, *events, tenant=self.tenant if tenant is None else tenant)
        self._subscriptions.append(end)
        return end

    # -- start ---------------------------------------------------------------------------------------------------------

    async def start(self, workflow: Startable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Start a workflow function; it is committed when this returns. Options: `app.start(fulfil.options(…), order)`."""
        from holdfast.runtime import handles

        return await handles.start(self.runtime, workflow, args, kwargs)

    async def start_in(
        self, session: Any, workflow: Startable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Handle[R]:
        """Start an instance with the commit of your transaction: a SQLAlchemy session or connection on the store's database.

        Only a work row is written; a node that claims the row starts the instance after your commit.
        """
        from holdfast.runtime import handles

        return await handles.start_in(self.runtime, session, workflow, args, kwargs)

    async def send(
        self,
        event: Any,
        payload: Any = None,
        *,
        key: Any = None,
        correlation_id: str | None = None,
        instance_id: str | None = None,
        broadcast: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Send an event: an object of its class, or a name with a payload. The address is a key, a correlation id
        or an instance. Without an address, or with `broadcast`, the event goes to all bookmarks that wait for it."""
        name, brought = named_event(event, payload)
        return await self.runtime.stimuli.event(
            name,
            brought,
            key=key,
            correlation_id=correlation_id,
            instance_id=instance_id,
            broadcast=broadcast,
            idempotency_key=idempotency_key,
        )

    def handle(self, workflow: WorkflowFunction[P, R], instance_id: str) -> Handle[R]:
        """The handle of an instance that was started before, in any process."""
        from holdfast.runtime.handles import Handle

        return Handle(self.runtime, instance_id)
