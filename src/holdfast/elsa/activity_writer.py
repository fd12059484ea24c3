"""Writer of one activity as Elsa JSON.

`activity_shell` gives the canonical form without the activities in its ports; the reader compares it with the document
(see `round_trip`). `write_activity` restores the kept data and fills the ports.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.elsa.connections import write_connections
from holdfast.elsa.declarations import write_variable
from holdfast.elsa.expressions import write_expression
from holdfast.elsa.names import Declared
from holdfast.elsa.properties import OURS, write_activity_options, write_metadata
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json, restore
from holdfast.elsa.table import EntriesField, InputField, Row, row_for_ours
from holdfast.elsa.types import to_json
from holdfast.model.definition import ActivityNode, Expression, PortEntry
from holdfast.model.pointers import pointer

OWN_TYPES = "Holdfast."
"""Prefix of types that only Holdfast has. Elsa preserves them like any unknown activity."""


def write_activity(node: ActivityNode, names: Declared, reports: Reports, path: str) -> Json:
    residue: Mapping[str, Any] = node.metadata.get("elsa", {})
    if "original" in residue:
        return _restored_original(node, residue["original"])
    document = restore(activity_shell(node, names, reports, path), residue)
    row = row_for_ours(node.type, node.inputs)
    _fill_ports(document, node, row, names, reports, path)
    if node.connections or (row is not None and row.flowchart):
        found, parted = write_connections(node.connections, reports, path)
        document["connections"] = [*found, *residue.get("dangling", [])]
        if parted:
            document["customProperties"]["notFoundConnections"] = parted
    return document


def _restored_original(node: ActivityNode, original: Mapping[str, Any]) -> Json:
    """An unknown activity as it was read. Only its id and position may have changed."""
    document: Json = copy.deepcopy(dict(original))
    id_key = "Id" if "Id" in document else "id"
    document[id_key] = node.id
    position = node.metadata.get("position")
    key = "Metadata" if "Metadata" in document else "metadata"
    if isinstance(position, Mapping) and isinstance(document.get(key), dict):
        document[key] = {**document[key], "designer": {**document[key].get("designer", {}), "position": dict(position)}}
    return document


# -- activity ----------------------------------------------------------------------------------------------------------


def activity_shell(node: ActivityNode, names: Declared, reports: Reports, path: str) -> Json:
    row = row_for_ours(node.type, node.inputs)
    shell: Json = {"id": node.id, "type": row.elsa if row else _foreign_type(node, reports, path), "version": 1}
    if node.name is not None:
        shell["name"] = node.name
    shell["customProperties"] = write_activity_options(node.options, row, reports, path)
    shell["metadata"] = write_metadata(node.metadata)
    _add_reference(shell, node)
    _add_inputs(shell, node, row, names, reports, path)
    _add_outputs(shell, node, row, names)
    for field in row.entries if row else ():
        if field.ours in node.ports:
            shell[field.elsa] = [
                _entry(item, field, names, reports, pointer(path, field.ours, index))
                for index, item in enumerate(node.ports[field.ours])
            ]
    if row is None:
        _add_foreign_entries(shell, node, names, reports, path)
    if node.variables:
        shell["variables"] = [write_variable(variable) for variable in node.variables]
    extra = {key: value for key, value in node.extra.items() if key != "workflow"}
    if extra:
        shell["customProperties"].setdefault(OURS, {})["extra"] = msgspec.to_builtins(extra)
    return shell


def _foreign_type(node: ActivityNode, reports: Reports, path: str) -> str:
    reference = node.extra.get("workflow")
    if node.type == "Workflow" and isinstance(reference, Mapping) and reference.get("name"):
        return str(reference["name"])
    reports.warning(
        pointer(path, "type"),
        "not-in-elsa",
        f"Elsa has no activity of type '{node.type}'.",
        "It is written as an activity unknown to Elsa, and a re-import restores it unchanged.",
    )
    return f"{OWN_TYPES}{node.type}"


def _add_reference(shell: Json, node: ActivityNode) -> None:
    """Add the reference of a workflow used as an activity."""
    reference = node.extra.get("workflow")
    if node.type != "Workflow" or not isinstance(reference, Mapping):
        if node.version != 1:
            shell["version"] = node.version
        return
    shell["version"] = reference.get("version") or 1
    for key, name in (("workflowDefinitionId", "id"), ("workflowDefinitionVersionId", "version_id")):
        if reference.get(name) is not None:
            shell[key] = reference[name]


def _add_inputs(shell: Json, node: ActivityNode, row: Row | None, names: Declared, reports: Reports, path: str) -> None:
    fields = {field.ours: field for field in row.inputs} if row else {}
    fixed = row.fixed if row else {}
    unmapped: Json = {}
    for name, value in node.inputs.items():
        if name in fixed:
            continue
        here = pointer(path, "inputs", name)
        if row is None:
            shell[name] = _wrapped(InputField(elsa=name, ours=name), value, names, reports, here)
        elif name in fields:
            shell[fields[name].elsa] = write_input_value(fields[name], value, names, reports, here)
        else:
            unmapped[name] = write_expression(value, names, reports, here)
    if unmapped:
        shell["customProperties"].setdefault(OURS, {})["inputs"] = unmapped
        reports.warning(
            pointer(path, "inputs"),
            "not-in-elsa",
            f"Elsa's {row.elsa if row else node.type} has no input {', '.join(unmapped)}.",
            "They are stored in customProperties and restored on re-import; Elsa ignores them.",
        )


def write_input_value(field: InputField, value: Any, names: Declared, reports: Reports, path: str) -> Any:
    if field.variable:
        return names.described(str(value.source if isinstance(value, Expression) else value))
    if field.choices and not isinstance(value, Expression):
        value = next((elsa for elsa, ours in field.choices if ours == value), value)
    if field.raw and not isinstance(value, Expression):
        return to_json(value)
    return _wrapped(field, value, names, reports, path)


def _wrapped(field: InputField, value: Any, names: Declared, reports: Reports, path: str) -> Json:
    return {"typeName": field.type_name, "expression": write_expression(value, names, reports, path)}


def _add_outputs(shell: Json, node: ActivityNode, row: Row | None, names: Declared) -> None:
    elsas = {ours: elsa for elsa, ours in row.outputs} if row else {}
    for name, target in node.outputs.items():
        shell[elsas.get(name, name)] = {"typeName": "Object", "memoryReference": {"id": names.elsa_id(target)}}


# -- ports -------------------------------------------------------------------------------------------------------------


def _entry(item: PortEntry, field: EntriesField, names: Declared, reports: Reports, path: str) -> Json:
    known = {each.ours: each for each in field.data}
    written: Json = {}
    for name, value in item.data.items():
        here = pointer(path, name)
        each = known.get(name)
        if each is None or each.elsa in field.expressions:
            written[each.elsa if each else name] = write_expression(value, names, reports, here)
        else:
            written[each.elsa] = write_input_value(each, value, names, reports, here)
    return written


def _add_foreign_entries(shell: Json, node: ActivityNode, names: Declared, reports: Reports, path: str) -> None:
    for port, value in node.ports.items():
        if isinstance(value, tuple) and value and isinstance(value[0], PortEntry):
            generic = EntriesField(elsa=port, ours=port)
            shell[port] = [
                _entry(item, generic, names, reports, pointer(path, port, index)) for index, item in enumerate(value)
            ]


def _fill_ports(
    document: Json, node: ActivityNode, row: Row | None, names: Declared, reports: Reports, path: str
) -> None:
    elsas = {ours: elsa for elsa, ours in (*row.ports, *row.lists)} if row else {}
    entries = {field.ours: field for field in row.entries} if row else {}
    for port, value in node.ports.items():
        here = pointer(path, port)
        key = entries[port].elsa if port in entries else elsas.get(port, port)
        if isinstance(value, ActivityNode):
            document[key] = write_activity(value, names, reports, here)
        elif value and isinstance(value[0], PortEntry):
            _fill_entries(document[key], value, entries.get(port), names, reports, here)
        elif port not in entries:
            document[key] = [
                write_activity(child, names, reports, pointer(here, index)) for index, child in enumerate(value)
            ]


def _fill_entries(
    items: list[Json],
    entries: tuple[PortEntry, ...],
    field: EntriesField | None,
    names: Declared,
    reports: Reports,
    path: str,
) -> None:
    elsas = {ours: elsa for elsa, ours in field.activities} if field else {}
    for index, (item, entry) in enumerate(zip(items, entries, strict=True)):
        for name, child in entry.activities.items():
            item[elsas.get(name, name)] = write_activity(child, names, reports, pointer(path, index, name))
