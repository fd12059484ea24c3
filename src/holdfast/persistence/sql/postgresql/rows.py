"""A batch of commits as columns: for each kind of row one list of rows, each with the number of its commit in front.

Numbers are given in order of (tenant, instance), which is the order in which rows are locked.
"""

from __future__ import annotations

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
from holdfast.persistence.sql.tables import micros, micros_or_none
from holdfast.persistence.sql.work_tables import DEAD_LETTER, INBOX, OUTBOX, WORK
from holdfast.ports import Codec

Row = tuple[Any, ...]

NOTHING, NEW, CHANGED = 0, 1, 2
"""What a commit does to an instance."""


class BatchRows:
    """`kinds` maps the name of a kind of rows to its rows; a kind without rows is not there. The kind `commits` has
    one row for each: number, what it does to an instance, how many consumed rows it needs, which instance, version."""

    __slots__ = ("kinds",)

    def __init__(self) -> None:
        self.kinds: dict[str, list[Row]] = {"commits": []}

    @property
    def guarded(self) -> bool:
        """Whether anything but a version guards a commit."""
        return not self.kinds.keys().isdisjoint(GUARDS)

    @property
    def have_instances(self) -> bool:
        """Whether each commit writes an instance."""
        kinds = self.kinds
        return len(kinds["commits"]) == len(kinds.get("new", ())) + len(kinds.get("changed", ()))

    def may_be_confident(self, *, claimed: bool) -> bool:
        """Whether only versions and consumed effects guard them; with `claimed` also work that this transaction has in
        hand: its deletion waits for nobody."""
        return self.kinds.keys().isdisjoint(_NEVER_SURE if claimed else _UNSURE)


GUARDS = frozenset({"guard_taken", "work_consumed", "inbox_consumed", "effect_consumed", "schedule_fired"})
_UNSURE = GUARDS - {"effect_consumed"}
_NEVER_SURE = _UNSURE - {"work_consumed"}


def rows_of(batch: Sequence[Commit], codec: Codec) -> BatchRows:
    """Of commits that are in order of (tenant, instance) already."""
    rows = BatchRows()
    kinds = rows.kinds
    commits = kinds["commits"]
    for number, commit in enumerate(batch):
        needed = 0
        if commit.work_consumed or commit.inbox_consumed or commit.effects_consumed or commit.schedules_fired:
            needed = _consumed(kinds, number, commit)
        commits.append(commit_row(number, commit, needed))
        if commit.instance is not None:
            _instance(kinds, number, commit, commit.instance, codec)
        if commit.work_added or commit.work_dropped or commit.inbox_added or commit.outbox_added or commit.dead_letters:
            _mail(kinds, number, commit, codec)
        for record in commit.records:
            _add(kinds, "record", (number, *first_version(record, codec)))
    return rows


def commit_row(number: int, commit: Commit, needed: int) -> Row:
    row = commit.instance
    if row is None:
        return number, NOTHING, needed, commit.tenant, None, 0
    return number, NEW if row.version == 1 else CHANGED, needed, row.tenant, row.id, row.version


def _add(kinds: dict[str, list[Row]], kind: str, row: Row) -> None:
    found = kinds.get(kind)
    if found is None:
        kinds[kind] = [row]
    else:
        found.append(row)


def _instance(kinds: dict[str, list[Row]], number: int, commit: Commit, row: InstanceRow, codec: Codec) -> None:
    tenant, name = row.tenant, row.id
    if row.version == 1:
        first = first_of(row, commit.journal, codec)
        _add(kinds, "new", (number, *INSTANCE.encode(row, codec), *first))
        if first is NOT_HERE:
            segment = _segment(commit, row, micros(row.updated), codec)
            _add(kinds, "journal", (number, tenant, name, row.version, row.burst_id, *segment))
    else:
        _add(kinds, "changed", _changed(number, commit, row, codec))
    for ref in commit.bookmarks_burned:
        _add(kinds, "bookmark_burned", (number, tenant, ref.key, ref.correlation, name, ref.seq))
    for mark in commit.bookmarks_added:
        _add(kinds, "bookmark_added", (number, *BOOKMARK.encode(mark, codec)))
    if commit.effects_added or commit.effects_dropped:
        for effect in commit.effects_added:
            _add(kinds, "effect_added", (number, *EFFECT.encode(effect, codec)))
        for execution in commit.effects_dropped:
            _add(kinds, "effect_dropped", (number, tenant, name, execution))
    if commit.guards_taken or commit.guards_released:
        _guards(kinds, number, commit, row)
    if commit.incidents_added or commit.incidents_resolved or commit.values_added or commit.values_dropped:
        _remarks(kinds, number, commit, row, codec)


