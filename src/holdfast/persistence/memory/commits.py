"""Commits of the memory store: guards are checked one commit at a time; each commit is written completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from holdfast.errors import AlreadyStored
from holdfast.model.changes import of_commits
from holdfast.model.commit import Commit, CommitOutcome, Failed, check_batch
from holdfast.model.guard import GuardRef, GuardRow
from holdfast.model.stored import BookmarkRow, InstanceKey, InstanceRow
from holdfast.model.work import CANCELED, EffectRef
from holdfast.persistence import faultpoints
from holdfast.persistence.guard_rules import Holder, check_guards
from holdfast.persistence.memory.records import write_record
from holdfast.persistence.memory.tables import MemoryStoreBase, Tables


class TableEvidence:
    """Evidence read directly from the tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def version_of(self, key: InstanceKey) -> int:
        row = self._tables.instances.get(key)
        return 0 if row is None else row.version

    def burst_of(self, key: InstanceKey, version: int) -> str | None:
        segment = self._tables.journal.get(key, {}).get(version)
        return None if segment is None else segment.burst_id

    def holder_of(self, tenant: str, ref: GuardRef) -> Holder | None:
        row = self._tables.guards.get((tenant, ref.kind, ref.name))
        return None if row is None else Holder(row.instance_id, row.fingerprint)

    def has_work(self, tenant: str, work_id: str) -> bool:
        return (tenant, work_id) in self._tables.work

    def has_inbox(self, tenant: str, stimulus_id: str) -> bool:
        return (tenant, stimulus_id) in self._tables.inbox

    def effect_of(self, tenant: str, instance_id: str, execution: int) -> EffectRef | None:
        row = self._tables.effects.get((tenant, instance_id, execution))
        return None if row is None else row.ref

    def due_of(self, tenant: str, schedule_id: str) -> datetime | None:
        row = self._tables.schedules.get((tenant, schedule_id))
        return None if row is None else row.due


class MemoryCommits(MemoryStoreBase):
    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        check_batch(batch)
        faultpoints.reached("commit.begin")
        outcomes = check_guards(batch, TableEvidence(self._tables), self._accept)
        self._changed(of_commits(batch))
        faultpoints.reached("commit.done")
        return outcomes

    def _accept(self, commit: Commit) -> CommitOutcome | None:
        collision = next(_collisions(self._tables, commit), None)
        if collision is not None:
            return Failed(AlreadyStored(f"{collision} is stored already. Ids are never reused: give it a new one."))
        _write(self._tables, commit)
        return None


def _collisions(tables: Tables, commit: Commit) -> Iterator[str]:
    """Rows that a database would refuse because of their primary key."""
    tenant = commit.tenant
    seen: set[object] = set()

    def twice(identity: object, stored: bool) -> bool:
        known = stored or identity in seen
        seen.add(identity)
        return known

    gone = {*commit.work_consumed, *commit.work_dropped}
    for work in commit.work_added:
        if twice(("work", work.id), (tenant, work.id) in tables.work and work.id not in gone):
            yield f"Work '{work.id}'"
    for message in commit.outbox_added:
        if twice(("outbox", message.id), (tenant, message.id) in tables.outbox):
            yield f"Outbox row '{message.id}'"
    for letter in commit.dead_letters:
        if twice(("dead", letter.work.id), (tenant, letter.work.id) in tables.dead_letters):
            yield f"Dead letter '{letter.work.id}'"
    if commit.instance is not None:
        yield from _collisions_of_instance(tables, commit, commit.instance)


def _collisions_of_instance(tables: Tables, commit: Commit, instance: InstanceRow) -> Iterator[str]:
    key = InstanceKey(commit.tenant, instance.id)
    bookmarks, values = tables.bookmarks.get(key, {}), tables.values.get(key, {})
    gone = {ref.execution for ref in commit.effects_consumed} | set(commit.effects_dropped)
    seen: set[object] = set()
    checks: tuple[tuple[str, object, bool], ...] = (
        *(
            ("Bookmark", row.ref, row.ref in bookmarks and row.ref not in commit.bookmarks_burned)
            for row in commit.bookmarks_added
        ),
        *(("Value", row.ref, row.ref in values) for row in commit.values_added),
        *(
            ("Effect", row.execution, (*key, row.execution) in tables.effects and row.execution not in gone)
            for row in commit.effects_added
        ),
        *(("Incident", row.id, (*key, row.id) in tables.incidents) for row in commit.incidents_added),
        *(("Guard", guard.ref, False) for guard in commit.guards_taken),
    )
    for what, identity, stored in checks:
        if stored or (what, identity) in seen:
            yield f"{what} '{identity}' of instance '{instance.id}'"
        seen.add((what, identity))


