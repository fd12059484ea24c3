"""Tables of an instance: its row, journal, bookmarks, values, incidents, effects and guards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.model.guard import GuardKind, GuardRow
from holdfast.model.listing import InstanceSummary
from holdfast.model.stored import BookmarkRow, IncidentRow, InstanceRow, JournalSegment, ValueRow
from holdfast.model.work import EffectRow, Owner
from holdfast.persistence.sql.tables import Table, common_micros, micros, micros_or_none, moment, moment_or_none
from holdfast.ports import Codec


class StoredSegment(NamedTuple):
    """A journal segment with the instance that it belongs to."""

    tenant: str
    instance_id: str
    segment: JournalSegment


def _instance(row: InstanceRow, codec: Codec) -> tuple[Any, ...]:
    updated, finished, tenant = row.updated, row.finished, row.tenant
    now = common_micros(updated)
    return (
        tenant, row.id, row.version, row.burst_id, row.status, row.content, row.definition_id,
        row.definition_version, row.correlation_id, row.name, row.parent_id, int(row.system), row.incidents,
        micros(row.created), now, now if finished is updated else micros_or_none(finished),
        codec.encode(row.state, "instance.state|" + tenant),
    )  # fmt: skip


def _read_instance(row: Sequence[Any], codec: Codec) -> InstanceRow:
    (
        tenant, name, version, burst_id, status, content, definition_id, definition_version, correlation_id, title,
        parent_id, system, incidents, created, updated, finished, state,
    ) = row  # fmt: skip
    return InstanceRow(
        name, version, burst_id, status, content, definition_id, definition_version, moment(created), moment(updated),
        tenant, correlation_id, title, parent_id, bool(system), incidents, moment_or_none(finished),
        codec.decode(state, "instance.state|" + tenant),
    )  # fmt: skip


def read_summary(row: Sequence[Any]) -> InstanceSummary:
    """Decode a row of the columns in `SUMMARY`."""
    return InstanceSummary(
        tenant=row[0], id=row[1], version=row[2], status=row[3], content=row[4], definition_id=row[5],
        definition_version=row[6], correlation_id=row[7], name=row[8], parent_id=row[9], system=bool(row[10]),
        incidents=row[11], created=moment(row[12]), updated=moment(row[13]), finished=moment_or_none(row[14]),
    )  # fmt: skip


SUMMARY = (
    "tenant, id, version, status, content, definition_id, definition_version, correlation_id, name, parent_id, "
    "is_system, incidents, created, updated, finished"
)


def _segment(row: StoredSegment, codec: Codec) -> tuple[Any, ...]:
    tenant, instance_id, segment = row
    return (
        tenant, instance_id, segment.version, segment.burst_id, segment.first, segment.count, micros(segment.written),
        codec.encode(segment.data, "journal.data|" + tenant),
    )  # fmt: skip


def _read_segment(row: Sequence[Any], codec: Codec) -> StoredSegment:
    segment = JournalSegment(
        version=row[2], burst_id=row[3], first=row[4], count=row[5], written=moment(row[6]),
        data=codec.decode(row[7], "journal.data|" + row[0]),
    )  # fmt: skip
    return StoredSegment(row[0], row[1], segment)


def _bookmark(row: BookmarkRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.key, row.correlation, row.instance_id, row.seq, row.type, row.activity_id,
        common_micros(row.created),
        codec.encode(row.payload, "bookmark.payload|" + row.tenant),
    )  # fmt: skip


def _read_bookmark(row: Sequence[Any], codec: Codec) -> BookmarkRow:
    tenant, key, correlation, instance_id, seq, kind, activity_id, created, payload = row
    found = codec.decode(payload, "bookmark.payload|" + tenant)
    return BookmarkRow(instance_id, seq, key, kind, moment(created), tenant, correlation, activity_id, found)


def _value(row: ValueRow, codec: Codec) -> tuple[Any, ...]:
    return row.tenant, row.instance_id, row.ref, codec.encode(row.data, "value.data|" + row.tenant)


def _read_value(row: Sequence[Any], codec: Codec) -> ValueRow:
    return ValueRow(tenant=row[0], instance_id=row[1], ref=row[2], data=codec.decode(row[3], "value.data|" + row[0]))


def _incident(row: IncidentRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.instance_id, row.id, row.kind, row.activity_id, micros(row.occurred), int(row.open),
        codec.encode(row.payload, "incident.payload|" + row.tenant),
    )  # fmt: skip


def _read_incident(row: Sequence[Any], codec: Codec) -> IncidentRow:
    return IncidentRow(
        tenant=row[0], instance_id=row[1], id=row[2], kind=row[3], activity_id=row[4], occurred=moment(row[5]),
        open=bool(row[6]), payload=codec.decode(row[7], "incident.payload|" + row[0]),
    )  # fmt: skip


def _effect(row: EffectRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.instance_id, row.execution, row.attempt, row.owner.node, row.owner.boot, row.activity_id,
        row.type, row.queue, row.on_lost, common_micros(row.created), micros_or_none(row.deadline),
        codec.encode(row.inputs, "effect.inputs|" + row.tenant),
    )  # fmt: skip


def _read_effect(row: Sequence[Any], codec: Codec) -> EffectRow:
    return EffectRow(
        tenant=row[0], instance_id=row[1], execution=row[2], attempt=row[3], owner=Owner(row[4], row[5]),
        activity_id=row[6], type=row[7], queue=row[8], on_lost=row[9], created=moment(row[10]),
        deadline=moment_or_none(row[11]), inputs=codec.decode(row[12], "effect.inputs|" + row[0]),
    )  # fmt: skip


def _guard(row: GuardRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.kind.value, row.name, row.fingerprint, row.instance_id, micros(row.created),
        micros_or_none(row.released),
    )  # fmt: skip


def _read_guard(row: Sequence[Any], codec: Codec) -> GuardRow:
    return GuardRow(
        tenant=row[0], kind=GuardKind(row[1]), name=row[2], fingerprint=row[3], instance_id=row[4],
        created=moment(row[5]), released=moment_or_none(row[6]),
    )  # fmt: skip


INSTANCE = Table(
    "hf_instance",
    "tenant, id, version, burst_id, status, content, definition_id, definition_version, correlation_id, name, "
    "parent_id, is_system, incidents, created, updated, finished, state",
    _instance,
    _read_instance,
)
JOURNAL = Table(
    "hf_journal",
    "tenant, instance_id, version, burst_id, first_entry, entries, written, data",
    _segment,
    _read_segment,
)
BOOKMARK = Table(
    "hf_bookmark",
    "tenant, wake_key, correlation, instance_id, seq, type, activity_id, created, payload",
    _bookmark,
    _read_bookmark,
)
VALUE = Table("hf_value", "tenant, instance_id, ref, data", _value, _read_value)
INCIDENT = Table(
    "hf_incident",
    "tenant, instance_id, id, kind, activity_id, occurred, is_open, payload",
    _incident,
    _read_incident,
)
EFFECT = Table(
    "hf_effect",
    "tenant, instance_id, execution, attempt, owner_node, owner_boot, activity_id, type, queue, on_lost, created, "
    "deadline, inputs",
    _effect,
    _read_effect,
)
GUARD = Table("hf_guard", "tenant, kind, name, fingerprint, instance_id, created, released", _guard, _read_guard)
