"""Telemetry events of status changes of an instance, the same with and without a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast import telemetry
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import Status


def names_of(tenant: str, live: LiveInstance) -> dict[str, Any]:
    """The fields of every event of an instance."""
    return {"tenant": tenant, "instance_id": live.id, "definition_id": live.definition_id}


def emit_status(live: LiveInstance, names: Mapping[str, Any]) -> None:
    if live.status is Status.SUSPENDED:
        telemetry.emit("instance.suspended", **names, bookmarks=len(live.bookmarks))
    elif live.status is Status.FINISHED:
        telemetry.emit("instance.finished", **names, activities=live.sequence)
    elif live.status is Status.FAULTED:
        telemetry.emit("instance.faulted", **names, incidents=len(live.incidents))
    elif live.status is Status.CANCELED:
        telemetry.emit("instance.canceled", **names)