def _changed(number: int, commit: Commit, row: InstanceRow, codec: Codec) -> Row:
    """An instance that goes on, with its segment."""
    tenant, finished, now = row.tenant, row.finished, micros(row.updated)
    return (
        number, tenant, row.id, row.version, row.burst_id, row.status, row.content, row.definition_version,
        row.correlation_id, row.name, row.incidents, now, None if finished is None else micros(finished),
        codec.encode(row.state, "instance.state|" + tenant), *_segment(commit, row, now, codec),
    )  # fmt: skip


def _segment(commit: Commit, row: InstanceRow, now: int, codec: Codec) -> Row:
    """What it says beside its row, whose version and burst it has (`check_batch`). `now` is when the row was updated, in
    microseconds; so, mostly, was its segment."""
    segment, where = commit.journal, "journal.data|" + row.tenant
    if segment is None:
        return 0, 0, now, codec.encode(b"", where)
    written = now if segment.written is row.updated else micros(segment.written)
    return segment.first, segment.count, written, codec.encode(segment.data, where)


def _guards(kinds: dict[str, list[Row]], number: int, commit: Commit, row: InstanceRow) -> None:
    for guard in commit.guards_taken:
        _add(
            kinds,
            "guard_taken",
            (number, row.tenant, guard.kind.value, guard.name, guard.fingerprint, row.id, micros(row.updated)),
        )
    for ref in commit.guards_released:
        _add(kinds, "guard_released", (number, row.tenant, ref.kind.value, ref.name, row.id))


def _remarks(kinds: dict[str, list[Row]], number: int, commit: Commit, row: InstanceRow, codec: Codec) -> None:
    for incident in commit.incidents_added:
        _add(kinds, "incident_added", (number, *INCIDENT.encode(incident, codec)))
    for incident_id in commit.incidents_resolved:
        _add(kinds, "incident_resolved", (number, row.tenant, row.id, incident_id))
    for value in commit.values_added:
        _add(kinds, "value_added", (number, *VALUE.encode(value, codec)))
    for ref in commit.values_dropped:
        _add(kinds, "value_dropped", (number, row.tenant, row.id, ref))


def _consumed(kinds: dict[str, list[Row]], number: int, commit: Commit) -> int:
    """How many rows must be there."""
    tenant = commit.tenant
    if commit.work_consumed:
        rows = [(number, tenant, work_id) for work_id in commit.work_consumed]
        kinds.setdefault("work_consumed", []).extend(rows)
    for stimulus_id in commit.inbox_consumed:
        _add(kinds, "inbox_consumed", (number, tenant, stimulus_id))
    for ref in commit.effects_consumed:
        name = "" if commit.instance is None else commit.instance.id
        _add(kinds, "effect_consumed", (number, tenant, name, ref.execution, ref.attempt, *ref.owner))
    for step in commit.schedules_fired:
        due = (micros(step.due), micros_or_none(step.next_due))
        _add(kinds, "schedule_fired", (number, tenant, step.schedule_id, *due))
    return (
        len(commit.work_consumed)
        + len(commit.inbox_consumed)
        + len(commit.effects_consumed)
        + len(commit.schedules_fired)
    )


def _mail(kinds: dict[str, list[Row]], number: int, commit: Commit, codec: Codec) -> None:
    for work in commit.work_added:
        _add(kinds, "work_added", (number, *WORK.encode(work, codec)))
    for work_id in commit.work_dropped:
        _add(kinds, "work_dropped", (number, commit.tenant, work_id))
    for stimulus in commit.inbox_added:
        _add(kinds, "inbox_added", (number, *INBOX.encode(stimulus, codec)))
    for message in commit.outbox_added:
        _add(kinds, "outbox_added", (number, *OUTBOX.encode(message, codec)))
    for letter in commit.dead_letters:
        _add(kinds, "dead_letter", (number, *DEAD_LETTER.encode(letter, codec)))