def _write(tables: Tables, commit: Commit) -> None:
    if commit.instance is not None:
        _write_instance(tables, commit, commit.instance)
    tenant = commit.tenant
    for work_id in (*commit.work_consumed, *commit.work_dropped):
        tables.work.pop((tenant, work_id), None)
    tables.work.update({(tenant, row.id): row for row in commit.work_added})
    for stimulus_id in commit.inbox_consumed:
        del tables.inbox[tenant, stimulus_id]
    for stimulus in commit.inbox_added:
        tables.inbox.setdefault((tenant, stimulus.id), stimulus)
    tables.outbox.update({(tenant, row.id): row for row in commit.outbox_added})
    tables.dead_letters.update({(tenant, letter.work.id): letter for letter in commit.dead_letters})
    for record in commit.records:
        write_record(tables, record)
    for step in commit.schedules_fired:
        schedule = tables.schedules[tenant, step.schedule_id]
        tables.schedules[tenant, step.schedule_id] = replace(schedule, due=step.next_due, fired=step.due)


def _write_instance(tables: Tables, commit: Commit, instance: InstanceRow) -> None:
    key = InstanceKey(commit.tenant, instance.id)
    tables.instances[key] = instance
    segment = commit.segment
    if segment is not None:
        tables.journal.setdefault(key, {})[segment.version] = segment
    for ref in commit.guards_released:
        held = tables.guards.get((commit.tenant, ref.kind, ref.name))
        if held is not None and held.instance_id == instance.id:
            del tables.guards[commit.tenant, ref.kind, ref.name]
    for guard in commit.guards_taken:
        tables.guards[commit.tenant, guard.kind, guard.name] = GuardRow(
            tenant=commit.tenant,
            kind=guard.kind,
            name=guard.name,
            fingerprint=guard.fingerprint,
            instance_id=instance.id,
            created=instance.updated,
        )
    for burned in commit.bookmarks_burned:
        burn(tables, tables.bookmarks.get(key, {}).get(burned))
    for bookmark in commit.bookmarks_added:
        tables.bookmarks.setdefault(key, {})[bookmark.ref] = bookmark
        tables.sleepers.setdefault((key.tenant, bookmark.key), {})[key.id, bookmark.ref] = bookmark
    _write_effects(tables, commit, key)


def _write_effects(tables: Tables, commit: Commit, key: InstanceKey) -> None:
    for ref in commit.effects_consumed:
        del tables.effects[*key, ref.execution]
    for execution in commit.effects_dropped:
        tables.effects.pop((*key, execution), None)
    for execution in commit.effects_canceled:
        canceled = tables.effects.get((*key, execution))
        if canceled is not None:
            tables.effects[*key, execution] = replace(canceled, on_lost=CANCELED)
    tables.effects.update({(*key, row.execution): row for row in commit.effects_added})
    for dropped in commit.values_dropped:
        tables.values.get(key, {}).pop(dropped, None)
    tables.values.setdefault(key, {}).update({row.ref: row for row in commit.values_added})
    tables.incidents.update({(*key, row.id): row for row in commit.incidents_added})
    for incident_id in commit.incidents_resolved:
        incident = tables.incidents.get((*key, incident_id))
        if incident is not None:
            tables.incidents[*key, incident_id] = replace(incident, open=False)


def burn(tables: Tables, bookmark: BookmarkRow | None) -> None:
    if bookmark is None:
        return
    key, place = InstanceKey(bookmark.tenant, bookmark.instance_id), (bookmark.tenant, bookmark.key)
    del tables.bookmarks[key][bookmark.ref]
    del tables.sleepers[place][key.id, bookmark.ref]
    if not tables.sleepers[place]:
        del tables.sleepers[place]
