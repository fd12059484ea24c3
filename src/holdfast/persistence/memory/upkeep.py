"""Retention, export, import and statistics, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

from msgspec.structs import replace

from holdfast.errors import AlreadyStored, DeletionRefused
from holdfast.model.changes import of_rows
from holdfast.model.guard import GuardKind, GuardRow
from holdfast.model.record_rows import RecordRow
from holdfast.model.stored import ENDED, InstanceKey, InstanceRow
from holdfast.model.upkeep import InstanceExport, RetentionRule, StoreStats
from holdfast.model.work import NO_OWNER, InboxRow, OutboxRow, WorkRow
from holdfast.persistence.memory.commits import burn
from holdfast.persistence.memory.tables import MemoryStoreBase

_OfInstance = WorkRow | InboxRow | OutboxRow | GuardRow | RecordRow


_CAPPED = ("bookmarks", "work_ready", "work_later", "effects", "inbox", "outbox", "dead_letters", "incidents_open")


class MemoryUpkeep(MemoryStoreBase):
    async def find_expired(self, tenant: str, rule: RetentionRule, limit: int) -> Sequence[str]:
        found = [
            row
            for row in self._tables.instances.values()
            if row.tenant == tenant
            and row.finished is not None
            and row.finished < rule.finished_before
            and row.status in ENDED
            and row.status in rule.statuses
            and (not rule.definition_ids or row.definition_id in rule.definition_ids)
            and self._reason_to_keep(row) is None
        ]
        return [row.id for row in sorted(found, key=lambda row: (row.finished, row.id))[:limit]]

    async def delete_instances(self, tenant: str, ids: Sequence[str]) -> int:
        rows = [self._tables.instances.get(InstanceKey(tenant, instance_id)) for instance_id in dict.fromkeys(ids)]
        found = [row for row in rows if row is not None]
        for row in found:
            reason = self._reason_to_keep(row)
            if reason is not None:
                raise DeletionRefused(row.id, reason)
        for row in found:
            self._delete(row.key)
        return len(found)

    async def sweep_keys(self, keep: timedelta, limit: int) -> int:
        before = self._now() - keep
        over = []
        for key, row in self._tables.guards.items():
            instance = self._tables.instances.get(InstanceKey(row.tenant, row.instance_id))
            ended = row.released if instance is None else instance.finished
            if row.kind is GuardKind.KEY and ended is not None and ended < before:
                over.append(key)
        for key in over[:limit]:
            del self._tables.guards[key]
        return len(over[:limit])

    async def delete_unused_content(self, limit: int) -> int:
        tables = self._tables
        used = {
            *((row.tenant, row.content) for row in tables.versions.values()),
            *((row.tenant, row.content) for row in tables.triggers.values()),
            *((row.tenant, row.content) for row in tables.instances.values()),
            *((row.tenant, row.content) for row in tables.work.values()),
        }
        unused = [key for key in tables.contents if key not in used][:limit]
        for key in unused:
            del tables.contents[key]
        return len(unused)

    async def export_instance(self, tenant: str, instance_id: str) -> InstanceExport | None:
        tables, key = self._tables, InstanceKey(tenant, instance_id)
        instance = tables.instances.get(key)
        if instance is None:
            return None
        return InstanceExport(
            instance=instance,
            bookmarks=tuple(
                sorted(tables.bookmarks.get(key, {}).values(), key=lambda row: (row.seq, row.key, row.correlation))
            ),
            journal=tuple(segment for _, segment in sorted(tables.journal.get(key, {}).items())),
            values=tuple(value for _, value in sorted(tables.values.get(key, {}).items())),
            incidents=tuple(row for place, row in sorted(tables.incidents.items()) if place[:2] == key),
            effects=tuple(row for place, row in sorted(tables.effects.items()) if place[:2] == key),
            work=tuple(row for _, row in sorted(tables.work.items()) if _belongs(row, key)),
            inbox=tuple(row for row in tables.inbox.values() if _belongs(row, key)),
            outbox=tuple(row for _, row in sorted(tables.outbox.items()) if _belongs(row, key)),
            guards=tuple(row for _, row in sorted(tables.guards.items()) if _belongs(row, key)),
            records=tuple(row for _, row in sorted(tables.records.items()) if _belongs(row, key)),
        )

    async def import_instance(self, export: InstanceExport) -> None:
        tables, key = self._tables, export.instance.key
        stored = {row.name: tables.guards.get((row.tenant, row.kind, row.name)) for row in export.guards}
        taken = [name for name, row in stored.items() if row is not None and row.instance_id != key.id]
        if key in tables.instances or taken:
            raise AlreadyStored(
                f"Instance {key.id} or a key of it ({', '.join(taken) or 'none'}) is stored already. Delete it first."
            )
        tables.instances[key] = export.instance
        tables.journal[key] = {segment.version: segment for segment in export.journal}
        for bookmark in export.bookmarks:
            tables.bookmarks.setdefault(key, {})[bookmark.ref] = bookmark
            tables.sleepers.setdefault((key.tenant, bookmark.key), {})[key.id, bookmark.ref] = bookmark
        tables.values[key] = {row.ref: row for row in export.values}
        tables.incidents.update({(*key, row.id): row for row in export.incidents})
        tables.effects.update({(*key, row.execution): replace(row, owner=NO_OWNER) for row in export.effects})
        tables.work.update({(key.tenant, row.id): row for row in export.work})
        tables.inbox.update({(key.tenant, row.id): row for row in export.inbox})
        tables.outbox.update({(key.tenant, row.id): row for row in export.outbox})
        tables.guards.update({(row.tenant, row.kind, row.name): row for row in export.guards})
        tables.records.update({(row.tenant, row.kind, row.id): row for row in export.records})
        self._changed(of_rows(export.work))

    async def stats(self, tenant: str | None = None, *, at_most: int | None = None) -> StoreStats:
        tables, now = self._tables, self._now()
        statuses: dict[str, int] = {}
        for row in tables.instances.values():
            if tenant in {None, row.tenant}:
                statuses[row.status] = statuses.get(row.status, 0) + 1
        work = [row for row in tables.work.values() if tenant in {None, row.tenant}]
        ready = [row for row in work if row.due is None or row.due <= now]
        outbox = [row for row in tables.outbox.values() if tenant in {None, row.tenant}]
        counted = StoreStats(
            instances=statuses,
            bookmarks=sum(len(rows) for key, rows in tables.bookmarks.items() if tenant in {None, key.tenant}),
            work_ready=len(ready),
            work_later=len(work) - len(ready),
            oldest_ready=min((row.due or row.created for row in ready), default=None),
            effects=sum(tenant in {None, row.tenant} for row in tables.effects.values()),
            inbox=sum(tenant in {None, row.tenant} for row in tables.inbox.values()),
            outbox=len(outbox),
            oldest_outbox=min((row.created for row in outbox), default=None),
            dead_letters=sum(tenant in {None, row.work.tenant} for row in tables.dead_letters.values()),
            incidents_open=sum(tenant in {None, row.tenant} and row.open for row in tables.incidents.values()),
        )
        if at_most is None:
            return counted
        return replace(counted, **{name: min(getattr(counted, name), at_most) for name in _CAPPED})

    async def live_contents(self) -> Mapping[tuple[str, str], int]:
        return Counter((row.tenant, row.content) for row in self._tables.instances.values() if row.status not in ENDED)

    async def find_stuck(self, limit: int) -> Sequence[InstanceKey]:
        tables = self._tables
        awake = {
            *(key for key, rows in tables.bookmarks.items() if rows),
            *(InstanceKey(row.tenant, row.instance_id or "") for row in tables.work.values()),
            *(InstanceKey(row.tenant, row.instance_id or "") for row in tables.inbox.values()),
            *(InstanceKey(row.tenant, row.instance_id) for row in tables.effects.values()),
            *(InstanceKey(row.tenant, row.instance_id) for row in tables.incidents.values() if row.open),
        }
        return sorted(row.key for row in tables.instances.values() if row.status not in ENDED and row.key not in awake)[
            :limit
        ]

    def _reason_to_keep(self, row: InstanceRow) -> str | None:
        if row.status not in ENDED:
            return f"it is {row.status}"
        parent = None if row.parent_id is None else self._tables.instances.get(InstanceKey(row.tenant, row.parent_id))
        if parent is not None and parent.status not in ENDED:
            return f"its parent {parent.id} is {parent.status}"
        for other in self._tables.instances.values():
            if other.tenant == row.tenant and other.parent_id == row.id and other.status not in ENDED:
                return f"its child {other.id} is {other.status}"
        return None

    def _delete(self, key: InstanceKey) -> None:
        tables = self._tables
        for bookmark in list(tables.bookmarks.get(key, {}).values()):
            burn(tables, bookmark)
        tables.bookmarks.pop(key, None)
        tables.instances.pop(key, None)
        tables.journal.pop(key, None)
        tables.values.pop(key, None)
        for place in [place for place in tables.incidents if place[:2] == key]:
            del tables.incidents[place]
        for execution in [place for place in tables.effects if place[:2] == key]:
            del tables.effects[execution]
        _remove(tables.work, key)
        _remove(tables.inbox, key)
        _remove(tables.outbox, key)
        for name in [name for name, letter in tables.dead_letters.items() if _belongs(letter.work, key)]:
            del tables.dead_letters[name]
        for record in [place for place, row in tables.records.items() if _belongs(row, key)]:
            del tables.records[record]
        for guard, row in list(tables.guards.items()):
            if _belongs(row, key):
                del tables.guards[guard]
                if row.kind is GuardKind.KEY:
                    tables.guards[guard] = replace(row, released=self._now())


def _belongs(row: _OfInstance, key: InstanceKey) -> bool:
    return row.tenant == key.tenant and row.instance_id == key.id


_Row = TypeVar("_Row", WorkRow, InboxRow, OutboxRow)


def _remove(rows: dict[tuple[str, str], _Row], key: InstanceKey) -> None:
    for place in [place for place, row in rows.items() if _belongs(row, key)]:
        del rows[place]
