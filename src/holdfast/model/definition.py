"""Definitions: a workflow as frozen data, independent of its execution.

In JSON (`holdfast/definition@1`), children of an activity are keys beside its inputs, by the name of their port:

    {"id": "check", "type": "If", "inputs": {"condition": {"$python": "total > 1000"}}, "then": {…}, "otherwise": {…}}

A port holds one activity, a list of activities, or a list of *entries*: objects that combine data and activities, such as
the cases of a Switch (`{"label": "A", "condition": {…}, "activity": {…}}`).
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
    """`{"$python": "total > 1000"}`: source text in a language, evaluated when the input is needed."""

    language: str
    source: Any
    """The text; for `$literal` the value itself, for `$variable` and `$input` the name."""


class Storage(StrEnum):
    """Lifetime of a variable's value."""

    INSTANCE = "instance"
    """Stored with the state of the instance (the default)."""
    MEMORY = "memory"
    """Kept until the instance next waits; then reset to the default."""


class Variable(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named, typed value of a workflow or container."""

    name: str
    type: str = "any"
    default: Any = None
    storage: Storage = Storage.INSTANCE
    id: str | None = None
    """Only for documents of other systems that distinguish variables of one name by id."""


class InputDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An input of a workflow."""

    name: str
    type: str = "any"
    required: bool = False
    default: Any = None
    display_name: str | None = None
    description: str | None = None
    category: str | None = None
    editor: str | None = None


class OutputDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An output of a workflow."""

    name: str
    type: str = "any"
    display_name: str | None = None
    description: str | None = None
    category: str | None = None


class PortEntry(Struct, frozen=True, kw_only=True):
    """A case, state, transition or catch: data (literals or expressions) with the activities that belong to it."""

    data: Mapping[str, Any] = {}
    activities: Mapping[str, ActivityNode] = {}


class Connection(Struct, frozen=True, kw_only=True, omit_defaults=True):
    source: str = field(name="from")
    target: str = field(name="to")
    outcome: str | None = None
    """None matches an activity that completes without naming outcomes, as `Done` does."""
    delay: timedelta | None = None
    metadata: Mapping[str, Any] = {}


class ActivityNode(Struct, frozen=True, kw_only=True):
    """One activity in a definition."""

    id: str
    type: str
    version: int = 1
    name: str | None = None
    inputs: Mapping[str, Any] = {}
    """Literals or `Expression`s by input name. Expressions nested in a literal are data and are not evaluated."""
    outputs: Mapping[str, str] = {}
    """Target of each output: the name of a variable or of a workflow output."""
    ports: Mapping[str, Any] = {}
    """Children: an ActivityNode, a tuple of ActivityNodes or a tuple of PortEntries, by port name."""
    variables: tuple[Variable, ...] = ()
    connections: tuple[Connection, ...] = ()
    options: ActivityOptions = ActivityOptions()
    metadata: Mapping[str, Any] = {}
    """Annotations for people and editors: `position {x, y}`, `description`, …; ignored by the execution."""
    extra: Mapping[str, Any] = {}
    """Unknown keys, preserved for a lossless round trip."""

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
    """Condition for the start of a new instance."""

    ALWAYS = "always"
    SINGLETON = "singleton"
    CORRELATION = "correlation"
    CORRELATED_SINGLETON = "correlated_singleton"


class IncidentStrategy(StrEnum):
    """Effect of a fault on the instance: end it, or record an incident and continue."""

    FAULT = "fault"
    CONTINUE = "continue_with_incidents"


class DefinitionOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The options of a definition: strategies, journal, timeout, use as an activity."""

    activation: str = ActivationStrategy.ALWAYS
    """One of `ActivationStrategy`, or the name of a strategy from a plugin."""
    incident: str = IncidentStrategy.FAULT
    """One of `IncidentStrategy`, or the name of a strategy from a plugin."""
    commit: str | None = None
    """Name of a commit strategy. It can add commits, not remove them."""
    journal: str | None = None
    """Log persistence: `include`, `exclude`, `off`; None uses the engine's default."""
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
