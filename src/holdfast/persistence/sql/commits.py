"""Commit script of databases that read the guarded rows first and write afterwards: SQLite and MySQL.

One script for the whole batch: read the evidence under locks, check the guards, write the accepted commits table by table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.stored import InstanceRow
from holdfast.model.work import CANCELED
from holdfast.persistence import faultpoints
from holdfast.persistence.guard_rules import check_guards
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.first_segment import INSERT_NEW, NOT_HERE, first_of, keep_first
from holdfast.persistence.sql.guard_evidence import gather
from holdfast.persistence.sql.instance_tables import (
    BOOKMARK,
    EFFECT,
    GUARD,
    INCIDENT,
    INSTANCE,
    JOURNAL,
    VALUE,
    StoredSegment,
)
from holdfast.persistence.sql.records import RECORD, first_version, written_over
from holdfast.persistence.sql.script import Script, Statement, Value, execute_many
from holdfast.persistence.sql.tables import micros, micros_or_none
from holdfast.persistence.sql.work_tables import DEAD_LETTER, INBOX, OUTBOX, WORK
from holdfast.ports import Codec

_UPDATE = (
    f"update hf_instance set {keep_first()}, version = ?, burst_id = ?, status = ?, content = ?, "  # noqa: S608
    "definition_version = ?, correlation_id = ?, name = ?, incidents = ?, updated = ?, finished = ?, state = ?"
    " where tenant = ? and id = ?"
)
_BURN = "delete from hf_bookmark where tenant = ? and wake_key = ? and correlation = ? and instance_id = ? and seq = ?"
_DROP_WORK = "delete from hf_work where tenant = ? and id = ?"
_DROP_INBOX = "delete from hf_inbox where tenant = ? and id = ?"
_DROP_EFFECT = "delete from hf_effect where tenant = ? and instance_id = ? and execution = ?"
_CANCEL_EFFECT = f"update hf_effect set on_lost = '{CANCELED}' where tenant = ? and instance_id = ? and execution = ?"  # noqa: S608
_DROP_VALUE = "delete from hf_value where tenant = ? and instance_id = ? and ref = ?"
_RELEASE = "delete from hf_guard where tenant = ? and kind = ? and name = ? and instance_id = ?"
_RESOLVE = "update hf_incident set is_open = 0 where tenant = ? and instance_id = ? and id = ?"
_FIRE = "update hf_schedule set due = ?, fired = ? where tenant = ? and id = ?"

Rows = list[tuple[Value, ...]]


def commit_script(batch: Sequence[Commit], dialect: Dialect, codec: Codec) -> Script[list[CommitOutcome]]:
    found = yield from gather(batch, dialect.lock)
    survivors: list[Commit] = []

    def accept(commit: Commit) -> None:
        found.apply(commit)
        survivors.append(commit)

    outcomes = check_guards(batch, found, accept)
    faultpoints.reached("commit.locked")
    for statement in writes(survivors, dialect, codec):
        if statement.values:
            yield statement
    faultpoints.reached("commit.written")
    return outcomes


def writes(commits: Sequence[Commit], dialect: Dialect, codec: Codec) -> Iterator[Statement]:
    """Statements for every row that these commits change. Deletes come before inserts, so that a key can be reused."""
    with_instance = [(commit, commit.instance) for commit in commits if commit.instance is not None]
    yield from _instances(with_instance, codec)
    yield from _guards(with_instance)
    yield from _bookmarks(with_instance, codec)
    yield from _effects(with_instance, codec)
    yield from _incidents_and_values(with_instance, codec)
    yield from _work(commits, codec)
    yield from _inbox_and_outbox(commits, dialect, codec)
    yield execute_many(
        f"{RECORD.insert} {written_over(dialect)}",
        [first_version(row, codec) for commit in commits for row in commit.records],
    )


_Written = Sequence[tuple[Commit, InstanceRow]]


def _instances(written: _Written, codec: Codec) -> Iterator[Statement]:
    new: Rows = []
    changed: Rows = []
    segments: list[StoredSegment] = []
    for commit, row in written:
        first = NOT_HERE
        if row.version == 1:
            first = first_of(row, commit.journal, codec)
            new.append((*INSTANCE.encode(row, codec), *first))
        else:
            changed.append(_update(row, codec))
        if first is NOT_HERE and (segment := commit.segment) is not None:
            segments.append(StoredSegment(row.tenant, row.id, segment))
    yield execute_many(INSERT_NEW, new)
    yield execute_many(_UPDATE, changed)
    yield execute_many(JOURNAL.insert, [JOURNAL.encode(segment, codec) for segment in segments])


def _update(row: InstanceRow, codec: Codec) -> tuple[Value, ...]:
    return (
        row.version, row.burst_id, row.status, row.content, row.definition_version, row.correlation_id, row.name,
        row.incidents, micros(row.updated), micros_or_none(row.finished),
        codec.encode(row.state, "instance.state|" + row.tenant), row.tenant, row.id,
    )  # fmt: skip


def _guards(written: _Written) -> Iterator[Statement]:
    released: Rows = []
    taken: Rows = []
    for commit, row in written:
        released += [(row.tenant, ref.kind.value, ref.name, row.id) for ref in commit.guards_released]
        taken += [
            (row.tenant, guard.kind.value, guard.name, guard.fingerprint, row.id, micros(row.updated), None)
            for guard in commit.guards_taken
        ]
    yield execute_many(_RELEASE, released)
    yield execute_many(GUARD.insert, taken)


def _bookmarks(written: _Written, codec: Codec) -> Iterator[Statement]:
    yield execute_many(
        _BURN,
        [
            (row.tenant, ref.key, ref.correlation, row.id, ref.seq)
            for commit, row in written
            for ref in commit.bookmarks_burned
        ],
    )
    yield execute_many(
        BOOKMARK.insert, [BOOKMARK.encode(mark, codec) for commit, _ in written for mark in commit.bookmarks_added]
    )


def _effects(written: _Written, codec: Codec) -> Iterator[Statement]:
    gone: Rows = []
    for commit, row in written:
        gone += [(row.tenant, row.id, ref.execution) for ref in commit.effects_consumed]
        gone += [(row.tenant, row.id, execution) for execution in commit.effects_dropped]
    yield execute_many(_DROP_EFFECT, gone)
    yield execute_many(
        _CANCEL_EFFECT, [(row.tenant, row.id, number) for commit, row in written for number in commit.effects_canceled]
    )
    yield execute_many(
        EFFECT.insert, [EFFECT.encode(effect, codec) for commit, _ in written for effect in commit.effects_added]
    )


def _incidents_and_values(written: _Written, codec: Codec) -> Iterator[Statement]:
    yield execute_many(
        INCIDENT.insert, [INCIDENT.encode(mark, codec) for commit, _ in written for mark in commit.incidents_added]
    )
    yield execute_many(
        _RESOLVE,
        [(row.tenant, row.id, incident) for commit, row in written for incident in commit.incidents_resolved],
    )
    yield execute_many(
        _DROP_VALUE, [(row.tenant, row.id, ref) for commit, row in written for ref in commit.values_dropped]
    )
    yield execute_many(
        VALUE.insert, [VALUE.encode(value, codec) for commit, _ in written for value in commit.values_added]
    )


def _work(commits: Sequence[Commit], codec: Codec) -> Iterator[Statement]:
    gone: Rows = []
    for commit in commits:
        gone += [(commit.tenant, work_id) for work_id in commit.work_consumed]
        gone += [(commit.tenant, work_id) for work_id in commit.work_dropped]
    yield execute_many(_DROP_WORK, gone)
    yield execute_many(WORK.insert, [WORK.encode(row, codec) for commit in commits for row in commit.work_added])
    yield execute_many(
        DEAD_LETTER.insert, [DEAD_LETTER.encode(row, codec) for commit in commits for row in commit.dead_letters]
    )
    yield execute_many(
        _FIRE,
        [
            (micros_or_none(step.next_due), micros(step.due), commit.tenant, step.schedule_id)
            for commit in commits
            for step in commit.schedules_fired
        ],
    )


def _inbox_and_outbox(commits: Sequence[Commit], dialect: Dialect, codec: Codec) -> Iterator[Statement]:
    yield execute_many(
        _DROP_INBOX, [(commit.tenant, stimulus) for commit in commits for stimulus in commit.inbox_consumed]
    )
    yield execute_many(
        f"{INBOX.insert} {dialect.skip_existing}",
        [INBOX.encode(row, codec) for commit in commits for row in commit.inbox_added],
    )
    yield execute_many(OUTBOX.insert, [OUTBOX.encode(row, codec) for commit in commits for row in commit.outbox_added])
