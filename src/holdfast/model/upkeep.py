"""What operators and sweepers ask of a store: retention, export, figures."""

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
"""The kind of the records that keep the state of a commit."""
RECORDS_OF_INSTANCES = frozenset({TASK, REPLY, SNAPSHOT})
"""Users, roles and keys are records too."""


class RetentionRule(Struct, frozen=True, kw_only=True):
    """Which instances at rest may go."""

    finished_before: datetime
    statuses: tuple[str, ...] = ("finished", "canceled")
    definition_ids: tuple[str, ...] = ()
    """Empty: all."""


class InstanceExport(Struct, frozen=True, kw_only=True):
    """Everything that a store has of one instance, readable: compressed and encrypted only at rest."""

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
    """Refuse a file that brings more than its instance: whoever may import one may not write what belongs to others."""
    tenant, name = export.instance.key
    for row in _rows(export):
        if row.tenant != tenant or row.instance_id != name:
            raise InvalidState(f"The file of instance '{name}' has rows of another one. Send what /export gave.")
    for record in export.records:
        if record.kind not in RECORDS_OF_INSTANCES:
            raise InvalidState(
                f"A record of the kind '{record.kind}' is no part of an instance. Send what /export gave."
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
    """Figures of one tenant, or of all."""

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
    """Since when the oldest of them has waited to leave."""
    dead_letters: int
    incidents_open: int


class MigrationReport(Struct, frozen=True, kw_only=True):
    schema: int
    """The number of the newest migration that is applied."""
    pending: tuple[str, ...] = ()
    applied: tuple[str, ...] = ()
