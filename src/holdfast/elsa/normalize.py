"""Normalization of a document's spellings before it is read.

PascalCase keys become camelCase (Elsa accepts both), collections wrapped as `{"$values": […]}` or `{"_items": […]}` are
unwrapped, and data from older versions moves to its current place:

    canStartWorkflow, runAsynchronously beside the inputs   → customProperties
    applicationProperties                                    → customProperties
    customProperties.logPersistenceMode                      → customProperties.logPersistenceConfig
    usableAsActivity at the root                             → options
    metadata at the root                                     → customProperties
    connections {source, target, sourcePort, targetPort}     → {source {activity, port}, target {activity, port}}
    Elsa.NotFoundActivity                                    → the original activity

Only properties with a known meaning change; user data is left unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.elsa.round_trip import Json

_WRAPPERS = ("$values", "_items", "$Values")
_FLAGS = ("canStartWorkflow", "runAsynchronously")


def lowered(value: Mapping[str, Any]) -> Json:
    """A copy with keys in camelCase, without the serializer's `_type` and `$id` marks."""
    return {key[:1].lower() + key[1:]: item for key, item in value.items() if key not in ("_type", "$id", "$type")}


def as_text(value: Any) -> str | None:
    """A name or a description. Values that are not text become JSON text."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    """A collection in any of its forms; a missing one is empty."""
    if isinstance(value, Mapping):
        for wrapper in _WRAPPERS:
            if wrapper in value:
                return as_list(value[wrapper])
        return []
    return list(value) if isinstance(value, list | tuple) else []


def is_collection(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, Mapping) and any(key in value for key in _WRAPPERS))


def normal_root(document: Mapping[str, Any]) -> Json:
    root = lowered(document)
    for key in ("variables", "inputs", "outputs"):
        if is_collection(root.get(key)):
            root[key] = [lowered(item) if isinstance(item, Mapping) else item for item in as_list(root[key])]
    if is_collection(root.get("outcomes")):
        root["outcomes"] = as_list(root["outcomes"])
    options = lowered(root["options"]) if isinstance(root.get("options"), Mapping) else {}
    usable = root.pop("usableAsActivity", None)
    if usable is not None:
        options.setdefault("usableAsActivity", usable)
    if options or "options" in root:
        root["options"] = options
    _merge_properties(root, "metadata")
    return root


def normal_activity(activity: Mapping[str, Any]) -> Json:
    """The activity's own properties. Activities in its ports are normalized later."""
    fields = {key: _property(key, value) for key, value in lowered(activity).items()}
    _merge_properties(fields, "applicationProperties")
    flags = {flag: fields.pop(flag) for flag in _FLAGS if isinstance(fields.get(flag), bool)}
    if flags:
        fields["customProperties"] = {**flags, **_mapping(fields.get("customProperties"))}
    return fields


def _property(key: str, value: Any) -> Any:
    if key in ("customProperties", "applicationProperties", "metadata"):
        return value
    if isinstance(value, Mapping):
        inner = lowered(value)
        if "expression" in inner or "memoryReference" in inner or "typeName" in inner:
            return normal_wrapper(inner)
    return as_list(value) if isinstance(value, Mapping) and is_collection(value) else value


def normal_wrapper(inner: Json) -> Json:
    """A wrapped input or output, with the keys of its expression and memory reference in camelCase."""
    return {
        key: lowered(value) if key in ("expression", "memoryReference") and isinstance(value, Mapping) else value
        for key, value in inner.items()
    }


def _merge_properties(fields: Json, legacy: str) -> None:
    """Move a legacy property bag to `customProperties`, whose own entries take precedence."""
    old = fields.get(legacy)
    if isinstance(old, Mapping) and legacy in fields:
        del fields[legacy]
        fields["customProperties"] = {**old, **_mapping(fields.get("customProperties"))}
    properties = fields.get("customProperties")
    if isinstance(properties, Mapping):
        fields["customProperties"] = _normal_properties(properties)


def _normal_properties(properties: Mapping[str, Any]) -> Json:
    named = {
        key[:1].lower() + key[1:] if key[:1].lower() + key[1:] in _FLAGS else key: properties[key] for key in properties
    }
    if "logPersistenceMode" in named and "logPersistenceConfig" not in named:
        named["logPersistenceConfig"] = _as_config(named.pop("logPersistenceMode"))
    return named


def _as_config(mode: Any) -> Any:
    """`{default: "Exclude", inputs: {text: "Include"}}` → the same with a strategy at each leaf."""
    if isinstance(mode, str):
        return {"default": _strategy(mode)}
    if not isinstance(mode, Mapping):
        return mode
    return {
        key: {name: _strategy(leaf) for name, leaf in value.items()} if isinstance(value, Mapping) else _strategy(value)
        for key, value in lowered(mode).items()
    }


_MODE_NUMBERS = ("Inherit", "Include", "Exclude")


def _strategy(mode: Any) -> Any:
    if isinstance(mode, int) and not isinstance(mode, bool) and 0 <= mode < len(_MODE_NUMBERS):
        mode = _MODE_NUMBERS[mode]
    return {"evaluationMode": "Strategy", "strategyType": mode, "expression": None}


def normal_connection(connection: Mapping[str, Any]) -> Json:
    """Either form as `{source: {activity, port}, target: {activity, port}, …}`."""
    fields = lowered(connection)
    result: Json = {key: value for key, value in fields.items() if key not in ("sourcePort", "targetPort")}
    for end in ("source", "target"):
        value = fields.get(end)
        if isinstance(value, Mapping):
            result[end] = lowered(value)
        else:
            result[end] = {"activity": value}
            if f"{end}Port" in fields:
                result[end]["port"] = fields[f"{end}Port"]
    return result


def unwrapped_not_found(activity: Mapping[str, Any]) -> Mapping[str, Any]:
    """The original activity of an `Elsa.NotFoundActivity`, or the activity itself."""
    fields = lowered(activity)
    if fields.get("type") != "Elsa.NotFoundActivity":
        return activity
    text = fields.get("originalActivityJson")
    try:
        original = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return activity
    return original if isinstance(original, Mapping) else activity
