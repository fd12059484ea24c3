"""The map for extenders: everything in Holdfast that can be replaced or added, with its obligations in prose.

Adapters carry no contract text; what they must keep is written here, once. Each port with several adapters has one
contract suite in `holdfast.testing`, which outsiders run as we do.
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
    RequestFacts,
    ResumeLinks,
)
from holdfast.ports.context import Child, ChildResult, Context
from holdfast.ports.definition_store import DefinitionStore
from holdfast.ports.dispatcher import WorkflowDispatcher
from holdfast.ports.outlets import ClosableOutlet, LifecycleEvent, Outlet
from holdfast.ports.store import (
    Claim,
    Codec,
    CommitStore,
    EffectStore,
    InboxStore,
    Loaded,
    Matches,
    NodeStore,
    OutboxStore,
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
    """Where time comes from. Execution never asks a clock of its own: it is handed one, so that tests move it."""

    def now_ns(self) -> int:
        """Nanoseconds since 1970, UTC. Called once per journal entry: make it cheap."""

    def now(self) -> datetime:
        """The same moment, aware, in UTC."""

    async def wait_until(self, moment: datetime) -> None:
        """Return when the moment has come."""


class CronCalendar(Protocol):
    """Reads cron expressions. Ours is `holdfast.model.cron`; register another as a service of this type.

    Pure: the same answer for the same question, whenever and wherever it is asked. Raises `InvalidCron`.
    """

    def check(self, expression: str, zone: str) -> None:
        """Raise if it cannot be read."""

    def next(self, expression: str, zone: str, after: datetime) -> datetime | None:
        """The first moment after that one, in UTC; None if there is none."""


# -- expressions -------------------------------------------------------------------------------------------------------


class CompiledExpression(Struct, frozen=True):
    """An expression made ready once: calling `evaluate` is all that a burst does."""

    evaluate: Callable[[Scope], Any]
    """Called with the scope of the activity. Raises an `ExpressionError`; never anything else, never waits."""
    reads: tuple[tuple[str, Callable[[Scope], Any]], ...] = ()
    """The names it depends on with a reader each, at most 8: the journal shows what a condition saw."""
    constant: bool = False
    """It gives the same value always; the value may be taken at compile time."""


class ScriptResult(Struct, frozen=True):
    """What a script of several statements left behind. Variables that it set are already in the scope."""

    value: Any = None
    outcomes: tuple[str, ...] | None = None


class CompiledScript(Struct, frozen=True):
    run: Callable[[Scope], ScriptResult]


class ExpressionEvaluator(Protocol):
    """One expression language.

    Compiled from text alone, so that data can never become code: a value that looks like an expression is a value.
    `compile` is called once per place in a definition, `evaluate` millions of times, possibly twice for the same step
    (a segment may be thrown away and run again), so it must not have effects outside the scope it is given.
    Untrusted text must be bounded in time, memory, size and recursion, whatever it says.
    """

    language: str
    """`python` stands in JSON as `{"$python": …}`."""

    def compile(self, source: Any, names: Names) -> CompiledExpression:
        """Raise `ExpressionSyntax` or `ExpressionRefused` here, not when it is evaluated, wherever it can be known."""

    def compile_script(self, source: str, names: Names) -> CompiledScript:
        """The same for a script (RunScript). Raise `ExpressionRefused` if the language has no scripts."""


# -- activities --------------------------------------------------------------------------------------------------------


class ActivityType(Protocol):
    """An activity that can be placed in a definition: how it describes itself, and how it is compiled into a plan."""

    @property
    def descriptor(self) -> ActivityDescriptor: ...

    def compile(self, builder: Any) -> Any:
        """Make the operation of one node. `builder` is a `holdfast.execution.builder.NodeBuilder`; see there.

        `Activity` and `@activity` implement this for everyone who writes `execute`; only those who need the last tenth
        of a microsecond write it themselves, as our own control flow does.
        """


class ActivityProvider(Protocol):
    """Yields activity types that are known only at run time: workflows used as activities, operations of an OpenAPI
    document. Asked at start and whenever it is refreshed; a type that is yielded no more stays usable by instances
    that pinned it."""

    name: str

    def activity_types(self) -> Iterable[ActivityType]: ...


class DefinitionSource(Protocol):
    """Finds the definitions that a workflow names: for workflow-as-activity and for ExecuteWorkflow."""

    def find(self, reference: str, *, version: int | None = None) -> Definition | None:
        """By definition id, then by name, then by activity type name; the published or else the latest version."""


# -- services ----------------------------------------------------------------------------------------------------------


class Services(Protocol):
    """What activities ask for by type."""

    def get(self, service: type[T]) -> T:
        """The registered object; raises `ExecutionError` that names the type and the remedy when there is none."""


# -- middleware --------------------------------------------------------------------------------------------------------


@runtime_checkable
class PureMiddleware(Protocol):
    """Wraps pure activities. Synchronous, composed when the plan is built; costs nothing where it does not match.

    Call `proceed()` exactly once, or do not call it and complete, fault or cancel through the context. Exceptions of
    the activity pass through `proceed()` when the middleware stands inside `faults`.
    """

    def around(self, context: Any, proceed: Callable[[], None]) -> None: ...


@runtime_checkable
class EffectMiddleware(Protocol):
    """Wraps effects: asynchronous, runs outside the segment, around each attempt."""

    async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any: ...


class MiddlewarePlacement(Struct, frozen=True, kw_only=True):
    """A user's middleware and where it stands: before or after a named one, for all types or some."""

    middleware: Any
    name: str
    before: str | None = None
    after: str | None = None
    types: tuple[str, ...] = ()
    """Activity types that it wraps; empty wraps all."""


