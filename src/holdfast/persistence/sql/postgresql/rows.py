"""Rows of a batch of commits: one list per kind of row. Each row starts with the number of its commit.

Commits are numbered by (tenant, instance), which is the lock order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceRow
from holdfast.persistence.sql.first_segment import NOT_HERE, first_of
from holdfast.persistence.sql.instance_tables import (
    BOOKMARK,
    EFFECT,
    INCIDENT,
    INSTANCE,
    VALUE,
)
from holdfast.persistence.sql.records import first_version
from holdfast.persistence.sql.tables import common_micros, micros, micros_or_none
from holdfast.persistence.sql.work_tables import DEAD_LETTER, INBOX, OUTBOX, WORK
from holdfast.ports import Codec

Row = tuple[Any, ...]

NOTHING, NEW, CHANGED = 0, 1, 2
"""Effect of a commit on its instance."""


Kinds = defaultdict[str, list[Row]]


class BatchRows:
    """`kinds` maps each kind of row to its rows. Kinds without rows are missing."""

    __slots__ = ("batch", "kinds")

    def __init__(self, batch: Sequence[Commit]) -> None:
        self.batch = batch
        self.kinds: Kinds = defaultdict(list)

    def commits(self) -> list[Row]:
        """One row per commit: number, effect on its instance, number of consumed rows, instance, version. The confident
        statement does not need them."""
        return [commit_row(number, commit, _needed(commit)) for number, commit in enumerate(self.batch)]

    @property
    def guarded(self) -> bool:
        """Whether a commit has other guards than a version."""
        return not self.kinds.keys().isdisjoint(GUARDS)

    @property
    def have_instances(self) -> bool:
        """Whether each commit writes an instance."""
        kinds = self.kinds
        return len(self.batch) == len(kinds.get("new", ())) + len(kinds.get("changed", ()))

    def may_be_confident(self, *, claimed: bool) -> bool:
        """Whether all guards are versions and consumed effects. With `claimed`, consumed work rows are also allowed: this
        transaction holds their locks."""
        return self.kinds.keys().isdisjoint(_NEVER_SURE if claimed else _UNSURE)


GUARDS = frozenset({"guard_taken", "work_consumed", "inbox_consumed", "effect_consumed", "schedule_fired"})
_UNSURE = GUARDS - {"effect_consumed"}
_NEVER_SURE = _UNSURE - {"work_consumed"}


def rows_of(batch: Sequence[Commit], codec: Codec) -> BatchRows:
    """The rows of commits that are already sorted by (tenant, instance)."""
    rows = BatchRows(batch)
    kinds = rows.kinds
    for number, commit in enumerate(batch):
        if commit.instance is not None:
            _instance(kinds, number, commit, commit.instance, codec)
        if commit.effects_consumed or commit.work_consumed or commit.inbox_consumed or commit.schedules_fired:
            _consumed(kinds, number, commit)
        if commit.work_added or commit.work_dropped or commit.inbox_added or commit.outbox_added or commit.dead_letters:
            _added(kinds, number, commit, codec)
        for record in commit.records:
            kinds["record"].append((number, *first_version(record, codec)))
    return rows


def commit_row(number: int, commit: Commit, needed: int) -> Row:
    row = commit.instance
    if row is None:
        return number, NOTHING, needed, commit.tenant, None, 0
    return number, NEW if row.version == 1 else CHANGED, needed, row.tenant, row.id, row.version


def _needed(commit: Commit) -> int:
    """Number of consumed rows that must exist."""
    return (
        len(commit.work_consumed)
        + len(commit.inbox_consumed)
        + len(commit.effects_consumed)
        + len(commit.schedules_fired)
    )


def _instance(kinds: Kinds, number: int, commit: Commit, row: InstanceRow, codec: Codec) -> None:
    tenant, name = row.tenant, row.id
    if row.version == 1:
        first = first_of(row, commit.journal, codec)
        kinds["new"].append((number, *INSTANCE.encode(row, codec), *first))
        if first is NOT_HERE:
            segment = _segment(commit, row, micros(row.updated), codec)
            kinds["journal"].append((number, tenant, name, row.version, row.burst_id, *segment))
    else:
        kinds["changed"].append(_changed(number, commit, row, codec))
    for key, correlation, seq in commit.bookmarks_burned:
        kinds["bookmark_burned"].append((number, tenant, key, correlation, name, seq))
    for mark in commit.bookmarks_added:
        kinds["bookmark_added"].append((number, *BOOKMARK.encode(mark, codec)))
    if commit.effects_canceled:
        kinds["effect_canceled"] += [(number, tenant, name, execution) for execution in commit.effects_canceled]
    if commit.effects_added or commit.effects_dropped:
        for effect in commit.effects_added:
            kinds["effect_added"].append((number, *EFFECT.encode(effect, codec)))
        for execution in commit.effects_dropped:
            kinds["effect_dropped"].append((number, tenant, name, execution))
    if commit.guards_taken or commit.guards_released:
        _guards(kinds, number, commit, row)
    if commit.incidents_added or commit.incidents_resolved or commit.values_added or commit.values_dropped:
        _incidents_and_values(kinds, number, commit, row, codec)


def _changed(number: int, commit: Commit, row: InstanceRow, codec: Codec) -> Row:
    """The row of a changed instance, with its journal segment."""
    tenant, finished, updated = row.tenant, row.finished, row.updated
    now = common_micros(updated)
    return (
        number, tenant, row.id, row.version, row.burst_id, row.status, row.content, row.definition_version,
        row.correlation_id, row.name, row.incidents, now, now if finished is updated else micros_or_none(finished),
        codec.encode(row.state, "instance.state|" + tenant), *_segment(commit, row, now, codec),
    )  # fmt: skip


def _segment(commit: Commit, row: InstanceRow, now: int, codec: Codec) -> Row:
    """Columns of a journal segment that are not in its instance's row. Version and burst are the same in both
    (`check_batch`). `now` is the update time of the row in microseconds, which is usually also the segment's."""
    segment, where = commit.journal, "journal.data|" + row.tenant
    if segment is None:
        return 0, 0, now, codec.encode(b"", where)
    written = now if segment.written is row.updated else micros(segment.written)
    return segment.first, segment.count, written, codec.encode(segment.data, where)


