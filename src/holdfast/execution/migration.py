"""A live instance moved to another version of its definition: its state written, its names translated, read with the other
plan.

Activities are found by their ids, so what kept its id needs no mapping. What must be there: every activity that is at work,
with the same type, and every scope. Containers that count their children by position must have the same ones; sequences go
on behind the child that is at work, flowcharts carry their visits over by the ids of activities and connections. New
variables have their defaults, removed ones are gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidState
from holdfast.execution import snapshot
from holdfast.execution.activation import Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Plan
from holdfast.execution.state_reader import CLEANUP
from holdfast.execution.state_writer import slots
from holdfast.model.definition import ActivityNode

FREE = frozenset({"Sequence", "Flowchart", "Workflow"})
"""Containers that do not mind which children they have."""

Document = dict[str, Any]


def obstacles(live: LiveInstance, target: Plan, mapping: Mapping[str, str]) -> list[str]:
    """Why the instance cannot go on with that plan; none if it can."""
    names = _Names(mapping)
    found = list(dict.fromkeys(_obstacles(live, target, names)))
    if not found:
        try:
            snapshot.load(translated(live, target, names), target, live.now, live.services)
        except InvalidState as error:
            found.append(str(error))
    return found


def migrate(live: LiveInstance, target: Plan, mapping: Mapping[str, str]) -> None:
    """Change the instance in place. Call it only where there are no obstacles."""
    names = _Names(mapping)
    document = translated(live, target, names)
    old, journal, lines = live.plan, live.journal, live.lines
    fresh = {request.execution_id for request in live.new_effects}
    canceled, orphans = live.canceled_effects, live.orphans
    snapshot.load(document, target, live.now, live.services, into=live)
    live.new_effects = [request for request in live.new_effects if request.execution_id in fresh]
    live.canceled_effects, live.orphans, live.lines = canceled, orphans, lines
    live.journal = [_entry(entry, old, target, names) for entry in journal]


class _Names:
    """Old keys to new ones. A key may lie within workflows used as activities (`a/b`), and name a port (`a#body`)."""

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._mapping = mapping

    def __call__(self, key: str) -> str:
        activity, mark, port = key.partition("#")
        if activity not in self._mapping:
            activity = "/".join(self._mapping.get(part, part) for part in activity.split("/"))
        else:
            activity = self._mapping[activity]
        return f"{activity}{mark}{port}"


# -- what stands in the way --------------------------------------------------------------------------------------------


def _obstacles(live: LiveInstance, target: Plan, names: _Names) -> Iterator[str]:
    for activation in _everyone(live):
        node = activation.node
        yield from _missing(node, target, names, "is at work")
        there = target.by_key.get(names(node.key))
        if there is not None and activation.data is not None and node.definition.type not in FREE:
            yield from _children_differ(node, there, names)
    for node, _, _ in live.queue:
        yield from _missing(node, target, names, "is about to run")
    for item in live.compensations:
        yield from _missing(item.node, target, names, "may still have to be undone")
    for node, _ in live.cleanup.data:
        yield from _missing(node, target, names, "cleans up")
    for key in _shapes(live):
        if names(key) not in target.shapes:
            yield f"The variables of '{key}' are in use, and the other version has none there."


def _everyone(live: LiveInstance) -> list[Activation]:
    tops = (live.root, live.cleanup, *live.leftovers)
    return [item for top in tops for item in (top, *top.descendants())]


def _missing(node: Node, target: Plan, names: _Names, why: str) -> Iterator[str]:
    there = target.by_key.get(names(node.key))
    if there is None:
        yield f"'{node.key}' {why}, and the other version has no activity '{names(node.key)}'. Map it to one that it has."
    elif there.definition.type != node.definition.type:
        yield (
            f"'{node.key}' {why} as {node.definition.type}; in the other version '{there.key}' is "
            f"{there.definition.type}. Map it to one of the same type."
        )


def _children_differ(node: Node, there: Node, names: _Names) -> Iterator[str]:
    old = [names(child) for child in _children(node.definition)]
    if old != _children(there.definition):
        yield f"'{node.key}' ({node.definition.type}) is at work, and its activities are others in the other version."


def _children(definition: ActivityNode) -> list[str]:
    return [child.id for child in definition.children()]


def _shapes(live: LiveInstance) -> set[str]:
    return {scope["shape"] for scope in snapshot.dump(live, journal=False)["scopes"]}


# -- the state in the other version's words ----------------------------------------------------------------------------


def translated(live: LiveInstance, target: Plan, names: _Names) -> Document:
    document = snapshot.dump(live, journal=False)
    document["definition"] = {"hash": target.content_hash, "parts": {}, "version": 0, "id": target.definition.id}
    carried = {item.id: _carried(live, item, target, names) for item in _everyone(live)}
    for item in document["activations"]:
        item["node"] = names(item["node"])
        if item["id"] == CLEANUP:
            item["data"] = [[names(key), scope] for key, scope in item.get("data", ())]
        elif carried.get(item["id"]) is not None:
            item["data"] = carried[item["id"]]
    for entry in document.get("queue", ()):
        entry[0] = names(entry[0])
    for item in (*document.get("bookmarks", ()), *document.get("effects", ()), *document.get("incidents", ())):
        if item.get("activity_id") is not None:
            item["activity_id"] = names(item["activity_id"])
    for entry in document.get("compensations", ()):
        entry[2] = names(entry[2])
    for scope in document["scopes"]:
        _translate_scope(scope, target, names)
    if document.get("trigger") is not None:
        document["trigger"] = names(document["trigger"])
    if "results" in document:
        document["results"] = {names(key): value for key, value in document["results"].items()}
    return document


def _translate_scope(scope: Document, target: Plan, names: _Names) -> None:
    scope["shape"] = names(scope["shape"])
    shape = target.shapes.get(scope["shape"])
    if shape is not None and "values" in scope:
        known = dict(slots(shape))
        scope["values"] = {label: value for label, value in scope["values"].items() if label in known}


def _carried(live: LiveInstance, item: Activation, target: Plan, names: _Names) -> Any:
    """The data of a container that knows what its positions mean; None for the others."""
    layout, there = item.node.hooks.layout, target.by_key.get(names(item.node.key))
    if layout is None or there is None or there.hooks.layout is None or there.hooks.carry is None:
        return None
    return there.hooks.carry(item.data, layout(live), there.hooks.layout(live), names)


def _entry(entry: Any, old: Plan, target: Plan, names: _Names) -> Any:
    """A journal entry of this burst: activities are positions in a plan there."""
    event, index, execution, at, data = entry
    there = target.by_key.get(names(old.nodes[index].key)) if index >= 0 else None
    return (event, -1 if there is None else there.index, execution, at, data)
