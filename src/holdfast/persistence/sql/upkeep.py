"""Retention, expired idempotency keys and statistics."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from holdfast.errors import DeletionRefused
from holdfast.model.instance import Status
from holdfast.model.stored import ENDED, InstanceKey
from holdfast.model.upkeep import RetentionRule, StoreStats
from holdfast.persistence.sql.script import Script, Value, all_of, chunks, execute, execute_many, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import micros, moment_or_none
from holdfast.persistence.sql.work_tables import AT_ONCE

INSTANCE_TABLES = (
    "hf_bookmark",
    "hf_journal",
    "hf_value",
    "hf_incident",
    "hf_effect",
    "hf_work",
    "hf_dead_letter",
    "hf_inbox",
    "hf_outbox",
    "hf_record",
)
"""Tables whose rows are deleted with their instance, by the column `instance_id`. Not guards: keys outlive the instance."""

_ENDED = ", ".join(f"'{status}'" for status in sorted(ENDED))
_LIVE = ", ".join(f"'{status.value}'" for status in Status if not status.at_rest)
NO_LIVE_RELATIVES = f"""
    and not exists (select 1 from hf_instance p where p.tenant = i.tenant and p.id = i.parent_id
        and p.status not in ({_ENDED}))
    and not exists (select 1 from hf_instance c where c.tenant = i.tenant and c.parent_id = i.id
        and c.status not in ({_ENDED}))"""
_LIVE_RELATIVES = f"""select i.id, k.id, k.status from hf_instance i join hf_instance k
    on k.tenant = i.tenant and (k.id = i.parent_id or k.parent_id = i.id)
    where i.tenant = ? and i.id in ({{marks}}) and k.status not in ({_ENDED})"""
_KEYS_OVER = """select g.tenant, g.name from hf_guard g left join hf_instance i
    on i.tenant = g.tenant and i.id = g.instance_id
    where g.kind = 'key' and coalesce(i.finished, g.released) < ? and (i.id is null or i.finished is not null)
    order by g.tenant, g.name limit ?"""
_UNUSED = """select c.tenant, c.hash from hf_content c
    left join (select distinct tenant, content from hf_version union select distinct tenant, content from hf_trigger
        union select distinct tenant, content from hf_instance union select distinct tenant, content from hf_work)
        used on used.tenant = c.tenant and used.content = c.hash
    where used.content is null order by c.tenant, c.hash limit ?"""


_WAKERS = ("hf_bookmark", "hf_work", "hf_effect", "hf_inbox")
_STUCK = f"select i.tenant, i.id from {{listing}} i where i.status in ({_LIVE})" + "".join(
    f" and not exists (select 1 from {table} w where w.tenant = i.tenant and w.instance_id = i.id{condition})"
    for table, condition in (*((table, "") for table in _WAKERS), ("hf_incident", " and w.is_open = 1"))
)


class SqlUpkeep(SqlStoreBase):
    async def find_expired(self, tenant: str, rule: RetentionRule, limit: int) -> Sequence[str]:
        return await self._read(self._expired(tenant, rule, limit))

    async def delete_instances(self, tenant: str, ids: Sequence[str]) -> int:
        return await self._write(lambda: self._delete_all(tenant, sorted(set(ids))))

    async def sweep_keys(self, keep: timedelta, limit: int) -> int:
        return await self._write(lambda: self._sweep_keys(keep, limit))

    async def delete_unused_content(self, limit: int) -> int:
        return await self._write(lambda: self._delete_unused(limit))

    async def stats(self, tenant: str | None = None, *, at_most: int | None = None) -> StoreStats:
        return await self._read(self._stats(tenant, at_most))

    async def live_contents(self) -> Mapping[tuple[str, str], int]:
        return await self._read(self._live_contents())

    async def find_stuck(self, limit: int) -> Sequence[InstanceKey]:
        return await self._read(self._stuck(limit))

    def _live_contents(self) -> Script[dict[tuple[str, str], int]]:
        rows = yield execute(
            f"select tenant, content, count(*) from hf_instance where status not in ({_ENDED}) group by tenant, content"
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def _stuck(self, limit: int) -> Script[list[InstanceKey]]:
        rows = yield execute(f"{_STUCK.format(listing=self._dialect.listing)} order by i.tenant, i.id limit ?", limit)
        return [InstanceKey(*row) for row in rows]

    def _expired(self, tenant: str, rule: RetentionRule, limit: int) -> Script[list[str]]:
        """The first instances of each status, which the index has in order of their end, merged."""
        of_definitions = f" and i.definition_id in ({marks(len(rule.definition_ids))})" if rule.definition_ids else ""
        branches, values = list[str](), list[Value]()
        for status in (status for status in rule.statuses if status in ENDED):
            branches.append(
                f"""select * from (select i.id, i.finished from hf_instance i
                where i.tenant = ? and i.status = ? and i.finished < ?{of_definitions}{NO_LIVE_RELATIVES}
                order by i.finished, i.id limit ?) b{len(branches)}"""
            )
            values += (tenant, status, micros(rule.finished_before), *rule.definition_ids, limit)
        if not branches:
            return []
        rows = yield execute(f"{' union all '.join(branches)} order by finished, id limit ?", *values, limit)
        return [row[0] for row in rows]

    def _delete_all(self, tenant: str, ids: Sequence[str]) -> Script[int]:
        sql = "select id, status from hf_instance where tenant = ? and id in ({marks}) order by id" + self._dialect.lock
        found = yield from all_of(sql, (tenant,), ids)
        for instance_id, status in found:
            if status not in ENDED:
                raise DeletionRefused(instance_id, f"it is {status}")
        for instance_id, kin, status in (yield from all_of(_LIVE_RELATIVES, (tenant,), ids)):
            raise DeletionRefused(instance_id, f"its parent or child {kin} is {status}")
        now = yield from self._micros_now()
        for part in chunks([row[0] for row in found]):
            yield from self._delete_rows(tenant, part, now)
        return len(found)

    def _delete_rows(self, tenant: str, ids: Sequence[str], now: int) -> Script[None]:
        """One statement per table."""
        among = f"tenant = ? and instance_id in ({marks(len(ids))})"
        yield execute(f"update hf_guard set released = ? where {among} and kind = 'key'", now, tenant, *ids)
        yield execute(f"delete from hf_guard where {among} and kind = 'slot'", tenant, *ids)
        for table in INSTANCE_TABLES:
            yield execute(f"delete from {table} where {among}", tenant, *ids)
        yield execute(f"delete from hf_instance where tenant = ? and id in ({marks(len(ids))})", tenant, *ids)

    def _sweep_keys(self, keep: timedelta, limit: int) -> Script[int]:
        now = yield from self._micros_now()
        over = yield execute(_KEYS_OVER, now - keep // timedelta(microseconds=1), limit)
        if over:
            yield execute_many(
                "delete from hf_guard where tenant = ? and kind = 'key' and name = ?", [tuple(row) for row in over]
            )
        return len(over)

    def _delete_unused(self, limit: int) -> Script[int]:
        unused = yield execute(_UNUSED, limit)
        if unused:
            yield execute_many("delete from hf_content where tenant = ? and hash = ?", [tuple(row) for row in unused])
        return len(unused)

    def _statuses(self, tenant: str | None) -> Script[dict[str, int]]:
        whose, values = ("", ()) if tenant is None else (" where tenant = ?", (tenant,))
        rows = yield execute(f"select status, count(*) from hf_instance{whose} group by status", *values)
        return {row[0]: row[1] for row in rows}

    def _stats(self, tenant: str | None, at_most: int | None) -> Script[StoreStats]:
        now = yield from self._micros_now()
        whose, values = ("", ()) if tenant is None else (" and tenant = ?", (tenant,))

        def count(table: str, condition: str = "1 = 1", *asked: Value) -> Script[int]:
            sql = f"select 1 from {table} where {condition}{whose}"
            if at_most is not None:
                sql += f" limit {int(at_most)}"
            rows = yield execute(f"select count(*) from ({sql}) counted", *asked, *values)
            return int(rows[0][0])

        statuses = yield from self._statuses(tenant)
        oldest = yield execute(
            f"select min(case when due = {AT_ONCE} then created else due end) from hf_work where due <= ?{whose}",
            now,
            *values,
        )
        leaving = yield execute(f"select min(created) from hf_outbox where 1 = 1{whose}", *values)
        return StoreStats(
            instances=statuses,
            bookmarks=(yield from count("hf_bookmark")),
            work_ready=(yield from count("hf_work", "due <= ?", now)),
            work_later=(yield from count("hf_work", "due > ?", now)),
            oldest_ready=moment_or_none(oldest[0][0]),
            effects=(yield from count("hf_effect")),
            inbox=(yield from count("hf_inbox")),
            outbox=(yield from count("hf_outbox")),
            oldest_outbox=moment_or_none(leaving[0][0]),
            dead_letters=(yield from count("hf_dead_letter")),
            incidents_open=(yield from count("hf_incident", "is_open = 1")),
        )
