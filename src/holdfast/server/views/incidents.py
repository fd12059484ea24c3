"""Incidents from their stored rows, including resolved ones and those of instances that this node cannot run."""

from __future__ import annotations

from typing import Any

from holdfast.errors import HoldfastError
from holdfast.management.payloads import read_payload
from holdfast.model.stored import IncidentRow
from holdfast.model.values import readable
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import IncidentItem
from holdfast.server.views.instances import incident, read, shown_all, shown_source

LIMIT = 1000


async def listed(
    server: Backend, *, instance_id: str | None = None, only_open: bool = True, limit: int = LIMIT
) -> list[IncidentItem]:
    rows = await server.store.list_incidents(server.tenant, instance_id=instance_id, only_open=only_open, limit=limit)
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
    payload = _payload(row)
    return IncidentItem(
        id=row.id,
        instance_id=row.instance_id,
        type=str(payload.get("type") or row.kind),
        message=str(payload.get("message") or ""),
        at=row.occurred,
        open=row.open,
        activity_id=row.activity_id or None,
        activity_type=payload.get("activity_type"),
        activity_name=payload.get("activity_name"),
        execution_id=payload.get("execution_id"),
        attempt=payload.get("attempt") or 1,
        source=shown_source(payload.get("source")),
        inputs=readable(dict(payload.get("inputs") or {})),
        details=shown_all(dict(payload.get("details") or {})),
    )


def _payload(row: IncidentRow) -> dict[str, Any]:
    try:
        found = read_payload(row.payload)
    except HoldfastError as error:  # values of a type that is unknown in this process
        return {"message": f"(unreadable on this node: {error})"}
    return found if isinstance(found, dict) else {}
