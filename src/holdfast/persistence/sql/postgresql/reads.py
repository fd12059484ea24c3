"""The reads that every resume does, each in one round trip: instances by key, bookmarks by key with their instances."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceKey, InstanceRow
from holdfast.persistence.sql.instance_tables import BOOKMARK, INSTANCE
from holdfast.persistence.sql.reads import SqlReads
from holdfast.persistence.sql.script import Rows, grouped
from holdfast.ports import Loaded, Matches

_EPOCH = "(select value from hf_counter where name = 'epoch') e"
_INSTANCE = ", ".join("i." + name for name in INSTANCE.names)
_LOAD = f"""select e.value, i.* from {_EPOCH} left join (
    select {_INSTANCE} from unnest($1::text[], $2::text[]) k(tenant, id) join hf_instance i
    on i.tenant = k.tenant and i.id = k.id) i on true"""


@lru_cache(maxsize=256)
def _find(correlated: bool, oldest: bool, limit: int, load: bool) -> str:
    """One range of the primary key per query. LIMIT is part of the text: as a parameter it misleads the planner."""
    mark = ", ".join("b." + name for name in BOOKMARK.names)
    correlation = " and correlation = q.correlation" if correlated else ""
    after = "" if oldest else " and (instance_id > q.after or (instance_id = q.after and seq > q.after_seq))"
    order = "created, instance_id, seq" if oldest else "instance_id, seq"
    instance = " left join hf_instance i on i.tenant = b.tenant and i.id = b.instance_id" if load else ""
    return f"""select e.value, f.* from {_EPOCH} left join (
        select q.number, {mark}{", " + _INSTANCE if load else ""}
        from unnest($1::int4[], $2::text[], $3::int8[], $4::int8[], $5::text[], $6::int4[])
            q(number, tenant, wake_key, correlation, after, after_seq)
        cross join lateral (select {BOOKMARK.columns} from hf_bookmark
            where tenant = q.tenant and wake_key = q.wake_key{correlation}{after} order by {order} limit {limit}) b
        {instance}) f on true"""


class PostgresReads(SqlReads):
    @abstractmethod
    async def _lookup(self, sql: str, *values: Any) -> Rows:
        """By a session that always plans by index."""

    async def load(self, keys: Sequence[InstanceKey]) -> Loaded:
        distinct = list(dict.fromkeys(keys))
        rows = await self._lookup(_LOAD, [key.tenant for key in distinct], [key.id for key in distinct])
        found = [INSTANCE.decode(row[1:], self._codec) for row in rows if row[1] is not None]
        return Loaded(epoch=rows[0][0], instances={row.key: row for row in found})

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery], *, load: bool = False) -> Matches:
        if not queries:
            return Matches(epoch=await self._epoch_now(), bookmarks=[], instances={})
        found: list[list[BookmarkRow]] = [[] for _ in queries]
        instances: dict[InstanceKey, InstanceRow] = {}
        epoch = 0
        for shape, group in grouped(enumerate(queries), lambda place: _shape(place[1])).items():
            rows = await self._lookup(_find(*shape, load), *_columns(group))
            epoch = rows[0][0]
            for row in rows:
                if row[1] is not None:
                    self._note(row, found, instances)
        _sort(queries, found)
        return Matches(epoch=epoch, bookmarks=found, instances=instances)

    def _note(
        self, row: Sequence[Any], found: list[list[BookmarkRow]], instances: dict[InstanceKey, InstanceRow]
    ) -> None:
        width = 2 + len(BOOKMARK.names)
        mark = BOOKMARK.decode(row[2:width], self._codec)
        found[row[1]].append(mark)
        key = InstanceKey(mark.tenant, mark.instance_id)
        if len(row) > width and row[width] is not None and key not in instances:
            instances[key] = INSTANCE.decode(row[width:], self._codec)

    async def _epoch_now(self) -> int:
        return await self._read(self._epoch())


def _shape(query: BookmarkQuery) -> tuple[bool, bool, int]:
    return query.correlation != 0, query.oldest, query.limit


def _columns(group: Sequence[tuple[int, BookmarkQuery]]) -> tuple[list[Any], ...]:
    return (
        [place for place, _ in group],
        [query.tenant for _, query in group],
        [query.key for _, query in group],
        [query.correlation for _, query in group],
        [query.after[0] for _, query in group],
        [query.after[1] for _, query in group],
    )


def _sort(queries: Sequence[BookmarkQuery], found: list[list[BookmarkRow]]) -> None:
    """A join promises no order."""
    for query, rows in zip(queries, found, strict=True):
        if len(rows) > 1:
            rows.sort(key=_by_age if query.oldest else _by_instance)


def _by_age(row: BookmarkRow) -> tuple[Any, ...]:
    return row.created, row.instance_id, row.seq


def _by_instance(row: BookmarkRow) -> tuple[Any, ...]:
    return row.instance_id, row.seq
