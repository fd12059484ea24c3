"""Writer of definitions as JSON: the inverse of `reader`, with keys in a readable order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Any

import msgspec
from msgspec import NODEFAULT, Struct

from holdfast.model.definition import FORMAT, ActivityNode, Definition, Expression, PortEntry
from holdfast.model.durations import format_duration
from holdfast.model.parse.nodes import needs_literal
from holdfast.model.values import TypeRegistry, encode

__all__ = ["write_definition", "write_node"]


def write_definition(definition: Definition, *, types: TypeRegistry | None = None) -> dict[str, Any]:
    """New data that shares nothing mutable with the definition. Defaults are omitted."""
    extra = dict(definition.extra)
    schema = {"$schema": extra.pop("$schema")} if "$schema" in extra else {}
    document: dict[str, Any] = {"format": FORMAT, "id": definition.id, "name": definition.name}
    document["version"] = definition.version
    document["description"] = definition.description
    document["inputs"] = [_record(item, types) for item in definition.inputs]
    document["outputs"] = [_record(item, types) for item in definition.outputs]
    document["variables"] = [_record(item, types) for item in definition.variables]
    document["outcomes"] = list(definition.outcomes)
    document["root"] = write_node(definition.root, types=types)
    document["options"] = _record(definition.options, types)
    document["labels"] = list(definition.labels)
    document = schema | _without_empty(document) | extra
    if definition.metadata:
        document["metadata"] = dict(definition.metadata)
    return document


def write_node(node: ActivityNode, *, types: TypeRegistry | None = None, with_metadata: bool = True) -> dict[str, Any]:
    """One activity with its children. Without metadata the result has executable content only."""
    written: dict[str, Any] = {"type": node.type, "id": node.id, "name": node.name}
    written["version"] = node.version if node.version != 1 else None
    written["inputs"] = {name: _input(value, types) for name, value in node.inputs.items()}
    written["outputs"] = dict(node.outputs)
    written = _without_empty(written)
    for port, children in node.ports.items():
        written[port] = _children(children, types, with_metadata=with_metadata)
    connections = [_record(item, types) for item in node.connections]
    rest: dict[str, Any] = {"variables": [_record(item, types) for item in node.variables]}
    rest["connections"] = connections if with_metadata else [_without_metadata(item) for item in connections]
    rest["options"] = _record(node.options, types)
    written |= _without_empty(rest)
    written |= node.extra
    if node.metadata and with_metadata:
        written["metadata"] = dict(node.metadata)
    return written


def _children(children: Any, types: TypeRegistry | None, *, with_metadata: bool) -> Any:
    if isinstance(children, ActivityNode):
        return write_node(children, types=types, with_metadata=with_metadata)
    return [
        _entry(child, types, with_metadata=with_metadata)
        if isinstance(child, PortEntry)
        else write_node(child, types=types, with_metadata=with_metadata)
        for child in children
    ]


def _entry(entry: PortEntry, types: TypeRegistry | None, *, with_metadata: bool) -> dict[str, Any]:
    written = {name: _input(value, types) for name, value in entry.data.items()}
    for name, child in entry.activities.items():
        written[name] = write_node(child, types=types, with_metadata=with_metadata)
    return written


def _input(value: Any, types: TypeRegistry | None) -> Any:
    if isinstance(value, Expression):
        return {f"${value.language}": encode(value.source, types)}
    literal = encode(value, types)
    return {"$literal": literal} if needs_literal(literal) else literal


def _record(record: Struct, types: TypeRegistry | None) -> dict[str, Any]:
    """Fields that differ from their defaults, by their names in the document."""
    written = {}
    for info in msgspec.structs.fields(type(record)):
        value = getattr(record, info.name)
        default = info.default_factory() if info.default_factory is not NODEFAULT else info.default
        if info.required or value != default or type(value) is not type(default):
            written[info.encode_name] = encode(value, types) if info.type is Any else _plain(value, types)
    return written


def _without_metadata(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "metadata"}


def _plain(value: Any, types: TypeRegistry | None) -> Any:
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Struct):
        return _record(value, types)
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _without_empty(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if value is not None and value not in ({}, [])}
