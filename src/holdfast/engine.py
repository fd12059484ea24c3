"""The composition root: wires registries, languages, activities and the runner together. No logic of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from holdfast.activities import standard_types
from holdfast.activities.http.outbound import OutboundHttp
from holdfast.authoring.activity import Activity
from holdfast.authoring.workflow import Workflow
from holdfast.elsa import is_elsa, parse_elsa
from holdfast.errors import DefinitionError
from holdfast.execution.compiler import Environment, compile_plan
from holdfast.execution.composite import describe_workflow, find_workflow
from holdfast.execution.pipeline import ordered
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Limits
from holdfast.expressions import standard_evaluators
from holdfast.expressions.javascript import JavaScriptEvaluator
from holdfast.expressions.javascript.engine import JsLimits
from holdfast.expressions.liquid import LiquidEvaluator
from holdfast.expressions.python import PythonEvaluator
from holdfast.identity.links import StoredLinks
from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.problem import Problem
from holdfast.model.reader import parse_definition
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.model.validate import validate
from holdfast.model.values import TypeRegistry
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.plugins import Registry, load_plugins
from holdfast.ports import (
    ActivityType,
    Clock,
    EndpointPolicies,
    EndpointPolicy,
    ExpressionEvaluator,
    HttpSelectors,
    MiddlewarePlacement,
    Plugin,
    Registration,
    ResumeLinks,
    StepDispatcher,
    Store,
    Transport,
    WorkflowDispatcher,
)
from holdfast.runtime.background import Background, Recurring
from holdfast.runtime.catalog import PLANS_MAX, DefinitionCatalog, PlanCache
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.hosting import Hosting, node_name
from holdfast.runtime.pools import EffectPools
from holdfast.runtime.runner import Runner
from holdfast.runtime.services import ServiceTable
from holdfast.runtime.workflow_activities import WorkflowActivities
from holdfast.settings import Settings, load_settings

P = ParamSpec("P")
R = TypeVar("R")

if TYPE_CHECKING:
    from holdfast.authoring.compiled import WorkflowFunction
    from holdfast.runtime.durable.placement import Placement
    from holdfast.runtime.durable.runtime import Runtime
    from holdfast.runtime.handles import Handle, Startable


DATABASE = "database"
"""The address of the transport that needs none: the store's work table."""


class StandardPlugin:
    """Our own activities and languages, brought in by the door that is open to everyone."""

    name = "holdfast"
    needs: Sequence[str] = ()

    def __init__(self, definitions: DefinitionCatalog) -> None:
        self._definitions = definitions
        self.evaluators = standard_evaluators()

    def register(self, registration: Registration) -> None:
        registration.activity(*standard_types())
        registration.activity_provider(WorkflowActivities(self._definitions))
        for evaluator in self.evaluators.values():
            registration.language(evaluator)

    def configure(self, settings: Settings) -> None:
        """Set the limits of the languages: settings are known only after every plugin has added its own."""
        for evaluator in self.evaluators.values():
            if isinstance(evaluator, PythonEvaluator):
                evaluator.fuel = settings.python_steps
            elif isinstance(evaluator, LiquidEvaluator):
                evaluator.fuel = settings.liquid_steps
            elif isinstance(evaluator, JavaScriptEvaluator):
                evaluator.limits = JsLimits(time=settings.javascript_time, memory=settings.javascript_memory)


class _GivenPlugin:
    """What was handed to `Holdfast(…)` itself."""

    name = "Holdfast(…)"
    needs: Sequence[str] = ("holdfast",)

    def __init__(
        self,
        activities: Iterable[Any],
        services: Mapping[type, Any],
        middleware: Iterable[MiddlewarePlacement],
        types: Iterable[type],
        policies: Mapping[str, EndpointPolicy],
    ) -> None:
        self.given = tuple(activities), dict(services), tuple(middleware), tuple(types)
        self.policies = dict(policies)

    def register(self, registration: Registration) -> None:
        activities, services, middleware, types = self.given
        registration.activity(*activities)
        registration.value_type(*types)
        for service_type, instance in services.items():
            registration.service(service_type, instance)
        for placement in middleware:
            registration.middleware(placement)
        for name, policy in self.policies.items():
            registration.endpoint_policy(name, policy)


