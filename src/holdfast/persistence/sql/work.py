"""Work, schedules and dead letters."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from holdfast.model.changes import SCHEDULES, Change, of_rows, of_topic
from holdfast.model.work import DeadLetterRow, ScheduleRow, WorkRow
from holdfast.persistence.claim_turns import take_turns
from holdfast.persistence.sql.script import Script, all_of, execute, execute_many, grouped, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import common_micros, micros
from holdfast.persistence.sql.work_tables import AT_ONCE, DEAD_LETTER, SCHEDULE, WORK

_OF_IDS = " where tenant = ? and id in ({marks})"


class SqlWork(SqlStoreBase):
    async def enqueue(self, rows: Sequence[WorkRow]) -> Sequence[bool]:
        return await self._write(lambda: self._enqueue(rows), of_rows(rows))

    def work_statements(self, row: WorkRow) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """Statements that insert a row in the caller's own transaction. They send no NOTIFY, which would serialize the commits
        of all callers (rule M9)."""
        places = ", ".join(f":{name}" for name in WORK.names)
        values = dict(zip(WORK.names, WORK.encode(row, self._codec), strict=True))
        return [(f"insert into {WORK.name} ({WORK.columns}) values ({places})", values)]

    async def find_work(self, tenant: str, work_id: str) -> WorkRow | None:
        return await self._read(self._find_work(tenant, work_id))

    def _find_work(self, tenant: str, work_id: str) -> Script[WorkRow | None]:
        rows = yield execute(f"{WORK.select} where tenant = ? and id = ?", tenant, work_id)
        return WORK.decode(rows[0], self._codec) if rows else None

    async def work_of(self, tenant: str, instance_id: str) -> Sequence[WorkRow]:
        return await self._read(self._work_of(tenant, instance_id))

    def _work_of(self, tenant: str, instance_id: str) -> Script[Sequence[WorkRow]]:
        rows = yield execute(f"{WORK.select} where tenant = ? and instance_id = ? order by id", tenant, instance_id)
        return [WORK.decode(row, self._codec) for row in rows]

    async def move_work(
        self, row: WorkRow, *, attempts: int, due: datetime | None, content: str | None = None
    ) -> WorkRow | None:
        return await self._write(lambda: self._move_work(row, attempts, due, content), of_rows([replace(row, due=due)]))

    async def defer(self, rows: Sequence[WorkRow], due: datetime) -> None:
        await self._write(lambda: self._defer(rows, due), of_rows(replace(row, due=due) for row in rows))

    async def until_due(self, queues: Sequence[str], *, lacking: Collection[str] = ()) -> timedelta | None:
        return await self._read(self._until_due(queues, lacking))

    async def queues_with_work(self) -> Sequence[str]:
        return await self._read(self._queues_with_work())

    async def put_schedules(self, tenant: str, definition_id: str, rows: Sequence[ScheduleRow]) -> None:
        await self._write(lambda: self._put_schedules(tenant, definition_id, rows), of_topic(SCHEDULES))

    async def due_schedules(self, limit: int) -> Sequence[ScheduleRow]:
        return await self._read(self._due_schedules(limit))

    async def list_schedules(self, tenant: str, definition_id: str | None = None) -> Sequence[ScheduleRow]:
        return await self._read(self._schedules(tenant, definition_id))

    async def list_dead_letters(self, tenant: str, *, limit: int = 100, offset: int = 0) -> Sequence[DeadLetterRow]:
        return await self._read(self._dead_letters(tenant, limit, offset))

    async def replay_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        return await self._write(lambda: self._replay(tenant, ids), Change(topics=None))

    async def delete_dead_letters(self, tenant: str, ids: Sequence[str]) -> int:
        return await self._write(lambda: self._delete_letters(tenant, ids))

    def _enqueue(self, rows: Sequence[WorkRow]) -> Script[list[bool]]:
        there: set[tuple[str, str]] = set()
        for tenant, group in grouped(rows, lambda row: row.tenant).items():
            found = yield from all_of("select id from hf_work" + _OF_IDS, (tenant,), [row.id for row in group])
            there |= {(tenant, row[0]) for row in found}
        fresh = []
        for row in rows:
            fresh.append((row.tenant, row.id) not in there)
            there.add((row.tenant, row.id))
        new = [WORK.encode(row, self._codec) for row, is_new in zip(rows, fresh, strict=True) if is_new]
        if new:
            yield execute_many(f"{WORK.insert} {self._dialect.skip_existing}", new)
        return fresh

    def _claimable(
        self, queues: Sequence[str], limit: int, lacking: Collection[str], held: Collection[tuple[str, str]]
    ) -> Script[list[WorkRow]]:
        """Due rows in order: rows without a due time by urgency, and timers by urgency and due time.

        Two ranges of one index, so a million timers of tomorrow cost nothing. `held` rows are skipped here if the database
        cannot skip them.
        """
        now = yield from self._micros_now()
        others = f" and content not in ({marks(len(lacking))})" if lacking else ""
        found: list[WorkRow] = []
        for condition, order in (
            ("due = ?", "urgency, tenant, id"),
            (f"due > {AT_ONCE} and due <= ?", "due, urgency, tenant, id"),
        ):
            for queue in queues:
                rows = yield execute(
                    f"{WORK.select} where queue = ? and {condition}{others} order by {order}"
                    f" limit {limit + len(held)}{self._dialect.lock_free}",
                    queue,
                    AT_ONCE if condition == "due = ?" else now,
                    *lacking,
                )
                found += (row for row in WORK.rows(rows, self._codec) if (row.tenant, row.id) not in held)
        return take_turns(sorted(found, key=claim_order), limit)

    def _move_work(
        self, row: WorkRow, attempts: int, due: datetime | None, content: str | None
    ) -> Script[WorkRow | None]:
        """Never waits for a claim that holds the row: that claim may be waiting for the connection that would wait here."""
        one = " where tenant = ? and id = ?"
        found = WORK.rows((yield execute(WORK.select + one + self._dialect.lock_free, row.tenant, row.id)), self._codec)
        if not found or (found[0].attempts, found[0].due) != (row.attempts, row.due):
            return None
        until = AT_ONCE if due is None else micros(due)
        kept = found[0].content if content is None else content
        yield execute(
            "update hf_work set attempts = ?, due = ?, content = ?" + one, attempts, until, kept, row.tenant, row.id
        )
        return replace(found[0], attempts=attempts, due=due, content=kept)

    def _defer(self, rows: Sequence[WorkRow], due: datetime) -> Script[None]:
        """Skips rows that a claim holds: only that claim may defer them."""
        free: list[tuple[int, str, str]] = []
        for tenant, group in grouped(rows, lambda row: row.tenant).items():
            ids = [row.id for row in group]
            found = yield from all_of("select id from hf_work" + _OF_IDS + self._dialect.lock_free, (tenant,), ids)
            free += ((micros(due), tenant, row[0]) for row in found)
        if free:
            yield execute_many("update hf_work set due = ? where tenant = ? and id = ?", free)

    def _queues_with_work(self) -> Script[list[str]]:
        """One look at the index per queue: `distinct` would read every row."""
        found: list[str] = []
        while True:
            after = " where queue > ?" if found else ""
            ((name,),) = yield execute(f"select min(queue) from {WORK.name}{after}", *found[-1:])
            if name is None:
                return found
            found.append(name)

    def _until_due(self, queues: Sequence[str], lacking: Collection[str]) -> Script[timedelta | None]:
        """Time until the first row of either range is due. A row without a due time counts from its creation."""
        now = yield from self._micros_now()
        others = f" and content not in ({marks(len(lacking))})" if lacking else ""
        moments: list[int] = []
        for queue in queues:
            for column, condition in (("created", "due = ?"), ("due", "due > ?")):
                rows = yield execute(
                    f"select {column} from hf_work where queue = ? and {condition}{others}"
                    " order by due, urgency, tenant, id limit 1",
                    queue,
                    AT_ONCE,
                    *lacking,
                )
                moments += [row[0] for row in rows]
        return timedelta(microseconds=min(moments) - now) if moments else None

    def _put_schedules(self, tenant: str, definition_id: str, rows: Sequence[ScheduleRow]) -> Script[None]:
        found = yield execute(
            f"{SCHEDULE.select} where tenant = ? and definition_id = ? order by id{self._dialect.lock}",
            tenant,
            definition_id,
        )
        kept = {row.id: row for row in SCHEDULE.rows(found, self._codec)}
        yield execute("delete from hf_schedule where tenant = ? and definition_id = ?", tenant, definition_id)
        new = [kept[row.id] if row.id in kept and kept[row.id].payload == row.payload else row for row in rows]
        if new:
            yield execute_many(SCHEDULE.insert, [SCHEDULE.encode(row, self._codec) for row in new])

    def _due_schedules(self, limit: int) -> Script[list[ScheduleRow]]:
        now = yield from self._micros_now()
        rows = yield execute(
            f"{SCHEDULE.select} where due is not null and due <= ? order by due, tenant, id limit ?", now, limit
        )
        return SCHEDULE.rows(rows, self._codec)

    def _schedules(self, tenant: str, definition_id: str | None) -> Script[list[ScheduleRow]]:
        sql, values = SCHEDULE.select + " where tenant = ?", list[Any]([tenant])
        if definition_id is not None:
            sql, values = sql + " and definition_id = ?", [*values, definition_id]
        rows = yield execute(sql + " order by id", *values)
        return SCHEDULE.rows(rows, self._codec)

    def _dead_letters(self, tenant: str, limit: int, offset: int) -> Script[list[DeadLetterRow]]:
        rows = yield execute(
            f"{DEAD_LETTER.select} where tenant = ? order by died desc, id desc limit ? offset ?", tenant, limit, offset
        )
        return DEAD_LETTER.rows(rows, self._codec)

    def _replay(self, tenant: str, ids: Sequence[str]) -> Script[int]:
        found = yield from all_of(DEAD_LETTER.select + _OF_IDS + self._dialect.lock, (tenant,), ids)
        letters = DEAD_LETTER.rows(found, self._codec)
        if not letters:
            return 0
        rows = [replace(letter.work, attempts=0, due=None) for letter in letters]
        yield execute_many("delete from hf_dead_letter where tenant = ? and id = ?", [(tenant, row.id) for row in rows])
        yield execute_many("delete from hf_work where tenant = ? and id = ?", [(tenant, row.id) for row in rows])
        yield execute_many(WORK.insert, [WORK.encode(row, self._codec) for row in rows])
        return len(rows)

    def _delete_letters(self, tenant: str, ids: Sequence[str]) -> Script[int]:
        found = yield from all_of("select id from hf_dead_letter" + _OF_IDS + self._dialect.lock, (tenant,), ids)
        if found:
            yield execute_many(
                "delete from hf_dead_letter where tenant = ? and id = ?", [(tenant, row[0]) for row in found]
            )
        return len(found)


def claim_order(row: WorkRow) -> tuple[int, int, str, str]:
    """The order of claimed rows, over both ranges of the index."""
    return -row.priority, 0 if row.due is None else common_micros(row.due), row.tenant, row.id
