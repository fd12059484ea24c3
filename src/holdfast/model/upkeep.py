"""Data of store maintenance: retention, export, statistics."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from holdfast.errors import InvalidState
from holdfast.model.guard import GuardRow
from holdfast.model.record_rows import RecordRow
from holdfast.model.replies import REPLY
from holdfast.model.stored import BookmarkRow, IncidentRow, InstanceRow, JournalSegment, ValueRow
from holdfast.model.tasks import TASK
from holdfast.model.work import EffectRow, InboxRow, OutboxRow, WorkRow

EXPORT_FORMAT = "holdfast/instance@1"
SNAPSHOT = "snapshot"
"""Kind of the records with the state of a commit."""
RECORDS_OF_INSTANCES = frozenset({TASK, REPLY, SNAPSHOT})
"""Record kinds that belong to instances. Users, roles and keys are records too, but do not."""


class RetentionRule(Struct, frozen=True, kw_only=True):
    """Selects ended instances that may be deleted."""

    finished_before: datetime
    statuses: tuple[str, ...] = ("finished", "canceled")
    definition_ids: tuple[str, ...] = ()
    """Empty selects all definitions."""


class InstanceExport(Struct, frozen=True, kw_only=True):
    """All stored data of one instance, readable: compression and encryption apply only in the database."""

    format: str = EXPORT_FORMAT
    instance: InstanceRow
    bookmarks: tuple[BookmarkRow, ...] = ()
    journal: tuple[JournalSegment, ...] = ()
    values: tuple[ValueRow, ...] = ()
    incidents: tuple[IncidentRow, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    work: tuple[WorkRow, ...] = ()
    inbox: tuple[InboxRow, ...] = ()
    outbox: tuple[OutboxRow, ...] = ()
    guards: tuple[GuardRow, ...] = ()
    records: tuple[RecordRow, ...] = ()


def check_export(export: InstanceExport) -> None:
    """Refuse a file with rows of other instances: the right to import must not allow writing them."""
    tenant, name = export.instance.key
    for row in _rows(export):
        if row.tenant != tenant or row.instance_id != name:
            raise InvalidState(
                f"The file of instance '{name}' has rows of another instance. Send the result of /export."
            )
    for record in export.records:
        if record.kind not in RECORDS_OF_INSTANCES:
            raise InvalidState(
                f"A record of kind '{record.kind}' does not belong to an instance. Send the result of /export."
            )


def _rows(
    export: InstanceExport,
) -> Iterator[BookmarkRow | ValueRow | IncidentRow | EffectRow | WorkRow | InboxRow | OutboxRow | GuardRow | RecordRow]:
    yield from export.bookmarks
    yield from export.values
    yield from export.incidents
    yield from export.effects
    yield from export.work
    yield from export.inbox
    yield from export.outbox
    yield from export.guards
    yield from export.records


class StoreStats(Struct, frozen=True, kw_only=True):
    """Statistics of one tenant, or of all."""

    instances: dict[str, int]
    """By status."""
    bookmarks: int
    work_ready: int
    work_later: int
    oldest_ready: datetime | None
    effects: int
    inbox: int
    outbox: int
    oldest_outbox: datetime | None
    """Creation time of the oldest unpublished row."""
    dead_letters: int
    incidents_open: int


class MigrationReport(Struct, frozen=True, kw_only=True):
    schema: int
    """Number of the newest applied migration."""
    pending: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
