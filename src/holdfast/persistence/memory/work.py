"""Work, schedules and dead letters, in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from heapq import nsmallest

from msgspec.structs import replace

from holdfast.model.changes import SCHEDULES, of_rows, of_topic
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.work import DeadLetterRow, ScheduleRow, WorkRow
from holdfast.persistence import faultpoints
from holdfast.persistence.claim_turns import take_turns
from holdfast.persistence.memory.commits import MemoryCommits
from holdfast.persistence.memory.tables import added

_EVER = datetime.max.replace(tzinfo=UTC)


class MemoryClaim:
    def __init__(self, store: MemoryCommits, rows: Sequence[WorkRow], epoch: int) -> None:
        self._store = store
        self.rows = rows
        self.epoch = epoch

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        return await self._store.commit(batch)


class MemoryWork(MemoryCommits):
    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        answers = added(self._tables.work, (((row.tenant, row.id), row) for row in rows))
        self._changed(of_rows(rows))
        return answers

    @asynccontextmanager
    async def claim(
        self,
        queues: Sequence[str],
        limit: int,
        *,
        lacking: Collection[str] = (),
        without: Collection[tuple[str, str]] = (),
    ) -> AsyncIterator[MemoryClaim]:
        now = self._now()
        free = (
            row
            for key, row in self._tables.work.items()
            if row.queue in queues
            and (row.due is None or row.due <= now)
            and row.content not in lacking
            and (row.tenant, row.id) not in without
            and key not in self._claimed
        )
        rows = take_turns(sorted(free, key=claim_order), limit)
        held = {(row.tenant, row.id) for row in rows}
        self._claimed |= held
        try:
            faultpoints.reached("claim.taken")
            yield MemoryClaim(self, rows, self._tables.epoch)
        finally:
            self._claimed -= held

    async def work_of(self, tenant: str, instance_id: str) -> Sequence[WorkRow]:
        found = [row for row in self._tables.work.values() if (row.tenant, row.instance_id) == (tenant, instance_id)]
        return sorted(found, key=lambda row: row.id)

    async def move_work(
        self, row: WorkRow, *, attempts: int, due: datetime | None, content: str | None = None
    ) -> WorkRow | None:
        stored = self._tables.work.get((row.tenant, row.id))
        if stored is None or (stored.attempts, stored.due) != (row.attempts, row.due):
            return None
        moved = self._tables.work[row.tenant, row.id] = replace(
            stored, attempts=attempts, due=due, content=stored.content if content is None else content
        )
        self._changed(of_rows([moved]))
        return moved

    async def defer(self, rows: Sequence[WorkRow], due: datetime) -> None:
        self._changed(of_rows(self._rewrite(rows, lambda row: replace(row, due=due))))

    async def until_due(self, queues: Sequence[str], *, lacking: Collection[str] = ()) -> timedelta | None:
        dues = [
            row.due or row.created
            for row in self._tables.work.values()
            if row.queue in queues and row.content not in lacking
        ]
        return min(dues) - self._now() if dues else None

    async def queues_with_work(self) -> Sequence[str]:
        return sorted({row.queue for row in self._tables.work.values()})

    async def put_schedules(self, tenant: str, definition_id: str, rows: Sequence[ScheduleRow]) -> None:
        table = self._tables.schedules
        old = {key: row for key, row in table.items() if row.tenant == tenant and row.definition_id == definition_id}
        for key in old:
            del table[key]
        for row in rows:
            kept = old.get((tenant, row.id))
            table[tenant, row.id] = kept if kept is not None and kept.payload == row.payload else row
        self._changed(of_topic(SCHEDULES))

    async def due_schedules(self, limit: int) -> Sequence[ScheduleRow]:
        now = self._now()
        due = [row for row in self._tables.schedules.values() if row.due is not None and row.due <= now]
        return nsmallest(limit, due, key=lambda row: (row.due or _EVER, row.tenant, row.id))

    async def list_schedules(self, tenant: str, definition_id: str | None = None) -> Sequence[ScheduleRow]:
        found = [
            row
            for row in self._tables.schedules.values()
            if row.tenant == tenant and definition_id in {None, row.definition_id}
        ]
        return sorted(found, key=lambda row: row.id)

    async def list_dead_letters(self, tenant: str, *, limit: int = 100, offset: int = 0) -> Sequence[DeadLetterRow]:
        found = [row for row in self._tables.dead_letters.values() if row.work.tenant == tenant]
        found.sort(key=lambda row: (row.died, row.work.id), reverse=True)
        return found[offset : offset + limit]

    async def replay_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        letters = [self._tables.dead_letters.pop((tenant, work_id), None) for work_id in ids]
        found = [letter.work for letter in letters if letter is not None]
        for row in found:
            self._tables.work[tenant, row.id] = replace(row, attempts=0, due=None)
        self._changed(of_rows(found))
        return len(found)

    async def delete_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        return sum(self._tables.dead_letters.pop((tenant, work_id), None) is not None for work_id in ids)

    def _rewrite(self, rows: Sequence[WorkRow], change: Callable[[WorkRow], WorkRow]) -> list[WorkRow]:
        changed = []
        for row in rows:
            stored = self._tables.work.get((row.tenant, row.id))
            if stored is not None:
                self._tables.work[row.tenant, row.id] = change(stored)
                changed.append(self._tables.work[row.tenant, row.id])
        return changed


def claim_order(row: WorkRow) -> tuple[int, float, str, str]:
    """By priority, then rows without a due time, then timers by their due time."""
    moment = 0 if row.due is None else round(row.due.timestamp() * 1_000_000)
    return -row.priority, moment, row.tenant, row.id
