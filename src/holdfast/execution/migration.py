"""Migration of a live instance to another version of its definition.

The state is written, its names are translated, and it is read with the other plan. Activities are matched by id, so
unchanged ids need no mapping. Every running activity must exist in the target version with the same type, and so must
every scope. Containers that track their children by position must have the same children. Sequences continue after the
running child; flowcharts transfer their visits by the ids of activities and connections. New variables get their
defaults; removed variables are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidState
from holdfast.execution import snapshot
from holdfast.execution.activation import Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.part_writer import slots
from holdfast.execution.plan import Node, Plan
from holdfast.execution.state_reader import CLEANUP
from holdfast.model.definition import ActivityNode

FLEXIBLE_CONTAINERS = frozenset({"Sequence", "Flowchart", "Workflow"})
"""Containers whose children may differ."""

Document = dict[str, Any]


def obstacles(live: LiveInstance, target: Plan, mapping: Mapping[str, str]) -> list[str]:
    """Reasons why the instance cannot continue with that plan; empty if it can."""
    names = _Names(mapping)
    found = list(dict.fromkeys(_obstacles(live, target, names)))
    if not found:
        try:
            snapshot.load(translated(live, target, names), target, live.now, live.services)
        except InvalidState as error:
            found.append(str(error))
    return found


def migrate(live: LiveInstance, target: Plan, mapping: Mapping[str, str]) -> None:
    """Migrate the instance in place. Requires that there are no obstacles."""
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
    """Mapping from old keys to new keys.

    A key may be inside workflows used as activities (`a/b`) and may name a port (`a#body`).
    """

    def __init__(self, mapping: Mapping[str, str]) -> None:
        self._mapping = mapping

    def __call__(self, key: str) -> str:
        activity, mark, port = key.partition("#")
        if activity not in self._mapping:
            activity = "/".join(self._mapping.get(part, part) for part in activity.split("/"))
        else:
            activity = self._mapping[activity]
        return f"{activity}{mark}{port}"


# -- obstacles ---------------------------------------------------------------------------------------------------------


def _obstacles(live: LiveInstance, target: Plan, names: _Names) -> Iterator[str]:
    for activation in _everyone(live):
        node = activation.node
        yield from _missing(node, target, names, "is running")
        there = target.by_key.get(names(node.key))
        if there is not None and activation.data is not None and node.definition.type not in FLEXIBLE_CONTAINERS:
            yield from _children_differ(node, there, names)
    for node, _, _ in live.queue:
        yield from _missing(node, target, names, "is about to run")
    for item in live.compensations:
        yield from _missing(item.node, target, names, "has a pending compensation")
    for node, _ in live.cleanup.data:
        yield from _missing(node, target, names, "is running as a finalizer")
    for key in _shapes(live):
        if names(key) not in target.shapes:
            yield f"The variables of '{key}' are in use, but the target version has none there."


def _everyone(live: LiveInstance) -> list[Activation]:
    tops = (live.root, live.cleanup, *live.leftovers)
    return [item for top in tops for item in (top, *top.descendants())]


def _missing(node: Node, target: Plan, names: _Names, why: str) -> Iterator[str]:
    there = target.by_key.get(names(node.key))
    if there is None:
        yield f"'{node.key}' {why}, but the target version has no activity '{names(node.key)}'. Map it to an existing activity."
    elif there.definition.type != node.definition.type:
        yield (
            f"'{node.key}' {why} as {node.definition.type}, but in the target version '{there.key}' is "
            f"{there.definition.type}. Map it to an activity of the same type."
        )


def _children_differ(node: Node, there: Node, names: _Names) -> Iterator[str]:
    old = [names(child) for child in _children(node.definition)]
    if old != _children(there.definition):
        yield f"'{node.key}' ({node.definition.type}) is running, but its child activities differ in the target version."


def _children(definition: ActivityNode) -> list[str]:
    return [child.id for child in definition.children()]


def _shapes(live: LiveInstance) -> set[str]:
    return {scope["shape"] for scope in snapshot.dump(live, journal=False)["scopes"]}


# -- translation of the state ------------------------------------------------------------------------------------------


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
    for entry in document.get("interrupted", ()):
        entry[2] = names(entry[2])
    for entry in document.get("ending", ()):
        entry[1] = names(entry[1])
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
    """Data of a container that can transfer its positions; None for other containers."""
    layout, there = item.node.hooks.layout, target.by_key.get(names(item.node.key))
    if layout is None or there is None or there.hooks.layout is None or there.hooks.carry is None:
        return None
    return there.hooks.carry(item.data, layout(live), there.hooks.layout(live), names)


def _entry(entry: Any, old: Plan, target: Plan, names: _Names) -> Any:
    """Convert a journal entry of this burst, which names activities by their position in the plan."""
    event, index, execution, at, data = entry
    there = target.by_key.get(names(old.nodes[index].key)) if index >= 0 else None
    return (event, -1 if there is None else there.index, execution, at, data)