# -- strategies --------------------------------------------------------------------------------------------------------

IncidentRule = Callable[[Incident], bool]
"""Whether an incident ends its instance as faulted. False: it is kept, and the rest of the instance goes on. Pure: asked
inside a segment, perhaps twice."""

ActivationRule = Callable[[Definition, str | None], str | None]
"""The place that an instance of this definition with that correlation id needs: a name that one instance has at a time. None
needs none. Pure: asked when an instance starts, ends, or gets another correlation id."""

CommitRule = Callable[[ActivityNode], tuple[bool, bool]]
"""Whether an extra commit is wanted before and after an activity; asked once, when the plan is built. No rule removes the
commit before an effect."""


# -- plugins -----------------------------------------------------------------------------------------------------------


class Registration(Protocol):
    """Handed to a plugin once, at start. Each method refuses a name that is taken, naming who took it."""

    def activity(self, *types: Any) -> None: ...
    def activity_provider(self, provider: ActivityProvider) -> None: ...
    def language(self, evaluator: ExpressionEvaluator) -> None: ...
    def middleware(self, placement: MiddlewarePlacement) -> None: ...
    def service(self, service_type: type[T], instance: T) -> None: ...
    def value_type(self, *types: type) -> None: ...
    def commit_strategy(self, name: str, strategy: CommitRule) -> None: ...
    def incident_strategy(self, name: str, strategy: IncidentRule) -> None: ...
    def activation_strategy(self, name: str, strategy: ActivationRule) -> None: ...
    def setting(self, name: str, setting_type: type, default: Any, description: str) -> None: ...
    def on_start(self, task: Callable[[], Awaitable[None]]) -> None: ...
    def recurring(
        self, name: str, every: timedelta, task: Callable[[], Awaitable[None]], *, single_node: bool = False
    ) -> None:
        """Run again and again while the engine is open; with `single_node` by one node of the cluster at a time."""

    def endpoint_policy(self, name: str, policy: EndpointPolicy) -> None: ...
    def store(self, scheme: str, factory: StoreFactory) -> None: ...
    def transport(self, scheme: str, factory: TransportFactory) -> None: ...
    def studio(self, name: str, module: Path) -> None:
        """An ES module that the Studio loads at start: editors, panels, pages, languages (docs/studio.md)."""


class Plugin(Protocol):
    """One object that brings a whole feature."""

    @property
    def name(self) -> str: ...
    @property
    def needs(self) -> Sequence[str]:
        """Names of plugins that must be registered before this one."""

    def register(self, registration: Registration) -> None: ...


# `Store`, `Transport` and the others stand beside this file, one port each.

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
    "Matches",
    "MiddlewarePlacement",
    "NodeStore",
    "OutboxStore",
    "Outlet",
    "Plugin",
    "Poisoned",
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
]
