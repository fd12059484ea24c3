"""Parser of activities.

Keys that the format does not define are ports, recognized by their value: an object with a `type`, a list of such objects, or
a list of other objects (entries). Other values are kept as `extra`.
"""

from __future__ import annotations

from typing import Any

from holdfast.model.definition import ActivityNode, Connection, Expression, PortEntry, Variable
from holdfast.model.parse.findings import Findings
from holdfast.model.parse.records import read_record, read_records
from holdfast.model.pointers import pointer
from holdfast.model.policy import ActivityOptions

__all__ = ["OWN_KEYS", "expression_key", "has_type", "is_activity_in_entry", "needs_literal", "read_activity"]

OWN_KEYS = ("type", "id", "name", "version", "inputs", "outputs", "variables", "connections", "options", "metadata")
_MARKS = frozenset(OWN_KEYS) - {"type", "name", "version"}
"""Keys that distinguish an activity inside an entry from data with a `type`."""


def has_type(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def is_activity_in_entry(value: Any) -> bool:
    """Recognized by its keys or by child activities: a `Sequence` with nothing but activities is one, too. Data that looks
    like an activity is reported as an unknown type; an activity mistaken for data would be dropped silently."""
    if not has_type(value):
        return False
    return len(value) == 1 or not _MARKS.isdisjoint(value) or any(map(_holds_activities, value.values()))


def _holds_activities(value: Any) -> bool:
    return has_type(value) or (isinstance(value, list) and bool(value) and all(map(has_type, value)))


def expression_key(value: Any) -> str | None:
    """The key of an expression object: a dict with exactly one key, which starts with `$`."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    (key,) = value
    return key if isinstance(key, str) and key.startswith("$") else None


def needs_literal(raw: Any) -> bool:
    """Whether a literal would be read as an expression or activity, and must be wrapped in `{"$literal": …}`."""
    return expression_key(raw) is not None or is_activity_in_entry(raw)


# -- activities --------------------------------------------------------------------------------------------------------


def read_activity(raw: dict[str, Any], path: str, findings: Findings) -> ActivityNode:
    """The caller has checked that `raw` is an object with a `type`."""
    type_name = raw["type"]
    if not type_name.strip():
        findings.add(pointer(path, "type"), "missing-type", "The type is empty.", "Name the activity's type.")
    ports, extra = _read_ports(raw, path, findings)
    given = raw.get("options")
    options = read_record(ActivityOptions, {} if given is None else given, pointer(path, "options"), findings)
    return ActivityNode(
        type=type_name,
        id=_read_id(raw, type_name, path, findings),
        name=_read_text(raw, "name", path, findings),
        version=_read_version(raw, path, findings),
        inputs=_read_inputs(raw.get("inputs"), pointer(path, "inputs"), findings),
        outputs=_read_outputs(raw.get("outputs"), pointer(path, "outputs"), findings),
        ports=ports,
        variables=read_records(Variable, raw.get("variables"), pointer(path, "variables"), findings),
        connections=read_records(Connection, raw.get("connections"), pointer(path, "connections"), findings),
        options=options or ActivityOptions(),
        metadata=read_object(raw.get("metadata"), pointer(path, "metadata"), findings),
        extra=extra,
    )


def _read_id(raw: dict[str, Any], type_name: str, path: str, findings: Findings) -> str:
    found = raw.get("id")
    if isinstance(found, str) and found:
        findings.storable(found, "id", pointer(path, "id"))
        return found
    if found is not None:
        findings.wrong_kind(pointer(path, "id"), "The id", "text that is not empty", found)
    return findings.id_for(type_name)


def _read_text(raw: dict[str, Any], key: str, path: str, findings: Findings) -> str | None:
    found = raw.get(key)
    if found is None or isinstance(found, str):
        return found
    findings.wrong_kind(pointer(path, key), f"The {key}", "text", found)
    return None


def _read_version(raw: dict[str, Any], path: str, findings: Findings) -> int:
    found = raw.get("version")
    if found is None:
        return 1
    if isinstance(found, int) and not isinstance(found, bool) and found >= 1:
        return found
    findings.wrong_kind(pointer(path, "version"), "The version", "a whole number from 1", found)
    return 1


def read_object(raw: Any, path: str, findings: Findings) -> dict[str, Any]:
    if raw is None or isinstance(raw, dict):
        return raw or {}
    findings.wrong_kind(path, path.rpartition("/")[2], "an object", raw)
    return {}


def _read_inputs(raw: Any, path: str, findings: Findings) -> dict[str, Any]:
    given = read_object(raw, path, findings)
    return {name: read_input(value, pointer(path, name), findings) for name, value in given.items()}


def _read_outputs(raw: Any, path: str, findings: Findings) -> dict[str, str]:
    targets = {}
    for name, target in read_object(raw, path, findings).items():
        if isinstance(target, str) and target:
            targets[name] = target
        elif target is not None:
            findings.wrong_kind(pointer(path, name), "An output's target", "the name of a variable or output", target)
    return targets


# -- literals and expressions ------------------------------------------------------------------------------------------


def read_input(raw: Any, path: str, findings: Findings) -> Any:
    """A literal or an expression. Only the outermost level can be an expression; nested levels are data."""
    key = expression_key(raw)
    if key is None:
        return findings.literal(raw, path)
    source = raw[key]
    if key == "$literal":
        value = findings.literal(source, pointer(path, key))
        return value if needs_literal(source) else Expression("literal", value)
    return _read_expression(key, source, path, findings)


_TEXT_LANGUAGES = frozenset({"python", "javascript", "liquid", "variable", "input", "code"})


def _read_expression(key: str, source: Any, path: str, findings: Findings) -> Any:
    language = key[1:]
    if not language.isidentifier():
        findings.add(
            path,
            "invalid-expression",
            f"'{key}' is not an expression language.",
            'Name a language, as in {"$python": "…"}. Write data that looks like an expression as {"$literal": …}.',
        )
    elif language == "code" and not findings.trusted:
        findings.add(
            path,
            "code-not-allowed",
            "'$code' is trusted Python and can only come from a workflow function of the running process.",
            'Write {"$python": "…"}, which is sandboxed, or register the Python module that holds the workflow.',
        )
    elif language in _TEXT_LANGUAGES and not isinstance(source, str):
        findings.wrong_kind(pointer(path, key), "The expression", "text", source)
    return Expression(language, findings.literal(source, pointer(path, key)))


# -- children ----------------------------------------------------------------------------------------------------------


def _read_ports(raw: dict[str, Any], path: str, findings: Findings) -> tuple[dict[str, Any], dict[str, Any]]:
    ports: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in raw.items():
        if key in OWN_KEYS:
            continue
        here = pointer(path, key)
        if has_type(value):
            ports[key] = read_activity(value, here, findings)
        elif isinstance(value, list) and all(isinstance(item, dict) for item in value):
            ports[key] = _read_children(value, here, findings)
        else:
            extra[key] = value
    return ports, extra


def _read_children(items: list[dict[str, Any]], path: str, findings: Findings) -> tuple[Any, ...]:
    if all(has_type(item) for item in items):
        return tuple(read_activity(item, pointer(path, index), findings) for index, item in enumerate(items))
    return tuple(_read_entry(item, pointer(path, index), findings) for index, item in enumerate(items))


def _read_entry(raw: dict[str, Any], path: str, findings: Findings) -> PortEntry:
    data: dict[str, Any] = {}
    activities: dict[str, ActivityNode] = {}
    for key, value in raw.items():
        here = pointer(path, key)
        if is_activity_in_entry(value):
            activities[key] = read_activity(value, here, findings)
        else:
            data[key] = read_input(value, here, findings)
    return PortEntry(data=data, activities=activities)
