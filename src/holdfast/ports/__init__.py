"""Ports: every protocol that an extension can implement, with its obligations.

The obligations of an adapter are written here and nowhere else. Each port with several adapters has one contract suite in
`holdfast.testing`; run it against your adapter, as we run it against ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.instance import Incident
from holdfast.model.scope import Names, Scope
from holdfast.ports.access import (
    Authenticator,
    EndpointPolicies,
    EndpointPolicy,
    HttpSelectors,
    PrincipalDirectory,
    RequestFacts,
    ResumeLinks,
)
from holdfast.ports.context import Child, ChildResult, Context
from holdfast.ports.definition_store import DefinitionStore
from holdfast.ports.dispatcher import WorkflowDispatcher
from holdfast.ports.mail_store import InboxStore, Mail, OutboxStore
from holdfast.ports.outlets import ClosableOutlet, LifecycleEvent, Outlet
from holdfast.ports.store import (
    Claim,
    Codec,
    CommitStore,
    EffectStore,
    Loaded,
    Matches,
    NodeStore,
    ReadStore,
    RecordStore,
    SearchStore,
    Store,
    StoreFactory,
    TransientErrors,
    UpkeepStore,
    WorkStore,
)
from holdfast.ports.transport import (
    Consumer,
    DeadTicket,
    Delivery,
    Disconnected,
    Poisoned,
    Reconnected,
    StepContext,
    StepDispatcher,
    Transport,
    TransportEvent,
    TransportFactory,
    TransportListener,
)
from holdfast.ports.work_tables import WorkTables

T = TypeVar("T")

# -- time --------------------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Source of time. Execution receives a clock and never reads the system clock, so tests can control time."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970, UTC. Called once per journal entry, so it must be cheap."""

    def now(self) -> datetime:
        """The same time as an aware datetime in UTC."""

    async def wait_until(self, moment: datetime) -> None:
        """Return when that time is reached."""


class CronCalendar(Protocol):
    """Cron expressions. The default is `holdfast.model.cron`; register another implementation as a service of this type.

    Methods are pure: equal arguments always give equal results. They raise `InvalidCron`.
    """

    def check(self, expression: str, zone: str) -> None:
        """Raise if the expression or the zone is invalid."""

    def next(self, expression: str, zone: str, after: datetime) -> datetime | None:
        """The first due time after `after`, in UTC, or None if there is none."""


# -- expressions -------------------------------------------------------------------------------------------------------


class CompiledExpression(Struct, frozen=True):
    """An expression that is compiled once; a burst only calls `evaluate`."""

    evaluate: Callable[[Scope], Any]
    """Called with the scope of the activity. Must not block the event loop. Raises only `ExpressionError`."""
    reads: tuple[tuple[str, Callable[[Scope], Any]], ...] = ()
    """The names that the expression depends on, at most 8, with a reader for each. The journal records the values that a
    condition read."""
    constant: bool = False
    """The expression always has the same value, so it may be evaluated at compile time."""
    waits: bool = False
    """`evaluate` may suspend its caller (`execution.suspension`), for example to wait for another process."""


class ScriptResult(Struct, frozen=True):
    """Result of a script of several statements. Variables that the script set are already in the scope."""

    value: Any = None
    outcomes: tuple[str, ...] | None = None


class CompiledScript(Struct, frozen=True):
    run: Callable[[Scope], ScriptResult]
    waits: bool = False
    """`run` may suspend its caller, as with `CompiledExpression.waits`."""


class ExpressionEvaluator(Protocol):
    """One expression language.

    Compilation uses the source text only, so data never becomes code: a value that looks like an expression stays a value.
    `compile` is called once per position in a definition. `evaluate` is called many times, and twice for one step if a
    segment is discarded and run again; it must have no effects outside the given scope. The evaluation of untrusted text
    must be bounded in time, memory, size and recursion.
    """

    language: str
    """Key in JSON: `python` is written as `{"$python": …}`."""

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        """Raise `ExpressionSyntax` or `ExpressionRefused` here rather than in `evaluate`, whenever the text allows it."""

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        """Compile a script (RunScript). Raise `ExpressionRefused` if the language has no scripts."""


# -- activities --------------------------------------------------------------------------------------------------------


class ActivityType(Protocol):
    """An activity that can be placed in a definition: its descriptor and its compilation into a plan."""

    @property
    def descriptor(self) -> ActivityDescriptor: ...

    def compile(self, builder: Any) -> Any:
        """Build the operation of one node. `builder` is a `holdfast.execution.builder.NodeBuilder`.

        `Activity` and `@activity` implement this method. Implement it yourself only where the cost of a method call matters,
        as the built-in control flow does.
        """


class ActivityProvider(Protocol):
    """Activity types that are known only at run time: workflows used as activities, operations of an OpenAPI document.

    The provider is queried at start and at each refresh. Instances that pinned a type can still use it after the provider
    stops yielding it."""

    name: str

    def activity_types(self) -> Iterable[ActivityType]: ...


class DefinitionSource(Protocol):
    """Lookup of the definitions that a workflow refers to: workflow-as-activity and ExecuteWorkflow."""

    def find(self, reference: str, *, version: int | None = None) -> Definition | None:
        """Search by definition id, then name, then activity type name. The published version wins over the latest."""


# -- services ----------------------------------------------------------------------------------------------------------


class Services(Protocol):
    """Services that activities request by type."""

    def get(self, service: type[T]) -> T:
        """The registered object. Raises an `ExecutionError` that names the type and the remedy if there is none."""


