"""A definition: what a workflow *is*, as frozen data. Nothing here knows how it runs.

In JSON (`holdfast/definition@1`) the children of an activity stand beside its inputs, by the name of their port:

    {"id": "check", "type": "If", "inputs": {"condition": {"$python": "total > 1000"}}, "then": {…}, "otherwise": {…}}

A port holds one activity, a list of activities, or a list of *entries*: objects that carry data and activities
together, such as the cases of a Switch (`{"label": "A", "condition": {…}, "activity": {…}}`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from holdfast.model.policy import ActivityOptions, check_duration

FORMAT = "holdfast/definition@1"


class Expression(Struct, frozen=True):
    """`{"$python": "total > 1000"}`: text of a language, evaluated when the input is needed."""

    language: str
    source: Any
    """The text; for `$literal` the value itself, for `$variable` and `$input` the name."""


class Storage(StrEnum):
    """How long a variable's value is kept."""

    INSTANCE = "instance"
    """With the instance's state (the default)."""
    MEMORY = "memory"
    """Until the instance next waits; then it is back at its default."""


class Variable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named, typed value of a workflow or container."""

    name: str
    type: str = "any"
    default: Any = None
    storage: Storage = Storage.INSTANCE
    id: str | None = None
    """Only where a document of another system tells variables of one name apart by id."""


class InputDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a workflow must or may be given."""

    name: str
    type: str = "any"
    required: bool = False
    default: Any = None
    display_name: str | None = None
    description: str | None = None
    category: str | None = None
    editor: str | None = None


class OutputDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a workflow gives back."""

    name: str
    type: str = "any"
    display_name: str | None = None
    description: str | None = None
    category: str | None = None


class PortEntry(Struct, frozen=True, kw_only=True):
    """One case, state, transition, catch …: data (literals or expressions) with the activities that belong to it."""

    data: Mapping[str, Any] = {}
    activities: Mapping[str, ActivityNode] = {}


class Connection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    source: str = field(name="from")
    target: str = field(name="to")
    outcome: str | None = None
    """None follows an activity that completes without naming outcomes, as `Done` does."""
    delay: timedelta | None = None
    metadata: Mapping[str, Any] = {}


class ActivityNode(Struct, frozen=True, kw_only=True):
    """One activity in a definition."""

    id: str
    type: str
    version: int = 1
    name: str | None = None
    inputs: Mapping[str, Any] = {}
    """Literals or `Expression`s by input name. Nested literals may hold expressions; they are data and stay data."""
    outputs: Mapping[str, str] = {}
    """Where each output goes: the name of a variable, or of an output of the workflow."""
    ports: Mapping[str, Any] = {}
    """Children: an ActivityNode, a tuple of ActivityNodes or a tuple of PortEntries, by port name."""
    variables: tuple[Variable, ...] = ()
    connections: tuple[Connection, ...] = ()
    options: ActivityOptions = ActivityOptions()
    metadata: Mapping[str, Any] = {}
    """For people and editors: `position {x, y}`, `description`, …; ignored when it runs."""
    extra: Mapping[str, Any] = {}
    """Keys that we do not know, kept so that nothing is lost in a round trip."""

    def children(self) -> Iterator[ActivityNode]:
        for value in self.ports.values():
            yield from _activities_of(value)

    def walk(self) -> Iterator[ActivityNode]:
        yield self
        for child in self.children():
            yield from child.walk()


def _activities_of(value: object) -> Iterator[ActivityNode]:
    if isinstance(value, ActivityNode):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            if isinstance(item, ActivityNode):
                yield item
            elif isinstance(item, PortEntry):
                yield from item.activities.values()


class ActivationStrategy(StrEnum):
    """When a new instance may start."""

    ALWAYS = "always"
    SINGLETON = "singleton"
    CORRELATION = "correlation"
    CORRELATED_SINGLETON = "correlated_singleton"


class IncidentStrategy(StrEnum):
    """What a fault does to the instance: end it, or be kept while the rest goes on."""

    FAULT = "fault"
    CONTINUE = "continue_with_incidents"


class DefinitionOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options of a definition: strategies, journal, timeout, use as an activity."""

    activation: str = ActivationStrategy.ALWAYS
    """One of `ActivationStrategy`, or the name of a strategy that a plugin brings."""
    incident: str = IncidentStrategy.FAULT
    """One of `IncidentStrategy`, or the name of a strategy that a plugin brings."""
    commit: str | None = None
    """The name of a commit strategy: adds commits, removes none."""
    journal: str | None = None
    """Log persistence: `include`, `exclude`, `off`; None takes the engine's default."""
    usable_as_activity: bool = False
    activity_category: str | None = None
    auto_update_consumers: bool = False
    timeout: timedelta | None = None
    transient: bool = False
    flowchart_mode: str | None = None
    """`counter` (default) or `token`."""

    def __post_init__(self) -> None:
        if self.timeout is not None:
            check_duration("timeout", self.timeout)


class Definition(Struct, frozen=True, kw_only=True):
    """One version of a workflow."""

    id: str
    root: ActivityNode
    name: str | None = None
    version: int = 1
    description: str | None = None
    inputs: tuple[InputDeclaration, ...] = ()
    outputs: tuple[OutputDeclaration, ...] = ()
    variables: tuple[Variable, ...] = ()
    outcomes: tuple[str, ...] = ()
    options: DefinitionOptions = DefinitionOptions()
    labels: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = {}
    extra: Mapping[str, Any] = {}

    @property
    def title(self) -> str:
        return self.name or self.id
