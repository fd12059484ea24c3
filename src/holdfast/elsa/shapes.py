"""Classification of parts of an Elsa document by their shape, and activities without their children."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.elsa.normalize import as_list, lowered, normal_wrapper
from holdfast.elsa.round_trip import Json
from holdfast.elsa.table import Row
from holdfast.model.definition import ActivityNode, PortEntry


def is_workflow_activity(fields: Mapping[str, Any]) -> bool:
    """Whether it is a workflow used as an activity. (ExecuteWorkflow wraps its `workflowDefinitionId`.)"""
    return any(isinstance(fields.get(key), str) for key in ("workflowDefinitionId", "workflowDefinitionVersionId"))


def looks_like_activity(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    fields = lowered(value)
    return isinstance(fields.get("type"), str) and not fields.keys() <= {"type", "value"} and "expression" not in fields


def is_child(value: Any) -> bool:
    return isinstance(value, Mapping) and "type" in lowered(value)


def lowered_all(value: Any) -> list[Json]:
    return [lowered(item) for item in as_list(value) if isinstance(item, Mapping)]


def without_children(fields: Json, node: ActivityNode, row: Row | None) -> Json:
    """The activity's own properties as in the document, for comparison with the canonical shell."""
    own = {key: value for key, value in fields.items() if key != "connections" or not isinstance(value, list)}
    if "variables" in own:
        own["variables"] = lowered_all(own["variables"])
    properties = own.get("customProperties")
    if isinstance(properties, Mapping) and as_list(properties.get("notFoundConnections")):
        own["customProperties"] = {key: value for key, value in properties.items() if key != "notFoundConnections"}
    entries = {field.elsa: {elsa for elsa, _ in field.activities} for field in row.entries} if row else {}
    pairs = (*row.ports, *row.lists) if row else tuple((port, port) for port in node.ports)
    children = {elsa for elsa, ours in pairs if ours in node.ports}
    for key in list(own):
        if key in entries and isinstance(own[key], list):
            own[key] = [_entry_without_children(item, entries[key]) for item in own[key]]
        elif key in children and _holds_entries(node.ports.get(key)):
            own[key] = [_entry_by_shape(item) for item in own[key]]
        elif key in children:
            del own[key]
    return own


def _holds_entries(port: Any) -> bool:
    return isinstance(port, tuple) and bool(port) and isinstance(port[0], PortEntry)


def _entry_without_children(item: Any, children: set[str]) -> Any:
    if not isinstance(item, Mapping):
        return item
    fields = lowered(item)
    return {
        key: normal_wrapper(lowered(value)) if isinstance(value, Mapping) else value
        for key, value in fields.items()
        if not (key in children and is_child(value))
    }


def _entry_by_shape(item: Any) -> Json:
    return {key: value for key, value in item.items() if not looks_like_activity(value)}