# -- middleware --------------------------------------------------------------------------------------------------------


@runtime_checkable
class PureMiddleware(Protocol):
    """Wraps pure activities. Synchronous, and composed when the plan is built, so activity types without it cost nothing.

    Call `proceed()` exactly once, or skip it and complete, fault or cancel through the context. Exceptions of the
    activity pass through `proceed()` if the middleware is placed inside `faults`.
    """

    def around(self, context: Any, proceed: Callable[[], None]) -> None: ...


@runtime_checkable
class EffectMiddleware(Protocol):
    """Wraps effects. Asynchronous; runs outside the segment, around each attempt."""

    async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any: ...


@runtime_checkable
class WorkflowMiddleware(Protocol):
    """Wraps each segment of an instance: its start, and each continuation after a wait, an effect or a commit.

    Synchronous and without I/O: it may run again with the segment. Call `proceed()` exactly once.
    """

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None: ...


class MiddlewarePlacement(Struct, frozen=True, kw_only=True):
    """A user's middleware and its position: before or after a named middleware, for all activity types or some."""

    middleware: Any
    name: str
    before: str | None = None
    after: str | None = None
    types: tuple[str, ...] = ()
    """Activity types to wrap; empty wraps all."""


# -- strategies --------------------------------------------------------------------------------------------------------

IncidentRule = Callable[[Incident], bool]
"""Whether an incident ends its instance as faulted. If False, the incident is stored and the rest of the instance
continues. Must be pure: it is called inside a segment, possibly twice."""

ActivationRule = Callable[[Definition, str | None], str | None]
"""Name of the activation slot that an instance of this definition with that correlation id needs, or None. One instance
holds a slot at a time. Must be pure: it is called when an instance starts, ends or changes its correlation id."""

CommitRule = Callable[[ActivityNode], tuple[bool, bool]]
"""Whether to commit additionally before and after an activity. Called once, when the plan is built. No rule can remove
the commit before an effect."""


# -- plugins -----------------------------------------------------------------------------------------------------------


class Registration(Protocol):
    """Passed to a plugin once, at start. Each method refuses a name that is taken and names its owner."""

    def activity(self, *types: Any) -> None: ...
    def activity_provider(self, provider: ActivityProvider) -> None: ...
    def language(self, evaluator: ExpressionEvaluator) -> None: ...
    def middleware(self, placement: MiddlewarePlacement) -> None: ...
    def service(self, service_type: type[T], instance: T) -> None: ...
    def value_type(self, *types: type) -> None: ...
    def value_alias(self, name: str, value_type: type) -> None:
        """A further name of a class, which stored data may have for it: its `module:Name` before it was renamed or moved."""

    def commit_strategy(self, name: str, strategy: CommitRule) -> None: ...
    def incident_strategy(self, name: str, strategy: IncidentRule) -> None: ...
    def activation_strategy(self, name: str, strategy: ActivationRule) -> None: ...
    def setting(self, name: str, setting_type: type, default: Any, description: str) -> None: ...
    def on_start(self, task: Callable[[], Awaitable[None]]) -> None: ...
    def recurring(
        self, name: str, every: timedelta, task: Callable[[], Awaitable[None]], *, single_node: bool = False
    ) -> None:
        """Run repeatedly while the engine is open; with `single_node`, on one node of the cluster at a time."""

    def endpoint_policy(self, name: str, policy: EndpointPolicy) -> None: ...
    def store(self, scheme: str, factory: StoreFactory) -> None: ...
    def transport(self, scheme: str, factory: TransportFactory) -> None: ...
    def studio(self, name: str, module: Path) -> None:
        """An ES module that the Studio loads at start: editors, panels, pages, languages (docs/studio.md)."""


class Plugin(Protocol):
    """One object that registers a complete feature."""

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> Sequence[str]:
        """Names of plugins that must be registered before this one."""

    def register(self, registration: Registration) -> None: ...


# `Store`, `Transport` and the other large ports have a module each in this package.

__all__ = [
    "ActivationRule",
    "ActivityProvider",
    "ActivityType",
    "Authenticator",
    "Child",
    "ChildResult",
    "Claim",
    "Clock",
    "ClosableOutlet",
    "Codec",
    "CommitRule",
    "CommitStore",
    "CompiledExpression",
    "CompiledScript",
    "Consumer",
    "Context",
    "CronCalendar",
    "DeadTicket",
    "DefinitionSource",
    "DefinitionStore",
    "Delivery",
    "Disconnected",
    "EffectMiddleware",
    "EffectStore",
    "EndpointPolicies",
    "EndpointPolicy",
    "ExpressionEvaluator",
    "HttpSelectors",
    "InboxStore",
    "IncidentRule",
    "LifecycleEvent",
    "Loaded",
    "Mail",
    "Matches",
    "MiddlewarePlacement",
    "NodeStore",
    "OutboxStore",
    "Outlet",
    "Plugin",
    "Poisoned",
    "PrincipalDirectory",
    "PureMiddleware",
    "ReadStore",
    "Reconnected",
    "RecordStore",
    "Registration",
    "RequestFacts",
    "ResumeLinks",
    "ScriptResult",
    "SearchStore",
    "Services",
    "StepContext",
    "StepDispatcher",
    "Store",
    "StoreFactory",
    "TransientErrors",
    "Transport",
    "TransportEvent",
    "TransportFactory",
    "TransportListener",
    "UpkeepStore",
    "WorkStore",
    "WorkTables",
    "WorkflowDispatcher",
    "WorkflowMiddleware",
]
