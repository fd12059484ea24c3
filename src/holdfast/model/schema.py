"""JSON Schema (2020-12) of the definition format, for editors and for documents written by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.model.definition import FORMAT, ActivationStrategy, IncidentStrategy, Storage
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, PortKind
from holdfast.model.policy import MergeMode, OnLost
from holdfast.model.values import encode

__all__ = ["DIALECT", "definition_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_OPTIONAL_TEXT: Schema = {"type": ["string", "null"]}
_VERSION: Schema = {"type": "integer", "minimum": 1}
_DURATION: Schema = {
    "type": ["string", "null"],
    "description": "ISO 8601 (PT30S, P1DT2H), hh:mm:ss or d.hh:mm:ss.",
    "examples": ["PT30S", "00:00:30", "1.02:00:00"],
}


def definition_schema(descriptors: Iterable[ActivityDescriptor] = ()) -> Schema:
    """Schema of complete documents. Descriptors add the inputs, outputs and ports of their activity types.

    Other types remain valid, with inputs of any name.
    """
    known = {descriptor.type: descriptor for descriptor in descriptors}
    return {
        "$schema": DIALECT,
        "title": "Holdfast workflow definition",
        "description": f"Format {FORMAT}.",
        **_definition(),
        "$defs": {
            "activity": _activity(known),
            "entry": {"type": "object", "description": "Data and the activities that belong to it, such as a case."},
            "expression": _expression(),
            "input": _input(),
            "variable": _record({**_typed(), "default": {}, "storage": _enum(Storage), "id": _OPTIONAL_TEXT}, ["name"]),
            "inputDeclaration": _declaration(
                {"required": {"type": "boolean"}, "default": {}, "editor": _OPTIONAL_TEXT}
            ),
            "outputDeclaration": _declaration({}),
            "connection": _connection(),
            "activityOptions": _activity_options(),
            "definitionOptions": _definition_options(),
            "journalMode": {"enum": ["include", "exclude", "off"]},
            **{f"activity.{name}": _activity_type(descriptor) for name, descriptor in sorted(known.items())},
        },
    }


def _ref(name: str) -> Schema:
    step = name.replace("~", "~0").replace("/", "~1")
    return {"$ref": f"#/$defs/{''.join(_in_address(char) for char in step)}"}


def _in_address(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in "._~-:"):
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _list_of(items: Schema) -> Schema:
    return {"type": ["array", "null"], "items": items}


def _enum(values: Any) -> Schema:
    return {"enum": [member.value for member in values]}


def _record(properties: Schema, required: list[str] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _typed() -> Schema:
    return {
        "name": _NAME,
        "type": {"type": "string", "default": "any", "examples": ["string", "list[integer]", "date?"]},
    }


def _declaration(more: Schema) -> Schema:
    shown = {"display_name": _OPTIONAL_TEXT, "description": _OPTIONAL_TEXT, "category": _OPTIONAL_TEXT}
    return _record({**_typed(), **more, **shown}, ["name"])


def _definition() -> Schema:
    return {
        "type": "object",
        "required": ["root"],
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}],
        "properties": {
            "$schema": _TEXT,
            "format": {"const": FORMAT},
            "id": {**_NAME, "description": "Derived from the name if it is missing."},
            "name": _OPTIONAL_TEXT,
            "version": _VERSION,
            "description": _OPTIONAL_TEXT,
            "inputs": _list_of(_ref("inputDeclaration")),
            "outputs": _list_of(_ref("outputDeclaration")),
            "variables": _list_of(_ref("variable")),
            "outcomes": _list_of(_TEXT),
            "root": _ref("activity"),
            "options": _ref("definitionOptions"),
            "labels": _list_of(_TEXT),
            "metadata": {"type": ["object", "null"]},
        },
    }


def _expression() -> Schema:
    return {
        "type": "object",
        "description": 'Evaluated when the input is needed: {"$python": "total > 1000"}.',
        "minProperties": 1,
        "maxProperties": 1,
        "patternProperties": {
            "^\\$(python|javascript|liquid|variable|input)$": _TEXT,
            "^\\$(?!code$)[A-Za-z_][A-Za-z0-9_]*$": True,
        },
        "additionalProperties": False,
    }


def _input() -> Schema:
    looks_like_one = {"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"pattern": "^\\$"}}
    return {"description": "A value, or an expression.", "if": looks_like_one, "then": _ref("expression")}


def _connection() -> Schema:
    properties = {
        "from": _NAME,
        "to": _NAME,
        "outcome": _OPTIONAL_TEXT,
        "delay": _DURATION,
        "metadata": {"type": "object"},
    }
    return _record(properties, ["from", "to"])


def _activity_options() -> Schema:
    names: Schema = {"type": "array", "items": _TEXT}
    modes: Schema = {"type": "object", "additionalProperties": _ref("journalMode")}
    retry = _record(
        {
            "attempts": _VERSION,
            "delay": {**_DURATION, "type": "string"},
            "factor": {"type": "number"},
            "delay_max": {**_DURATION, "type": "string"},
            "jitter": {"type": "number", "minimum": 0, "maximum": 1},
            "on": names,
            "never_on": names,
        }
    )
    journal = _record({"default": _or_null(_ref("journalMode")), "inputs": modes, "outputs": modes})
    return _record(
        {
            "retry": _or_null(retry),
            "timeout": _DURATION,
            "commit": _OPTIONAL_TEXT,
            "journal": _or_null(journal),
            "on_lost": _or_null(_enum(OnLost)),
            "queue": _OPTIONAL_TEXT,
            "priority": {"type": "integer"},
            "can_start": {"type": "boolean"},
            "merge": _or_null(_enum(MergeMode)),
        }
    ) | {"type": ["object", "null"]}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _definition_options() -> Schema:
    return _record(
        {
            "activation": {"type": "string", "examples": [item.value for item in ActivationStrategy]},
            "incident": {"type": "string", "examples": [item.value for item in IncidentStrategy]},
            "commit": _OPTIONAL_TEXT,
            "journal": _or_null(_ref("journalMode")),
            "usable_as_activity": {"type": "boolean"},
            "activity_category": _OPTIONAL_TEXT,
            "auto_update_consumers": {"type": "boolean"},
            "timeout": _DURATION,
            "transient": {"type": "boolean"},
            "flowchart_mode": {"enum": ["counter", "token", None]},
        }
    ) | {"type": ["object", "null"]}


# -- activities --------------------------------------------------------------------------------------------------------


def _activity(known: dict[str, ActivityDescriptor]) -> Schema:
    schema: Schema = {
        "type": "object",
        "description": "An activity. Keys that are not listed are ports with child activities.",
        "required": ["type"],
        "properties": {
            "type": {"anyOf": [{"enum": sorted(known)}, _NAME]} if known else _NAME,
            "id": {**_NAME, "description": "Derived from the type if it is missing."},
            "name": _OPTIONAL_TEXT,
            "version": _VERSION,
            "inputs": {"type": ["object", "null"], "additionalProperties": _ref("input")},
            "outputs": {"type": ["object", "null"], "additionalProperties": _OPTIONAL_TEXT},
            "variables": _list_of(_ref("variable")),
            "connections": _list_of(_ref("connection")),
            "options": _ref("activityOptions"),
            "metadata": {"type": ["object", "null"]},
        },
    }
    if known:
        schema["allOf"] = [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": _ref(f"activity.{name}"),
            }
            for name in sorted(known)
        ]
    return schema


def _activity_type(descriptor: ActivityDescriptor) -> Schema:
    outputs = {item.name: _described(_OPTIONAL_TEXT, item.description) for item in descriptor.outputs}
    properties: Schema = {
        "inputs": _inputs_of(descriptor),
        "outputs": {"properties": outputs, "additionalProperties": False},
        **{port.name: _port(port.kind) for port in descriptor.ports},
    }
    needed = any(item.required and item.default is None for item in descriptor.inputs)
    return _described(
        {
            "title": descriptor.display_name or descriptor.type,
            "properties": properties,
            **({"required": ["inputs"]} if needed else {}),
        },
        descriptor.description,
    )


def _inputs_of(descriptor: ActivityDescriptor) -> Schema:
    properties = {}
    for item in descriptor.inputs:
        shown = {"title": item.display_name or item.name, **({"default": encode(item.default)} if item.default else {})}
        properties[item.name] = _described({**_value_of(descriptor, item), **shown}, item.description)
    required = [item.name for item in descriptor.inputs if item.required and item.default is None]
    return {
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }


def _value_of(descriptor: ActivityDescriptor, item: InputDescriptor) -> Schema:
    """Literals are converted at use, so any scalar is valid for most types. Objects and lists must match."""
    if not item.schema:
        return _ref("input")
    own = dict(item.schema)
    if "$defs" in own:
        # The references inside point to its own parts, not to those of the enclosing document.
        own.setdefault("$id", f"urn:holdfast:{descriptor.type}:{item.name}")
    typed = {"type": "object", "required": ["$t"]}
    scalar = {"type": ["string", "number", "boolean", "null"]}
    return {"allOf": [_ref("input")], "anyOf": [_ref("expression"), own, typed, scalar]}


def _port(kind: PortKind) -> Schema:
    if kind is PortKind.ONE:
        return _or_null(_ref("activity"))
    return {"type": "array", "items": _ref("activity") if kind is PortKind.MANY else _ref("entry")}


def _described(schema: Schema, description: str | None) -> Schema:
    return {**schema, "description": description} if description else schema
