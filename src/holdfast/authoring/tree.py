"""Conversion of a tree of activity objects to definition data. Missing ids are numbered per type, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.authoring.activity import Activity, Link, declared
from holdfast.authoring.fields import MISSING, OutputSpec, PortSpec
from holdfast.authoring.function import BoundFunction
from holdfast.authoring.placed import Placed
from holdfast.errors import ActivityDeclarationError
from holdfast.model.definition import ActivityNode, Connection, PortEntry


class TreeReader:
    """Reads the objects of one workflow. Keeps their ids for connections, and collects the activity types."""

    def __init__(self) -> None:
        self.ids: dict[int, str] = {}
        self.taken: set[str] = set()
        self.counts: dict[str, int] = {}
        self.activity_types: dict[str, Any] = {}
        self._alive: list[Activity] = []

    def node(self, activity: Activity) -> ActivityNode:
        if id(activity) in self.ids:
            raise ActivityDeclarationError(
                f"{activity!r} is used twice in the workflow. Create a separate object for each place."
            )
        if not self._alive:
            self.taken.update(_given_ids(activity))
        self._alive.append(activity)
        identity = self._identify(activity)
        if isinstance(activity, BoundFunction):
            function_type = activity.function.activity_type
            self.activity_types[function_type.descriptor.type] = function_type
            return self._bound_node(activity, identity)
        if isinstance(activity, Placed):
            return self._placed_node(activity, identity)
        class_type = type(activity).activity_type
        self.activity_types[class_type.descriptor.type] = class_type
        return self._class_node(activity, identity)

    def _identify(self, activity: Activity) -> str:
        identity = activity.id
        if identity is None:
            type_name = _type_of(activity)
            while True:
                self.counts[type_name] = self.counts.get(type_name, 0) + 1
                identity = f"{type_name}{self.counts[type_name]}"
                if identity not in self.taken:
                    break
        self.taken.add(identity)
        self.ids[id(activity)] = identity
        return identity

    def _bound_node(self, activity: BoundFunction, identity: str) -> ActivityNode:
        return ActivityNode(
            id=identity,
            type=_type_of(activity),
            version=activity.function.activity_type.descriptor.version,
            name=activity.name,
            inputs={name: _data(activity, name, value) for name, value in activity._given.items()},
            outputs={"result": activity.result} if activity.result else {},
            options=activity.options,
            metadata=activity.metadata,
        )

    def _placed_node(self, activity: Placed, identity: str) -> ActivityNode:
        return ActivityNode(
            id=identity,
            type=activity.type,
            version=activity.version,
            name=activity.name,
            inputs=activity.inputs,
            outputs=activity.outputs,
            ports={name: self._port(value) for name, value in activity._given.items() if value is not None},
            variables=declared(activity.variables),
            connections=activity.connections,
            options=activity.options,
            metadata=activity.metadata,
            extra=activity.extra,
        )

    def _class_node(self, activity: Activity, identity: str) -> ActivityNode:
        inputs: dict[str, Any] = {}
        outputs: dict[str, str] = {}
        children: dict[str, Any] = {}
        given: dict[str, Any] = activity._given  # type: ignore[attr-defined]  # set by `place`
        for name, value in given.items():
            spec = type(activity).activity_type.specs[name]
            if isinstance(spec, PortSpec):
                if value is not None:
                    children[name] = self._port(value)
            elif isinstance(spec, OutputSpec):
                if value is not None:
                    outputs[name] = str(value)
            elif value is not MISSING:
                inputs[name] = _data(activity, name, value)
        return ActivityNode(
            id=identity,
            type=activity.type_name,
            version=type(activity).activity_type.facts.version,
            name=activity.name if "name" not in given else None,
            inputs=inputs,
            outputs=outputs,
            ports=children,
            variables=declared(activity.variables),
            connections=self._connections(getattr(activity, "links", ())),
            options=activity.options,
            metadata=activity.metadata,
        )

    def _port(self, value: Any) -> Any:
        if isinstance(value, Activity):
            return self.node(value)
        return tuple(self.node(item) if isinstance(item, Activity) else self._entry(item) for item in value)

    def _entry(self, item: Mapping[str, Any]) -> PortEntry:
        return PortEntry(
            data={name: value for name, value in item.items() if not isinstance(value, Activity) and value is not None},
            activities={name: self.node(value) for name, value in item.items() if isinstance(value, Activity)},
        )

    def _connections(self, links: Iterable[Link]) -> tuple[Connection, ...]:
        found: dict[tuple[str, str | None, str], Connection] = {}
        for link in each_link(links):
            source, target = self.ids[id(link.source)], self.ids[id(link.target)]
            found[source, link.outcome, target] = Connection(
                source=source, target=target, outcome=link.outcome, delay=link.delay
            )
        return tuple(found.values())


def _given_ids(value: Any) -> Iterator[str]:
    """Explicit ids, so that generated ids do not repeat them."""
    if isinstance(value, Activity):
        if value.id is not None:
            yield value.id
        for given in getattr(value, "_given", {}).values():
            yield from _given_ids(given)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _given_ids(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _given_ids(item)


def each_link(links: Iterable[Link]) -> Iterator[Link]:
    for link in links:
        yield from link.all()


def _data(activity: Activity, name: str, value: Any) -> Any:
    """Check an input: it must be data or an expression."""
    if callable(value) and not isinstance(value, type):
        raise ActivityDeclarationError(
            f"The input '{name}' of {_type_of(activity)} is a function. Inputs are values or expressions: write "
            "expr('…'), or run the function as an activity (@activity) or with Inline before."
        )
    return value


def _type_of(activity: Activity) -> str:
    if isinstance(activity, BoundFunction):
        return activity.function.activity_type.descriptor.type
    if isinstance(activity, Placed):
        return activity.type
    return activity.type_name
