"""Tables of work, inbox, outbox, schedules, nodes and definitions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Origin, TriggerRow
from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.work import DeadLetterRow, InboxRow, OutboxRow, ScheduleRow, WorkRow
from holdfast.persistence.sql.tables import Table, common_micros, micros, micros_or_none, moment, moment_or_none
from holdfast.ports import Codec

AT_ONCE = 0
"""The due time of rows without one: they sort before all others, by urgency."""


def _work(row: WorkRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.id, row.queue, AT_ONCE if row.due is None else micros(row.due), -row.priority, row.kind,
        row.instance_id, row.bookmark_seq, row.content, row.attempts, common_micros(row.created),
        codec.encode(row.payload, "work.payload|" + row.tenant),
    )  # fmt: skip


def _read_work(row: Sequence[Any], codec: Codec) -> WorkRow:
    return WorkRow(
        tenant=row[0], id=row[1], queue=row[2], due=None if row[3] == AT_ONCE else moment(row[3]), priority=-row[4],
        kind=row[5], instance_id=row[6], bookmark_seq=row[7], content=row[8], attempts=row[9], created=moment(row[10]),
        payload=codec.decode(row[11], "work.payload|" + row[0]),
    )  # fmt: skip


def _dead_letter(row: DeadLetterRow, codec: Codec) -> tuple[Any, ...]:
    work = _work(row.work, codec)
    return *work, row.reason, micros(row.died), codec.encode(row.error, "dead_letter.error|" + row.work.tenant)


def _read_dead_letter(row: Sequence[Any], codec: Codec) -> DeadLetterRow:
    return DeadLetterRow(
        work=_read_work(row[:12], codec), reason=row[12], died=moment(row[13]),
        error=codec.decode(row[14], "dead_letter.error|" + row[0]),
    )  # fmt: skip


def _inbox(row: InboxRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.id, row.key, row.correlation, row.instance_id, row.type, micros(row.arrived),
        micros_or_none(row.expires), codec.encode(row.payload, "inbox.payload|" + row.tenant), row.address,
        AT_ONCE if row.due is None else micros(row.due),
    )  # fmt: skip


def _read_inbox(row: Sequence[Any], codec: Codec) -> InboxRow:
    return InboxRow(
        tenant=row[0], id=row[1], key=row[2], correlation=row[3], instance_id=row[4], type=row[5],
        arrived=moment(row[6]), expires=moment_or_none(row[7]),
        payload=codec.decode(row[8], "inbox.payload|" + row[0]), address=row[9],
        due=None if row[10] == AT_ONCE else moment(row[10]),
    )  # fmt: skip


def _outbox(row: OutboxRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.id, row.topic, row.instance_id, micros(row.created), row.attempts,
        codec.encode(row.payload, "outbox.payload|" + row.tenant),
    )  # fmt: skip


def _read_outbox(row: Sequence[Any], codec: Codec) -> OutboxRow:
    return OutboxRow(
        tenant=row[0], id=row[1], topic=row[2], instance_id=row[3], created=moment(row[4]), attempts=row[5],
        payload=codec.decode(row[6], "outbox.payload|" + row[0]),
    )  # fmt: skip


def _schedule(row: ScheduleRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.id, row.definition_id, micros_or_none(row.due), micros_or_none(row.fired),
        codec.encode(row.payload, "schedule.payload|" + row.tenant),
    )  # fmt: skip


def _read_schedule(row: Sequence[Any], codec: Codec) -> ScheduleRow:
    return ScheduleRow(
        tenant=row[0], id=row[1], definition_id=row[2], due=moment_or_none(row[3]), fired=moment_or_none(row[4]),
        payload=codec.decode(row[5], "schedule.payload|" + row[0]),
    )  # fmt: skip


def _node(row: NodeRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.id, row.boot, row.worker, row.state.value, micros(row.started), micros(row.heartbeat),
        row.time_to_live // timedelta(microseconds=1), row.details,
    )  # fmt: skip


def _read_node(row: Sequence[Any], codec: Codec) -> NodeRow:
    return NodeRow(
        id=row[0], boot=row[1], worker=row[2], state=NodeState(row[3]), started=moment(row[4]),
        heartbeat=moment(row[5]), time_to_live=timedelta(microseconds=row[6]), details=bytes(row[7]),
    )  # fmt: skip


def _content(row: DefinitionContent, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.hash, row.origin.value, micros(row.created),
        codec.encode(row.document, "content.document|" + row.tenant),
    )  # fmt: skip


def _read_content(row: Sequence[Any], codec: Codec) -> DefinitionContent:
    return DefinitionContent(
        tenant=row[0], hash=row[1], origin=Origin(row[2]), created=moment(row[3]),
        document=codec.decode(row[4], "content.document|" + row[0]),
    )  # fmt: skip


def _version(row: DefinitionVersion, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.definition_id, row.version, row.content, row.name, int(row.published), int(row.latest),
        micros(row.created), codec.encode(row.metadata, "version.metadata|" + row.tenant),
    )  # fmt: skip


def _read_version(row: Sequence[Any], codec: Codec) -> DefinitionVersion:
    return DefinitionVersion(
        tenant=row[0], definition_id=row[1], version=row[2], content=row[3], name=row[4], published=bool(row[5]),
        latest=bool(row[6]), created=moment(row[7]), metadata=codec.decode(row[8], "version.metadata|" + row[0]),
    )  # fmt: skip


def _trigger(row: TriggerRow, codec: Codec) -> tuple[Any, ...]:
    return (
        row.tenant, row.definition_id, row.id, row.content, row.version, row.key, row.type, row.activity_id,
        codec.encode(row.payload, "trigger.payload|" + row.tenant),
    )  # fmt: skip


def _read_trigger(row: Sequence[Any], codec: Codec) -> TriggerRow:
    return TriggerRow(
        tenant=row[0], definition_id=row[1], id=row[2], content=row[3], version=row[4], key=row[5], type=row[6],
        activity_id=row[7], payload=codec.decode(row[8], "trigger.payload|" + row[0]),
    )  # fmt: skip


_WORK_COLUMNS = "tenant, id, queue, due, urgency, kind, instance_id, bookmark_seq, content, attempts, created, payload"

WORK = Table("hf_work", _WORK_COLUMNS, _work, _read_work)
DEAD_LETTER = Table("hf_dead_letter", _WORK_COLUMNS + ", reason, died, error", _dead_letter, _read_dead_letter)
INBOX = Table(
    "hf_inbox",
    "tenant, id, wake_key, correlation, instance_id, type, arrived, expires, payload, address, due",
    _inbox,
    _read_inbox,
)
OUTBOX = Table("hf_outbox", "tenant, id, topic, instance_id, created, attempts, payload", _outbox, _read_outbox)
SCHEDULE = Table("hf_schedule", "tenant, id, definition_id, due, fired, payload", _schedule, _read_schedule)
NODE = Table("hf_node", "id, boot, worker, state, started, heartbeat, time_to_live, details", _node, _read_node)
CONTENT = Table("hf_content", "tenant, hash, origin, created, document", _content, _read_content)
VERSION = Table(
    "hf_version",
    "tenant, definition_id, version, content, name, published, latest, created, metadata",
    _version,
    _read_version,
)
TRIGGER = Table(
    "hf_trigger",
    "tenant, definition_id, id, content, version, wake_key, type, activity_id, payload",
    _trigger,
    _read_trigger,
)
