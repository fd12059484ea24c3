"""Reads of every resume, batched over callers: instances, bookmarks and triggers by key."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from holdfast.model.catalog import TriggerRow
from holdfast.model.stored import FIRST, BookmarkQuery, BookmarkRow, InstanceKey, InstanceRow
from holdfast.persistence.sql.instance_tables import BOOKMARK, INSTANCE
from holdfast.persistence.sql.postgresql.inbox_lookup import has_mail
from holdfast.persistence.sql.postgresql.query_batch import QueryBatcher
from holdfast.persistence.sql.reads import SqlReads
from holdfast.persistence.sql.script import Rows, grouped
from holdfast.persistence.sql.work_tables import TRIGGER
from holdfast.ports import Codec, Loaded, Matches

_EPOCH = "(select value from hf_counter where name = 'epoch') e"
_INSTANCE = ", ".join("i." + name for name in INSTANCE.names)
_LOAD = f"""select e.value, i.* from {_EPOCH} left join (
    select {_INSTANCE} from unnest($1::text[], $2::text[]) k(tenant, id) join hf_instance i
    on i.tenant = k.tenant and i.id = k.id) i on true"""
_LOAD_WITH_MAIL = f"""select e.value, {has_mail("k")}, {_INSTANCE}
    from {_EPOCH} cross join unnest($1::text[], $2::text[], $3::int8[]) with ordinality k(tenant, id, address, number)
    left join hf_instance i on i.tenant = k.tenant and i.id = k.id order by k.number"""

_TRIGGERS = f"""select {", ".join("t." + name for name in TRIGGER.names)}
    from unnest($1::text[], $2::int8[]) k(tenant, wake_key)
    join hf_trigger t on t.tenant = k.tenant and t.wake_key = k.wake_key"""


@lru_cache(maxsize=256)
def _find(correlated: bool, oldest: bool, limit: int, later: bool = False, addressed: bool = False) -> str:
    """Read one range of the primary key per query; a `later` page starts at its cursor. LIMIT is part of the text, because
    as a parameter it misleads the planner. If `addressed`, each query has at least one row, with the answer about mail."""
    correlation = " and correlation = q.correlation" if correlated else ""
    after = " and (instance_id > q.after or (instance_id = q.after and seq > q.after_seq))" if later else ""
    asked = {"wake_key": "int8"}
    asked |= {"correlation": "int8"} if correlated else {}
    asked |= {"after": "text", "after_seq": "int4"} if later else {}
    asked |= {"address": "int8"} if addressed else {}
    arrays = ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(asked.values(), 2))
    order = "created, instance_id, seq" if oldest else "instance_id, seq"
    queries = f"unnest({arrays}) with ordinality q({', '.join(asked)}, number)"
    found = f"""lateral (select {BOOKMARK.columns} from hf_bookmark
            where tenant = $1::text and wake_key = q.wake_key{correlation}{after} order by {order} limit {limit}) b"""
    if addressed:
        return f"""select e.value, q.number, {has_mail("q", "$1::text")}, b.* from {_EPOCH} cross join {queries}
            left join {found} on true"""
    return f"""select e.value, f.* from {_EPOCH} left join (
        select q.number, false, b.* from {queries} cross join {found}) f on true"""


class BookmarkMatch(NamedTuple):
    """The result of one query."""

    epoch: int
    bookmarks: list[BookmarkRow]
    mail: bool


class Lookups:
    """Batched lookups of many callers. Decoded rows are not shared between callers."""

    def __init__(self, fetch: Callable[..., Awaitable[Rows]], codec: Codec, limit: int) -> None:
        self._fetch = fetch
        self._codec = codec
        self.instances = QueryBatcher(self._load, limit)
        self.instances_with_mail = QueryBatcher(self._load_with_mail, limit)
        self.bookmarks = QueryBatcher(self._find, limit)
        self.triggers = QueryBatcher(self._find_triggers, limit)

    async def close(self) -> None:
        for each in (self.instances, self.instances_with_mail, self.bookmarks, self.triggers):
            await each.close()

    async def _load_with_mail(
        self, asked: Sequence[tuple[InstanceKey, int]]
    ) -> list[tuple[int, bool, InstanceRow | None]]:
        tenants, names = [key.tenant for key, _ in asked], [key.id for key, _ in asked]
        rows = await self._fetch(_LOAD_WITH_MAIL, tenants, names, [address for _, address in asked])
        decode, codec = INSTANCE.decode, self._codec
        return [(row[0], row[1], None if row[2] is None else decode(row[2:], codec)) for row in rows]

    async def _load(self, keys: Sequence[InstanceKey]) -> list[tuple[int, InstanceRow | None]]:
        distinct = list(dict.fromkeys(keys))
        rows = await self._fetch(_LOAD, [tenant for tenant, _ in distinct], [name for _, name in distinct])
        decode, codec, epoch = INSTANCE.decode, self._codec, rows[0][0]
        found = {(row[1], row[2]): decode(row[1:], codec) for row in rows if row[1] is not None}
        return [(epoch, found.get(key)) for key in keys]

    async def _find(self, queries: Sequence[BookmarkQuery]) -> list[BookmarkMatch]:
        decode, codec = BOOKMARK.decode, self._codec
        marks: list[list[BookmarkRow]] = [[] for _ in queries]
        mail, epoch = [False] * len(queries), 0
        for (_, *shape), places in _by_shape(queries).items():
            rows = await self._fetch(_find(*shape), *_parameters([queries[place] for place in places]))
            epoch = rows[0][0]
            for row in rows:
                if row[1] is None:  # No query has a bookmark.
                    continue
                place = places[row[1] - 1]
                mail[place] = row[2]
                if row[3] is not None:
                    marks[place].append(decode(row[3:], codec))
        for query, found in zip(queries, marks, strict=True):
            if len(found) > 1:  # A join has no guaranteed order.
                found.sort(key=_by_age if query.oldest else _by_instance)
        return [BookmarkMatch(epoch, found, there) for found, there in zip(marks, mail, strict=True)]

    async def _find_triggers(self, keys: Sequence[tuple[str, int]]) -> list[list[TriggerRow]]:
        distinct = list(dict.fromkeys(keys))
        rows = await self._fetch(_TRIGGERS, [tenant for tenant, _ in distinct], [key for _, key in distinct])
        found = grouped(TRIGGER.rows(rows, self._codec), lambda row: (row.tenant, row.key))
        return [found.get(key, []) for key in keys]


class PostgresReads(SqlReads):
    @property
    @abstractmethod
    def _lookups(self) -> Lookups: ...

    async def load(self, keys: Sequence[InstanceKey], addresses: Sequence[int] = ()) -> Loaded:
        if not keys:
            return Loaded(epoch=await self._read(self._epoch()), instances={})
        if addresses:
            both = await self._lookups.instances_with_mail.submit(list(zip(keys, addresses, strict=True)))
            rows = {key: row for key, (_, _, row) in zip(keys, both, strict=True) if row is not None}
            return Loaded(epoch=both[0][0], instances=rows, mail=[there for _, there, _ in both])
        answers = await self._lookups.instances.submit(keys)
        found = {key: row for key, (_, row) in zip(keys, answers, strict=True) if row is not None}
        return Loaded(epoch=answers[0][0], instances=found)

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery]) -> Matches:
        if not queries:
            return Matches(epoch=await self._read(self._epoch()), bookmarks=[], mail=[])
        answers = await self._lookups.bookmarks.submit(queries)
        return Matches(
            epoch=answers[0].epoch,
            bookmarks=[answer.bookmarks for answer in answers],
            mail=[answer.mail for answer in answers],
        )

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]:
        if not keys:
            return []
        answers = await self._lookups.triggers.submit([(tenant, key) for key in dict.fromkeys(keys)])
        return sorted((row for rows in answers for row in rows), key=lambda row: (row.definition_id, row.id))


def _by_shape(queries: Sequence[BookmarkQuery]) -> dict[tuple[str, bool, bool, int, bool, bool], list[int]]:
    """Indexes of queries that one statement can answer, by tenant and the arguments of `_find`. Nearly always one group."""
    found: dict[tuple[str, bool, bool, int, bool, bool], list[int]] = {}
    for place, query in enumerate(queries):
        oldest = query.oldest
        later = not oldest and query.after != FIRST
        shape = query.tenant, query.correlation != 0, oldest, query.limit, later, query.address is not None
        found.setdefault(shape, []).append(place)
    return found


def _parameters(group: Sequence[BookmarkQuery]) -> Iterator[Any]:
    """Parameters of queries of one shape: tenant, then columns. Columns are expensive: the driver checks every element for
    nested arrays."""
    first = group[0]
    yield first.tenant
    yield [query.key for query in group]
    if first.correlation != 0:
        yield [query.correlation for query in group]
    if not first.oldest and first.after != FIRST:
        yield [query.after[0] for query in group]
        yield [query.after[1] for query in group]
    if first.address is not None:
        yield [query.address for query in group]


def _by_age(row: BookmarkRow) -> tuple[Any, ...]:
    return row.created, row.instance_id, row.seq


def _by_instance(row: BookmarkRow) -> tuple[Any, ...]:
    return row.instance_id, row.seq
