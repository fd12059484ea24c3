"""What operators and sweepers ask of a store: retention, export, figures."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from holdfast.model.guard import GuardRow
from holdfast.model.record_rows import RecordRow
from holdfast.model.stored import BookmarkRow, IncidentRow, InstanceRow, JournalSegment, ValueRow
from holdfast.model.work import EffectRow, InboxRow, OutboxRow, WorkRow

EXPORT_FORMAT = "holdfast/instance@1"


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