class Holdfast:
    """The engine. Everything that it is made of can be replaced here.

    `activities` are functions and classes that JSON may name; objects in a workflow bring theirs along. `definitions` are
    workflows that others execute or use as activities.

    With a `store` (an address or a `Store`) it is an application: `async with app:` opens the store, joins the cluster as
    `node`, publishes `workflows`, and takes work unless `worker` is False; `app.runtime` is then there. `dispatcher` is
    called with the runtime and carries requests instead of ours. `policies` are rules for HTTP endpoints, by name.
    """

    def __init__(
        self,
        *,
        store: str | Store | None = None,
        workflows: Iterable[Any] = (),
        dispatcher: Callable[[Any], WorkflowDispatcher] | None = None,
        node: str | None = None,
        tenant: str = DEFAULT_TENANT,
        worker: bool = True,
        plugins: Iterable[Plugin] = (),
        activities: Iterable[Any] = (),
        definitions: Iterable[Any] = (),
        services: Mapping[type, Any] | None = None,
        middleware: Iterable[MiddlewarePlacement] = (),
        types: Iterable[type] = (),
        policies: Mapping[str, EndpointPolicy] | None = None,
        clock: Clock | None = None,
        entry_points: bool = True,
        **settings: Any,
    ) -> None:
        self.definitions = DefinitionCatalog()
        own = _GivenPlugin(activities, services or {}, middleware, types, policies or {})
        standard = StandardPlugin(self.definitions)
        self.registry: Registry = load_plugins([standard, *plugins, own], entry_points=entry_points)
        ordered(self.registry.middleware)  # refuses a place that does not exist, now and not with the first workflow
        if isinstance(store, str):
            settings["store"] = store
        self.settings: Settings = load_settings(settings, declared=self.registry.settings)
        standard.configure(self.settings)
        self.clock = clock or SystemClock()
        self.services = ServiceTable({**self._own_services(), **self.registry.services})
        self._types = dict(self.registry.latest())
        self._versions = dict(self.registry.activity_types)
        self._plans = PlanCache(self._compile)
        self._read: dict[int, tuple[Any, Definition]] = {}
        """Definitions of the workflow objects that were run here, by identity (the object is kept, so it stays its own)."""
        self.workflows = workflows = tuple(workflows)
        """What it publishes when it is opened."""
        for definition in (*definitions, *workflows):
            self.definitions.add(self.definition(definition))
        self.refresh()
        self._hosting = Hosting(
            store=None if store is None else (lambda: self.store() if isinstance(store, str) else store),
            transport=self.transport,
            make=lambda found, carrier: self.runtime_on(
                found,
                tenant=tenant,
                node=node or node_name(),
                dispatcher=dispatcher,
                placement=self.placement(carrier),
                second_handle=self.second_handle(store) if isinstance(store, str) else None,
            ),
            workflows=workflows,
            worker=worker,
        )
        self._pools = EffectPools(self.settings.threads_max, self.settings.processes_max)
        self._background = Background(
            self.clock,
            self.registry.start_tasks,
            [Recurring(item.name, item.every, item.task) for item in self.registry.recurring_tasks],
        )

    def _own_services(self) -> dict[type, Any]:
        """What our own activities ask for; a service that was registered for the same goes before it."""
        settings = self.settings
        return {
            OutboundHttp: OutboundHttp(settings.http_private_allowed),
            EndpointPolicies: EndpointPolicies(self.registry.endpoint_policies),
            HttpSelectors: HttpSelectors(),
            ResumeLinks: StoredLinks(
                lambda: self.runtime.node, self.clock.now, secret=settings.auth_secret, url=settings.public_url
            ),
        }

    # -- life ----------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the application: its store and node, if it has one, then the tasks of plugins."""
        await self._hosting.open()
        try:
            await self._background.start()
        except BaseException:
            await self._hosting.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._background.stop()
        await self._hosting.close()
        self.close()

    @property
    def is_open(self) -> bool:
        """Whether the application is between `async with` and its end, with a store."""
        return self._hosting.is_open

    @property
    def runtime(self) -> Runtime:
        """Instances with storage, while the application is open."""
        return self._hosting.runtime

    # -- starting ------------------------------------------------------------------------------------------------------

    async def start(self, workflow: Startable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """Start a workflow function; it is committed when this returns. Options: `app.start(fulfil.options(…), order)`."""
        from holdfast.runtime import handles

        return await handles.start(self.runtime, workflow, args, kwargs)

    async def start_in(
        self, session: Any, workflow: Startable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Handle[R]:
        """Start with the commit of a transaction of yours: a SQLAlchemy session or connection on the store's database.

        Nothing but a row of work is written; whoever works on the store begins with it after your commit.
        """
        from holdfast.runtime import handles

        return await handles.start_in(self.runtime, session, workflow, args, kwargs)

    def handle(self, workflow: WorkflowFunction[P, R], instance_id: str) -> Handle[R]:
        """An instance that was started before, here or elsewhere."""
        from holdfast.runtime.handles import Handle

        return Handle(self.runtime, instance_id)

    # -- definitions ---------------------------------------------------------------------------------------------------

    def definition(self, workflow: Any) -> Definition:
        """A definition from whatever it is written as: objects, JSON (ours or Elsa 3's), or itself."""
        if isinstance(workflow, Definition):
            return workflow
        if isinstance(workflow, Activity):
            workflow = Workflow(workflow)
        if isinstance(workflow, Workflow):
            self._adopt(workflow)
            return workflow.definition
        if isinstance(workflow, Mapping):
            return parse_elsa(workflow) if is_elsa(workflow) else parse_definition(workflow)
        raise DefinitionError(
            f"A {type(workflow).__name__} is not a workflow. Give a Workflow, an activity, a Definition or a JSON document."
        )

    def refresh(self) -> None:
        """Ask the activity providers again: for workflows that were added, for documents that changed."""
        self.registry = self.registry.refreshed()
        self._versions.update(self.registry.activity_types)
        self._types.update(self.registry.latest())

    def _adopt(self, workflow: Workflow) -> None:
        """Activity types that a workflow's objects brought along."""
        for activity_type in workflow.activity_types:
            key = (activity_type.descriptor.type, activity_type.descriptor.version)
            known = self._versions.get(key)
            if known is not None and known is not activity_type:
                raise DefinitionError(
                    f"The activity type '{key[0]}' is used for two different activities. Give one another name: "
                    "@activity(name=…) or class X(Activity, name=…)."
                )
            self._versions[key] = self._types[key[0]] = activity_type
        self._own_types = (*self._own_types, *workflow.value_types)

    _own_types: tuple[type, ...] = ()

    def validate(self, workflow: Any) -> list[Problem]:
        """All problems of a definition, as data."""
        return validate(
            self.definition(workflow),
            descriptors=self.descriptors,
            languages=self.registry.languages,
            types=self._value_types(),
            find=self._describe_workflow,
            commit_strategies=self.registry.commit_strategies,
            trusted=True,  # documents with trusted code are refused where they are read
        )

    def _describe_workflow(self, activity: ActivityNode) -> ActivityDescriptor | None:
        found = find_workflow(self.definitions, activity)
        return None if found is None else describe_workflow(found, activity.type)

    @property
    def descriptors(self) -> dict[str, ActivityDescriptor]:
        """How every known activity type describes itself, by type."""
        return {name: item.descriptor for name, item in self._types.items()}

    def plan(self, workflow: Any) -> Plan:
        """The plan that bursts of this workflow run; compiled once."""
        if isinstance(workflow, Workflow | Activity):
            known = self._read.get(id(workflow))
            if known is None:
                known = self._read[id(workflow)] = (workflow, self.definition(workflow))
                if len(self._read) > PLANS_MAX:
                    del self._read[next(iter(self._read))]
            return self._plans.plan(known[1])
        return self._plans.plan(self.definition(workflow))

    def _compile(self, definition: Definition) -> Plan:
        return compile_plan(
            definition,
            Environment(
                activity=self.activity_type,
                known_types=lambda: sorted(self._types),
                languages=self.registry.languages,
                types=self._value_types(),
                definitions=self.definitions,
                middleware=self.registry.middleware,
                commit_strategies=self.registry.commit_strategies,
                incident_strategies=self.registry.incident_strategies,
                journal=self.settings.journal.value,
            ),
        )

    @property
    def languages(self) -> Mapping[str, ExpressionEvaluator]:
        return self.registry.languages

    def activity_type(self, name: str, version: int = 1) -> ActivityType | None:
        """By type and version; an unknown version gives the latest."""
        return self._versions.get((name, version)) or self._types.get(name)

    def _value_types(self) -> TypeRegistry:
        classes = [*self.registry.value_types, *self._own_types]
        for activity_type in self._types.values():
            classes.extend(getattr(activity_type, "value_types", ()))
        return TypeRegistry().including(*classes)

    # -- running -------------------------------------------------------------------------------------------------------

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

    def placement(self, transport: Transport | None = None, *, steps: StepDispatcher | None = None) -> Placement:
        """Where effects run: by the settings, with steps carried by that transport, or handed to that dispatcher."""
        from holdfast.dispatch.steps import TransportSteps
        from holdfast.runtime.durable.placement import Placement

        if steps is None and transport is not None:
            steps = TransportSteps(transport)
        return Placement(default=self.settings.effects_queue, dispatcher=steps, transport=transport)

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
        queues: Sequence[str] = (DEFAULT_QUEUE,),
        placement: Placement | None = None,
        second_handle: Callable[[], Store] | None = None,
    ) -> Runtime:
        """A runtime on a store that is open: `async with engine.runtime_on(store) as runtime`. It takes no work by itself.

        `queues` are those that it serves when it takes work, `placement` says where effects run and what carries steps,
        `second_handle` makes another handle of the store, for the heartbeat.
        """
        from holdfast.runtime.durable.node import Node
        from holdfast.runtime.durable.placement import Placement
        from holdfast.runtime.durable.runtime import Runtime

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
                queues=queues,
                step_concurrency=settings.step_concurrency,
                placement=placement or Placement(default=settings.effects_queue),
            ),
            self,
            dispatcher=dispatcher,
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
        """Let go of threads and processes."""
        self._pools.close()
