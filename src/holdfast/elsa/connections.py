"""Import and export of flowchart connections, including those to missing activities."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from holdfast.elsa.normalize import as_list, normal_connection
from holdfast.elsa.reports import Reports
from holdfast.elsa.round_trip import Json, difference, restore
from holdfast.model.definition import Connection
from holdfast.model.pointers import pointer

_NOT_FOUND = "notFoundConnections"


def read_connections(
    fields: Mapping[str, Any], known: set[str], reports: Reports, path: str
) -> tuple[tuple[Connection, ...], list[Json]]:
    """Connections between existing activities, and dangling connections (which Elsa ignores)."""
    properties = fields.get("customProperties")
    not_found = as_list(properties.get(_NOT_FOUND)) if isinstance(properties, Mapping) else []
    found: list[Connection] = []
    dangling: list[Json] = []
    ends: set[tuple[str | None, ...]] = set()
    listed = [
        (item, pointer(path, "connections", index), False)
        for index, item in enumerate(as_list(fields.get("connections")))
    ]
    listed += [
        (item, pointer(path, "customProperties", _NOT_FOUND, index), True) for index, item in enumerate(not_found)
    ]
    for item, here, was_not_found in listed:
        if not isinstance(item, Mapping):
            continue
        connection = normal_connection(item)
        source, target = connection["source"].get("activity"), connection["target"].get("activity")
        ends_here = (source, connection["source"].get("port"), target)
        sound = all(end is None or isinstance(end, str) for end in ends_here) and source in known and target in known
        if sound and not (was_not_found and ends_here in ends):
            ends.add(ends_here)
            found.append(_read_connection(connection, was_not_found))
        elif not was_not_found:
            dangling.append(connection)
            reports.warning(
                here,
                "dangling-connection",
                f"A connection from '{source}' to '{target}' refers to a missing activity.",
                "It is never followed and is kept for export. Remove it, or add the activity.",
            )
    return tuple(found), dangling


def _read_connection(fields: Json, was_not_found: bool) -> Connection:
    own = fields.get("holdfast")
    own = own if isinstance(own, Mapping) else {}
    metadata: Json = dict(own["metadata"]) if isinstance(own.get("metadata"), Mapping) else {}
    if fields.get("vertices"):
        metadata["vertices"] = fields["vertices"]
    connection = Connection(
        source=str(fields["source"]["activity"]),
        target=str(fields["target"]["activity"]),
        outcome=fields["source"].get("port"),
        delay=_read_delay(own.get("delay")),
        metadata=metadata,
    )
    residue = difference(_canonical(connection), fields)
    if was_not_found:
        residue["not_found"] = True
    return msgspec.structs.replace(connection, metadata={**metadata, "elsa": residue}) if residue else connection


def _read_delay(text: Any) -> timedelta | None:
    try:
        return msgspec.convert(text, timedelta | None)
    except msgspec.ValidationError:
        return None  # not written by Holdfast: it stays in the residue


def write_connections(
    connections: tuple[Connection, ...], reports: Reports, path: str
) -> tuple[list[Json], list[Json]]:
    """Elsa's connections, and those that belong to `notFoundConnections`."""
    found: list[Json] = []
    not_found: list[Json] = []
    for index, connection in enumerate(connections):
        residue = connection.metadata.get("elsa", {})
        written = restore(_canonical(connection), residue)
        (not_found if residue.get("not_found") else found).append(written)
        if connection.delay is not None:
            reports.warning(
                pointer(path, "connections", index, "delay"),
                "not-in-elsa",
                "Elsa connections have no delay.",
                "The delay is stored with the connection and restored on re-import. Use a Delay activity between the two.",
            )
    return found, not_found


def _canonical(connection: Connection) -> Json:
    source: Json = {"activity": connection.source}
    if connection.outcome is not None:
        source["port"] = connection.outcome
    written: Json = {"source": source, "target": {"activity": connection.target, "port": "In"}}
    if connection.metadata.get("vertices"):
        written["vertices"] = connection.metadata["vertices"]
    own: Json = {}
    if connection.delay is not None:
        own["delay"] = msgspec.to_builtins(connection.delay)
    rest = {key: value for key, value in connection.metadata.items() if key not in ("elsa", "vertices")}
    if rest:
        own["metadata"] = rest
    if own:
        written["holdfast"] = own
    return written
