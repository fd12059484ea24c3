"""Import and export of variables, inputs and outputs of a workflow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.elsa.normalize import as_text
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json
from holdfast.elsa.types import elsa_type, from_literal, parse_type, to_json, to_text
from holdfast.model.definition import InputDeclaration, OutputDeclaration, Storage, Variable
from holdfast.model.pointers import pointer

_INSTANCE_DRIVER = "WorkflowInstanceStorageDriver"
_MEMORY_DRIVER = "MemoryStorageDriver"


def read_variables(items: list[Any], reports: Reports, path: str) -> tuple[Variable, ...]:
    fields = [(index, item) for index, item in enumerate(items) if isinstance(item, Mapping)]
    return tuple(_read_variable(item, index, reports, pointer(path, index)) for index, item in fields)


def _read_variable(fields: Mapping[str, Any], index: int, reports: Reports, path: str) -> Variable:
    name = str(fields.get("name") or f"Variable{index + 1}")
    elsa_id = fields.get("id")
    return Variable(
        name=name,
        type=_read_type(fields, "typeName", reports, path),
        default=_read_default(fields, reports, path),
        storage=Storage.MEMORY if _MEMORY_DRIVER in str(fields.get("storageDriverTypeName")) else Storage.INSTANCE,
        id=str(elsa_id) if elsa_id and elsa_id != name else None,
    )


def _read_type(fields: Mapping[str, Any], key: str, reports: Reports, path: str) -> str:
    name = fields.get(key)
    if not isinstance(name, str) or not name:
        return "any"
    found = parse_type(name, is_array=bool(fields.get("isArray"))).ours
    if found is None:
        reports.warning(
            pointer(path, key),
            "unknown-value-type",
            f"Holdfast does not know the type '{name}'.",
            "Values are not converted; the type name is kept.",
        )
    return found or "any"


def _read_default(fields: Mapping[str, Any], reports: Reports, path: str) -> Any:
    value = fields.get("value")
    if value is None:
        return None
    wanted = parse_type(str(fields.get("typeName") or "Object"), is_array=bool(fields.get("isArray")))
    try:
        return from_literal(value, wanted)
    except ValueError as error:
        reports.warning(
            pointer(path, "value"),
            "bad-literal",
            f"The default {value!r} is not of type {wanted.name}: {error}",
            "The variable starts without a value. Correct the text or the type.",
        )
        return None


def write_variable(variable: Variable) -> Json:
    written: Json = {"id": variable.id or variable.name, "name": variable.name, "typeName": elsa_type(variable.type)}
    if variable.default is not None:
        written["value"] = to_text(variable.default)
    written["storageDriverTypeName"] = _MEMORY_DRIVER if variable.storage is Storage.MEMORY else _INSTANCE_DRIVER
    return written


def read_inputs(items: list[Any], reports: Reports, path: str) -> tuple[InputDeclaration, ...]:
    return tuple(
        InputDeclaration(
            name=str(fields["name"]),
            type=_read_type(fields, "type", reports, pointer(path, index)),
            required=fields.get("required") is True,
            default=fields.get("defaultValue"),
            display_name=as_text(fields.get("displayName")),
            description=as_text(fields.get("description")),
            category=as_text(fields.get("category")),
            editor=as_text(fields.get("uiHint")),
        )
        for index, fields in enumerate(items)
        if isinstance(fields, Mapping) and fields.get("name")
    )


def read_outputs(items: list[Any], reports: Reports, path: str) -> tuple[OutputDeclaration, ...]:
    return tuple(
        OutputDeclaration(
            name=str(fields["name"]),
            type=_read_type(fields, "type", reports, pointer(path, index)),
            display_name=as_text(fields.get("displayName")),
            description=as_text(fields.get("description")),
            category=as_text(fields.get("category")),
        )
        for index, fields in enumerate(items)
        if isinstance(fields, Mapping) and fields.get("name")
    )


def write_input(declared: InputDeclaration, reports: Reports, path: str) -> Json:
    written = _written(declared)
    if declared.editor is not None:
        written["uiHint"] = declared.editor
    if declared.required:
        written["required"] = True
    if declared.default is not None:
        written["defaultValue"] = to_json(declared.default)
    if declared.required or declared.default is not None:
        reports.warning(
            path,
            "not-in-elsa",
            f"Elsa inputs cannot be required or have a default ('{declared.name}').",
            "Both are stored with the input and restored on re-import; Elsa ignores them.",
        )
    return written


def write_output(declared: OutputDeclaration) -> Json:
    return _written(declared)


def _written(declared: InputDeclaration | OutputDeclaration) -> Json:
    written: Json = {"type": elsa_type(declared.type), "name": declared.name}
    for key, value in (
        ("displayName", declared.display_name),
        ("description", declared.description),
        ("category", declared.category),
    ):
        if value is not None:
            written[key] = value
    return written