def _guards(kinds: Kinds, number: int, commit: Commit, row: InstanceRow) -> None:
    for guard in commit.guards_taken:
        kinds["guard_taken"].append(
            (number, row.tenant, guard.kind.value, guard.name, guard.fingerprint, row.id, micros(row.updated))
        )
    for ref in commit.guards_released:
        kinds["guard_released"].append((number, row.tenant, ref.kind.value, ref.name, row.id))


def _incidents_and_values(kinds: Kinds, number: int, commit: Commit, row: InstanceRow, codec: Codec) -> None:
    for incident in commit.incidents_added:
        kinds["incident_added"].append((number, *INCIDENT.encode(incident, codec)))
    for incident_id in commit.incidents_resolved:
        kinds["incident_resolved"].append((number, row.tenant, row.id, incident_id))
    for value in commit.values_added:
        kinds["value_added"].append((number, *VALUE.encode(value, codec)))
    for ref in commit.values_dropped:
        kinds["value_dropped"].append((number, row.tenant, row.id, ref))


def _consumed(kinds: Kinds, number: int, commit: Commit) -> None:
    tenant = commit.tenant
    if commit.work_consumed:
        kinds["work_consumed"] += [(number, tenant, work_id) for work_id in commit.work_consumed]
    for stimulus_id in commit.inbox_consumed:
        kinds["inbox_consumed"].append((number, tenant, stimulus_id))
    for ref in commit.effects_consumed:
        name = "" if commit.instance is None else commit.instance.id
        kinds["effect_consumed"].append((number, tenant, name, ref.execution, ref.attempt, *ref.owner))
    for step in commit.schedules_fired:
        due = (micros(step.due), micros_or_none(step.next_due))
        kinds["schedule_fired"].append((number, tenant, step.schedule_id, *due))


def _added(kinds: Kinds, number: int, commit: Commit, codec: Codec) -> None:
    for work in commit.work_added:
        kinds["work_added"].append((number, *WORK.encode(work, codec)))
    for work_id in commit.work_dropped:
        kinds["work_dropped"].append((number, commit.tenant, work_id))
    for stimulus in commit.inbox_added:
        kinds["inbox_added"].append((number, *INBOX.encode(stimulus, codec)))
    for message in commit.outbox_added:
        kinds["outbox_added"].append((number, *OUTBOX.encode(message, codec)))
    for letter in commit.dead_letters:
        kinds["dead_letter"].append((number, *DEAD_LETTER.encode(letter, codec)))
