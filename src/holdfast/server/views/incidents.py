"""Incidents from their stored rows, including resolved ones and those of instances that this node cannot run."""

from __future__ import annotations

from typing import Any

from holdfast.errors import HoldfastError
from holdfast.management.payloads import read_payload
from holdfast.model.stored import IncidentRow
from holdfast.model.values import readable
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import IncidentItem
from holdfast.server.views.instances import incident, read, shown_all

LIMIT = 1000


async def listed(server: Backend, *, instance_id: str | None = None, only_open: bool = True) -> list[IncidentItem]:
    rows = await server.store.list_incidents(server.tenant, instance_id=instance_id, only_open=only_open, limit=LIMIT)
    return [item(row) for row in rows]


async def of_instance(server: Backend, instance_id: str, *, only_open: bool) -> list[IncidentItem]:
    """Incidents of one instance. Open ones come from its state, which also has the inputs of the activity."""
    items = await listed(server, instance_id=instance_id, only_open=only_open)
    try:
        _, result = await read(server, instance_id)
    except HoldfastError:  # the state is unreadable here; the rows still have the incidents
        return items
    known = {found.id: incident(found, instance_id) for found in result.incidents}
    return [known.get(item.id, item) for item in items]


def item(row: IncidentRow) -> IncidentItem:
    told = _told(row)
    return IncidentItem(
        id=row.id,
        instance_id=row.instance_id,
        type=str(told.get("type") or row.kind),
        message=str(told.get("message") or ""),
        at=row.occurred,
        open=row.open,
        activity_id=row.activity_id or None,
        activity_type=told.get("activity_type"),
        activity_name=told.get("activity_name"),
        execution_id=told.get("execution_id"),
        attempt=told.get("attempt") or 1,
        source=told.get("source"),
        inputs=readable(dict(told.get("inputs") or {})),
        details=shown_all(dict(told.get("details") or {})),
    )


def _told(row: IncidentRow) -> dict[str, Any]:
    try:
        found = read_payload(row.payload)
    except HoldfastError as error:  # values of a type that is unknown in this process
        return {"message": f"(unreadable on this node: {error})"}
    return found if isinstance(found, dict) else {}
