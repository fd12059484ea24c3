"""Reader of one Elsa activity, by the rows of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.elsa.activity_writer import OWN_TYPES, activity_shell
from holdfast.elsa.connections import read_connections
from holdfast.elsa.declarations import read_variables
from holdfast.elsa.expressions import csharp_as_script, read_expression
from holdfast.elsa.names import Declared
from holdfast.elsa.normalize import (
    as_list,
    as_text,
    is_collection,
    lowered,
    normal_activity,
    normal_wrapper,
    unwrapped_not_found,
)
from holdfast.elsa.properties import own_part, read_activity_options, read_metadata
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json, difference
from holdfast.elsa.shapes import is_child, is_workflow_activity, looks_like_activity, lowered_all, without_children
from holdfast.elsa.table import BY_ELSA, EntriesField, InputField, Row, row_for_elsa
from holdfast.elsa.types import ElsaType, parse_type
from holdfast.model.definition import ActivityNode, Expression, PortEntry
from holdfast.model.pointers import pointer

_UNSET: Any = object()
_COMMON = frozenset(
    {"id", "nodeId", "name", "type", "version", "customProperties", "metadata", "variables", "connections", "start"}
)
_REFERENCE = frozenset(
    {
        "workflowDefinitionId",
        "workflowDefinitionVersionId",
        "latestAvailablePublishedVersion",
        "latestAvailablePublishedVersionId",
    }
)


class ActivityReader:
    """Reads the activities of one document."""

    __slots__ = ("_counts", "_ids", "_names", "_reports")

    def __init__(self, names: Declared, reports: Reports, ids: set[str]) -> None:
        self._names = names
        self._reports = reports
        self._ids = ids
        self._counts: dict[str, int] = {}

    def read(self, raw: Mapping[str, Any], path: str) -> ActivityNode:
        raw = unwrapped_not_found(raw)
        fields = lowered(raw)
        type_name = str(fields.get("type") or "")
        row = row_for_elsa(type_name)
        if row is not None:
            return self._read_known(normal_activity(raw), row, path)
        if type_name == "Elsa.RunCSharp" and (script := self._trivial_script(normal_activity(raw))):
            return self._read_translated(normal_activity(raw), script, path)
        if type_name.startswith(OWN_TYPES) or is_workflow_activity(fields):
            return self._read_by_shape(normal_activity(raw), type_name, path)
        return self._keep_unknown(raw, fields, type_name, path)

    # -- kinds of activities -------------------------------------------------------------------------------------------

    def _keep_unknown(self, raw: Mapping[str, Any], fields: Json, type_name: str, path: str) -> ActivityNode:
        self._reports.error(
            pointer(path, "type"),
            "unknown-type",
            f"Holdfast has no activity of type '{type_name}'.",
            "It is kept unchanged, with its connections. Replace it, or register an activity type for it.",
        )
        return ActivityNode(
            id=self._id(fields, type_name),
            type=type_name or "Unknown",
            name=as_text(fields.get("name")),
            metadata={**read_metadata(fields.get("metadata")), "elsa": {"original": dict(raw)}},
        )

    def _read_known(self, fields: Json, row: Row, path: str) -> ActivityNode:
        inputs, outputs = self._own_inputs(fields, path), self._outputs(fields, row.outputs, path)
        for field in row.inputs:
            value = self._input(field, fields.get(field.elsa), pointer(path, field.elsa))
            if value is not _UNSET:
                inputs[field.ours] = value
        inputs.update(row.fixed)
        ports: Json = {
            ours: self._port(fields[elsa], path, elsa) for elsa, ours in row.ports if is_child(fields.get(elsa))
        }
        ports.update(
            {ours: self._many(fields[elsa], path, elsa) for elsa, ours in row.lists if is_collection(fields.get(elsa))}
        )
        ports.update(
            {
                field.ours: self._entries(fields, field, path)
                for field in row.entries
                if is_collection(fields.get(field.elsa))
            }
        )
        self._report_unknown_properties(fields, row, path)
        return self._finish(fields, row.ours, row, inputs, outputs, ports, path)

    def _trivial_script(self, fields: Json) -> str | None:
        script = fields.get("script")
        expression = script.get("expression") if isinstance(script, Mapping) else None
        literal = isinstance(expression, Mapping) and expression.get("type", "Literal") == "Literal"
        return csharp_as_script(str(expression.get("value") or ""), self._names) if expression and literal else None

    def _read_translated(self, fields: Json, script: str, path: str) -> ActivityNode:
        """Read a trivial C# script as JavaScript. It is written back as C# until it is edited."""
        row = BY_ELSA["Elsa.RunJavaScript"]
        expression = {"type": "Literal", "value": script}
        translated = {**fields, "type": row.elsa, "script": {**fields["script"], "expression": expression}}
        node = self._read_known(translated, row, path)
        residue = difference(activity_shell(node, self._names, Reports(), path), without_children(fields, node, row))
        residue["spelled"]["/script/expression"] = [expression, fields["script"]["expression"]]
        residue["together"] = [["/type", "/script/expression"]]
        return msgspec.structs.replace(node, metadata={**node.metadata, "elsa": residue})

    def _read_by_shape(self, fields: Json, type_name: str, path: str) -> ActivityNode:
        """Read an activity without a table row.

        The shape of each property tells whether it is an input, output or port.
        """
        inputs = self._own_inputs(fields, path)
        outputs: dict[str, str] = {}
        ports: Json = {}
        for key, value in fields.items():
            here = pointer(path, key)
            if key in _COMMON or key in _REFERENCE or value is None:
                continue
            if looks_like_activity(value):
                ports[key] = self.read(value, here)
            elif isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
                ports[key] = self._list_by_shape(value, here)
            elif isinstance(value, Mapping) and "expression" not in value and "memoryReference" in value:
                outputs.update(self._outputs({key: value}, ((key, key),), path))
            else:
                given = self._input(InputField(elsa=key, ours=key), value, here)
                if given is not _UNSET:
                    inputs[key] = given
        ours = type_name.removeprefix(OWN_TYPES) if type_name.startswith(OWN_TYPES) else "Workflow"
        return self._finish(fields, ours, None, inputs, outputs, ports, path)

    def _finish(
        self,
        fields: Json,
        type_name: str,
        row: Row | None,
        inputs: Json,
        outputs: dict[str, str],
        ports: Json,
        path: str,
    ) -> ActivityNode:
        properties = fields.get("customProperties")
        properties = properties if isinstance(properties, Mapping) else {}
        options = read_activity_options(properties, row, self._reports, pointer(path, "customProperties"))
        known = {
            child.id
            for port in ports.values()
            if isinstance(port, tuple)
            for child in port
            if isinstance(child, ActivityNode)
        }
        connections, dangling = read_connections(fields, known, self._reports, path)
        elsa_type = str(fields.get("type"))
        node = ActivityNode(
            id=self._id(fields, elsa_type),
            type=type_name,
            version=self._version(fields, type_name, row),
            name=as_text(fields.get("name")),
            inputs=inputs,
            outputs=outputs,
            ports=ports,
            variables=read_variables(lowered_all(fields.get("variables")), self._reports, pointer(path, "variables")),
            connections=connections,
            options=options,
            metadata=read_metadata(fields.get("metadata")),
            extra={**own_part(properties, "extra"), **_reference(fields, type_name)},
        )
        residue = difference(activity_shell(node, self._names, Reports(), path), without_children(fields, node, row))
        if dangling:
            residue["dangling"] = dangling
        return msgspec.structs.replace(node, metadata={**node.metadata, "elsa": residue}) if residue else node

    # -- inputs and outputs --------------------------------------------------------------------------------------------

    def _input(self, field: InputField, value: Any, path: str) -> Any:
        if value is None:
            return _UNSET
        if field.variable:
            return self._variable(value)
        if not isinstance(value, Mapping) or ("expression" not in value and field.raw):
            return self._typed({"type": "Literal", "value": value}, field, None, path)
        expression = value.get("expression")
        if not isinstance(expression, Mapping):
            return _UNSET
        if not value.get("typeName"):
            self._reports.warning(
                path,
                "no-type-name",
                "An input without `typeName` counts as not set in Elsa.",
                "Holdfast uses it. Add the type name, or remove the input.",
            )
        return self._typed(expression, field, value.get("typeName"), pointer(path, "expression"))

    def _typed(self, expression: Mapping[str, Any], field: InputField, type_name: Any, path: str) -> Any:
        if field.choices:
            return self._choice(expression, field, path)
        wanted = parse_type(type_name) if isinstance(type_name, str) and type_name else parse_type(field.type)
        if wanted.ours is None and field.type != "Object":
            wanted = parse_type(field.type)
        value = read_expression(expression, wanted, self._names, self._reports, path)
        if value is None and wanted.holds_no_null:
            return _UNSET
        return value

    def _choice(self, expression: Mapping[str, Any], field: InputField, path: str) -> Any:
        value = read_expression(expression, ElsaType("Object"), self._names, self._reports, path)
        if isinstance(value, Expression):
            self._reports.warning(
                path,
                "computed-choice",
                f"The expression returns one of Elsa's values {', '.join(elsa for elsa, _ in field.choices)}.",
                f"Change it to return {', '.join(ours for _, ours in field.choices)}.",
            )
            return value
        if value is None or value == "":
            return _UNSET
        if isinstance(value, int) or str(value).isdigit():
            return (
                field.choices[int(value)][1]
                if int(value) < len(field.choices)
                else self._bad_choice(value, field, path)
            )
        for elsa, ours in field.choices:
            if elsa.lower() == str(value).lower():
                return ours
        return self._bad_choice(value, field, path)

    def _bad_choice(self, value: Any, field: InputField, path: str) -> Any:
        self._reports.error(
            path,
            "bad-choice",
            f"'{value}' is not one of {', '.join(elsa for elsa, _ in field.choices)}.",
            "Use one of these values.",
        )
        return value

    def _variable(self, value: Any) -> Any:
        found = read_expression(
            {"type": "Variable", "value": value}, ElsaType("Object"), self._names, self._reports, ""
        )
        return found.source

    def _outputs(self, fields: Json, pairs: tuple[tuple[str, str], ...], path: str) -> dict[str, str]:
        outputs = {}
        for elsa, ours in pairs:
            value = fields.get(elsa)
            reference = value.get("memoryReference") if isinstance(value, Mapping) else None
            target = reference.get("id") if isinstance(reference, Mapping) else None
            if not isinstance(target, str) or not target:
                continue
            found = self._names.reference(target) or (target if target in self._names.outputs else None)
            if found is not None:
                outputs[ours] = found
            elif ":" not in target:
                self._reports.warning(
                    pointer(path, elsa, "memoryReference", "id"),
                    "unknown-target",
                    f"The workflow has no variable or output '{target}'.",
                    "The output is discarded and the reference is kept. Declare the variable.",
                )
        return outputs

    def _own_inputs(self, fields: Json, path: str) -> Json:
        """Inputs that only Holdfast has; see the writer."""
        properties = fields.get("customProperties")
        kept = own_part(properties if isinstance(properties, Mapping) else {}, "inputs")
        here = pointer(path, "customProperties", "holdfast", "inputs")
        return {
            name: read_expression(value, ElsaType("Object"), self._names, self._reports, pointer(here, name))
            for name, value in kept.items()
            if isinstance(value, Mapping)
        }

    def _report_unknown_properties(self, fields: Json, row: Row, path: str) -> None:
        known = _COMMON | {field.elsa for field in row.inputs} | {field.elsa for field in row.entries}
        known |= {elsa for elsa, _ in (*row.outputs, *row.ports, *row.lists)}
        for key, value in fields.items():
            has_content = isinstance(value, Mapping) and (
                "expression" in value or "memoryReference" in value or looks_like_activity(value)
            )
            if key not in known and has_content:
                self._reports.warning(
                    pointer(path, key),
                    "unknown-property",
                    f"Holdfast has no counterpart for '{key}' of {row.elsa}.",
                    "It is kept for export and has no effect.",
                )

    # -- ports ---------------------------------------------------------------------------------------------------------

    def _port(self, value: Mapping[str, Any], path: str, key: str) -> ActivityNode:
        return self.read(value, pointer(path, key))

    def _many(self, value: Any, path: str, key: str) -> tuple[ActivityNode, ...]:
        found = []
        for index, item in enumerate(as_list(value)):
            if isinstance(item, Mapping):
                found.append(self.read(item, pointer(path, key, index)))
            else:
                self._reports.error(
                    pointer(path, key, index), "not-an-activity", "An activity is expected here.", "Remove it."
                )
        return tuple(found)

    def _entries(self, fields: Json, field: EntriesField, path: str) -> tuple[PortEntry, ...]:
        items = [(index, item) for index, item in enumerate(as_list(fields[field.elsa])) if isinstance(item, Mapping)]
        return tuple(self._entry(lowered(item), field, pointer(path, field.elsa, index)) for index, item in items)

    def _entry(self, item: Json, field: EntriesField, path: str) -> PortEntry:
        data: Json = {}
        for each in field.data:
            raw = item.get(each.elsa)
            if isinstance(raw, Mapping):
                raw = normal_wrapper(lowered(raw))
                if "expression" not in raw and "type" in raw:
                    raw = {"typeName": each.type, "expression": raw}
            value = self._input(each, raw, pointer(path, each.elsa))
            if value is not _UNSET:
                data[each.ours] = value
        activities = {
            ours: self.read(item[elsa], pointer(path, elsa))
            for elsa, ours in field.activities
            if is_child(item.get(elsa))
        }
        return PortEntry(data=data, activities=activities)

    def _list_by_shape(self, value: list[Any], path: str) -> tuple[Any, ...]:
        if all(looks_like_activity(item) for item in value):
            return tuple(self.read(item, pointer(path, index)) for index, item in enumerate(value))
        entries = []
        for index, item in enumerate(value):
            data, activities = {}, {}
            for key, part in item.items():
                here = pointer(path, index, key)
                if looks_like_activity(part):
                    activities[key] = self.read(part, here)
                elif isinstance(part, Mapping):
                    data[key] = read_expression(part, ElsaType("Object"), self._names, self._reports, here)
            entries.append(PortEntry(data=data, activities=activities))
        return tuple(entries)

    # -- identity ------------------------------------------------------------------------------------------------------

    def _id(self, fields: Json, type_name: str) -> str:
        given = fields.get("id")
        if given:
            return str(given)
        short = type_name.rpartition(".")[2] or "Activity"
        while True:
            self._counts[short] = self._counts.get(short, 0) + 1
            made = f"{short}{self._counts[short]}"
            if made not in self._ids:
                self._ids.add(made)
                return made

    def _version(self, fields: Json, type_name: str, row: Row | None) -> int:
        version = fields.get("version")
        return version if row is None and type_name != "Workflow" and isinstance(version, int) else 1


def _reference(fields: Json, type_name: str) -> Json:
    """Reference of a workflow used as an activity. The engine uses the first of id and name that it finds."""
    if type_name != "Workflow" or not is_workflow_activity(fields):
        return {}
    return {
        "workflow": {
            "id": fields.get("workflowDefinitionId"),
            "version_id": fields.get("workflowDefinitionVersionId"),
            "name": fields.get("type"),
            "version": fields.get("version"),
        }
    }
