"""Properties of an instance: a small dictionary beside its variables. The starter, activities and workflow middleware set it.

An activity sees the properties as they were when it was executed, with its own changes. Changes are recorded and applied with
the rest of its record. Keys that Holdfast uses itself are hidden.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol

from holdfast.errors import ExecutionError
from holdfast.execution.record import Record
from holdfast.model import values
from holdfast.model.replies import OPEN_REQUESTS

RESERVED = frozenset({OPEN_REQUESTS})


class Properties(MutableMapping[str, Any]):
    __slots__ = ("_record", "_stored")

    def __init__(self, stored: Mapping[str, Any], record: Record) -> None:
        self._stored = stored
        self._record = record

    def __getitem__(self, key: str) -> Any:
        record = self._record
        if key in record.properties:
            return record.properties[key]
        if key in RESERVED or key in record.removed_properties:
            raise KeyError(key)
        return values.copy(self._stored[key], key)

    def __setitem__(self, key: str, value: Any) -> None:
        check_properties({key: value})
        self._record.properties[key] = value
        self._record.removed_properties.discard(key)

    def __delitem__(self, key: str) -> None:
        self[key]  # raises KeyError
        self._record.properties.pop(key, None)
        self._record.removed_properties.add(key)

    def __iter__(self) -> Iterator[str]:
        record = self._record
        yield from (key for key in visible(self._stored) if key not in record.removed_properties)
        yield from (key for key in record.properties if key not in self._stored)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Properties({dict(self)!r})"


class HasProperties(Protocol):
    properties: Mapping[str, Any]


class InstanceProperties(MutableMapping[str, Any]):
    """The properties of a live instance for workflow middleware: a change is part of the segment's commit. Values are copies:
    assign a changed value to its key."""

    __slots__ = ("_live",)

    def __init__(self, live: HasProperties) -> None:
        self._live = live

    def __getitem__(self, key: str) -> Any:
        if key in RESERVED:
            raise KeyError(key)
        return values.copy(self._live.properties[key], key)

    def __setitem__(self, key: str, value: Any) -> None:
        check_properties({key: value})
        self._live.properties = {**self._live.properties, key: values.copy(value, key)}

    def __delitem__(self, key: str) -> None:
        self[key]  # raises KeyError
        self._live.properties = {name: value for name, value in self._live.properties.items() if name != key}

    def __iter__(self) -> Iterator[str]:
        return iter(visible(self._live.properties))

    def __len__(self) -> int:
        return len(visible(self._live.properties))

    def __repr__(self) -> str:
        return f"InstanceProperties({dict(self)!r})"


def visible(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties without the keys that Holdfast uses itself."""
    return {key: value for key, value in properties.items() if key not in RESERVED}


def check_properties(given: Mapping[str, Any]) -> None:
    """Raise for a key that is reserved or no text, and for a value that cannot be stored."""
    for key, value in given.items():
        if not isinstance(key, str) or key in RESERVED:
            reserved = ", ".join(sorted(RESERVED))
            raise ExecutionError(f"{key!r} cannot be the name of a property. Use text other than: {reserved}.")
        values.check(value, key)


def changed(properties: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """The properties after an execution."""
    kept = {key: value for key, value in properties.items() if key not in record.removed_properties}
    return {**kept, **record.properties}
