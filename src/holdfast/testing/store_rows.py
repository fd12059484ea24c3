"""Row factories for the contract tests, with defaults for all fields that a test does not set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from holdfast.model.catalog import DefinitionContent, Origin, content_hash
from holdfast.model.commit import Commit
from holdfast.model.record_rows import RecordRow
from holdfast.model.stored import BookmarkRow, IncidentRow, InstanceRow, JournalSegment, ValueRow, wake_key
from holdfast.model.work import EffectRow, InboxRow, OutboxRow, WorkRow

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)
"""A time with microseconds, which stores must preserve."""

LONG_AGO = AT
FAR_OFF = datetime(2126, 1, 1, tzinfo=UTC)

_numbers = count(1)


def fresh(what: str = "id") -> str:
    """A unique name in this run."""
    return f"{what}-{next(_numbers)}"


def later(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


def instance(instance_id: str, version: int = 1, **given: Any) -> InstanceRow:
    fields: dict[str, Any] = {
        "burst_id": fresh("burst"),
        "status": "suspended",
        "content": "c0ffee",
        "definition_id": "order",
        "definition_version": 1,
        "created": AT,
        "updated": later(version),
        "state": b"state %d" % version,
    }
    return InstanceRow(id=instance_id, version=version, **(fields | given))


def commit_of(row: InstanceRow, **given: Any) -> Commit:
    fields: dict[str, Any] = {"journal": segment(row)}
    return Commit(tenant=row.tenant, burst_id=row.burst_id, instance=row, **(fields | given))


def settlement(tenant: str, **given: Any) -> Commit:
    """A commit without an instance."""
    return Commit(tenant=tenant, burst_id=fresh("burst"), **given)


def segment(row: InstanceRow, data: bytes = b"journal") -> JournalSegment:
    return JournalSegment(
        version=row.version,
        burst_id=row.burst_id,
        first=(row.version - 1) * 10,
        count=2,
        written=row.updated,
        data=data,
    )


def bookmark(tenant: str, instance_id: str, seq: int = 1, name: str = "Paid", **given: Any) -> BookmarkRow:
    fields: dict[str, Any] = {
        "key": wake_key(name),
        "type": name,
        "activity_id": "wait",
        "created": AT,
        "payload": b"payload",
    }
    return BookmarkRow(tenant=tenant, instance_id=instance_id, seq=seq, **(fields | given))


def work(tenant: str, **given: Any) -> WorkRow:
    fields: dict[str, Any] = {"id": fresh("work"), "kind": "start", "created": AT, "payload": b"request"}
    return WorkRow(tenant=tenant, **(fields | given))


def effect(tenant: str, instance_id: str, execution: int = 1, **given: Any) -> EffectRow:
    fields: dict[str, Any] = {"activity_id": "charge", "type": "Charge", "created": AT, "inputs": b"inputs"}
    return EffectRow(tenant=tenant, instance_id=instance_id, execution=execution, **(fields | given))


def stimulus(tenant: str, name: str = "Paid", **given: Any) -> InboxRow:
    fields: dict[str, Any] = {
        "id": fresh("stimulus"),
        "key": wake_key(name),
        "type": name,
        "arrived": AT,
        "payload": b"paid",
    }
    return InboxRow(tenant=tenant, **(fields | given))


def message(tenant: str, **given: Any) -> OutboxRow:
    fields: dict[str, Any] = {"id": fresh("message"), "topic": "orders", "created": AT, "payload": b"message"}
    return OutboxRow(tenant=tenant, **(fields | given))


def incident(tenant: str, instance_id: str, **given: Any) -> IncidentRow:
    fields: dict[str, Any] = {"id": fresh("incident"), "kind": "ValueError", "occurred": AT, "payload": b"broken"}
    return IncidentRow(tenant=tenant, instance_id=instance_id, **(fields | given))


def value(tenant: str, instance_id: str, ref: str, data: bytes = b"value") -> ValueRow:
    return ValueRow(tenant=tenant, instance_id=instance_id, ref=ref, data=data)


def record(tenant: str, record_id: str, **given: Any) -> RecordRow:
    fields: dict[str, Any] = {"kind": "task", "created": AT, "updated": later(1), "payload": b"form"}
    return RecordRow(tenant=tenant, id=record_id, **(fields | given))


def content(tenant: str, document: bytes = b'{"id": "order"}', origin: Origin = Origin.DOCUMENT) -> DefinitionContent:
    return DefinitionContent(tenant=tenant, hash=content_hash(document), origin=origin, created=AT, document=document)


def ids_of(rows: Sequence[WorkRow] | Sequence[InboxRow] | Sequence[OutboxRow]) -> list[str]:
    return [row.id for row in rows]
