"""Reads by key: instances, bookmarks, journal, values, guards, incidents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.model.guard import GuardRef, GuardRow
from holdfast.model.stored import BookmarkQuery, BookmarkRow, IncidentRow, InstanceKey, InstanceRow, JournalSegment
from holdfast.persistence.sql.first_segment import FIRST_SEGMENT, read_first
from holdfast.persistence.sql.instance_tables import BOOKMARK, GUARD, INCIDENT, INSTANCE, JOURNAL
from holdfast.persistence.sql.script import Script, Value, all_of, execute, grouped
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.ports import Loaded, Matches

_LOAD = INSTANCE.select + " where tenant = ? and id in ({marks})"
_OF_KEY = BOOKMARK.select + " where tenant = ? and wake_key = ?"
_BY_AGE = " order by created, instance_id, seq limit ?"
_BY_INSTANCE = " and (instance_id > ? or (instance_id = ? and seq > ?)) order by instance_id, seq limit ?"


class SqlReads(SqlStoreBase):
    async def load(self, keys: Sequence[InstanceKey], addresses: Sequence[int] = ()) -> Loaded:
        return await self._read(self._load(keys, addresses))

    async def find_bookmarks(self, queries: Sequence[BookmarkQuery]) -> Matches:
        return await self._read(self._matches(queries))

    async def bookmarks_of(self, tenant: str, instance_id: str) -> Sequence[BookmarkRow]:
        return await self._read(self._bookmarks_of(tenant, instance_id))

    async def read_journal(
        self, tenant: str, instance_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[JournalSegment]:
        return await self._read(self._journal(tenant, instance_id, after, limit))

    async def load_values(self, tenant: str, instance_id: str, refs: Sequence[str]) -> Mapping[str, bytes]:
        return await self._read(self._values(tenant, instance_id, refs))

    async def versions_of(self, keys: Sequence[InstanceKey]) -> Mapping[InstanceKey, int]:
        return await self._read(self._versions(keys))

    async def find_guard(self, tenant: str, ref: GuardRef) -> GuardRow | None:
        return await self._read(self._guard(tenant, ref))

    async def list_incidents(
        self, tenant: str, *, instance_id: str | None = None, only_open: bool = True, limit: int = 100
    ) -> Sequence[IncidentRow]:
        return await self._read(self._incidents(tenant, instance_id, only_open, limit))

    def _load(self, keys: Sequence[InstanceKey], addresses: Sequence[int]) -> Script[Loaded]:
        epoch = yield from self._epoch()
        mail: Sequence[bool] = ()
        if addresses:
            mail = yield from self._has_mail([(key.tenant, at) for key, at in zip(keys, addresses, strict=True)])
        return Loaded(epoch=epoch, instances=(yield from self._instances(keys)), mail=mail)

    def _instances(self, keys: Sequence[InstanceKey]) -> Script[dict[InstanceKey, InstanceRow]]:
        found: dict[InstanceKey, InstanceRow] = {}
        for tenant, group in grouped(dict.fromkeys(keys), lambda key: key.tenant).items():
            rows = yield from all_of(_LOAD, (tenant,), [key.id for key in group])
            for row in INSTANCE.rows(rows, self._codec):
                found[InstanceKey(tenant, row.id)] = row
        return found

    def _matches(self, queries: Sequence[BookmarkQuery]) -> Script[Matches]:
        epoch = yield from self._epoch()
        found: list[list[BookmarkRow]] = []
        for query in queries:
            rows = yield from self._sleepers(query)
            found.append(rows)
        mail = [False] * len(queries)
        asked = [
            (place, (query.tenant, query.address)) for place, query in enumerate(queries) if query.address is not None
        ]
        if asked:
            for (place, _), there in zip(asked, (yield from self._has_mail([at for _, at in asked])), strict=True):
                mail[place] = there
        return Matches(epoch=epoch, bookmarks=found, mail=mail)

    def _sleepers(self, query: BookmarkQuery) -> Script[list[BookmarkRow]]:
        sql, values = _OF_KEY, list[Value]([query.tenant, query.key])
        if query.correlation:
            sql, values = sql + " and correlation = ?", [*values, query.correlation]
        if query.oldest:
            rows = yield execute(sql + _BY_AGE, *values, query.limit)
        else:
            name, seq = query.after
            rows = yield execute(sql + _BY_INSTANCE, *values, name, name, seq, query.limit)
        return BOOKMARK.rows(rows, self._codec)

    def _bookmarks_of(self, tenant: str, instance_id: str) -> Script[list[BookmarkRow]]:
        rows = yield execute(
            BOOKMARK.select + " where tenant = ? and instance_id = ? order by seq, wake_key, correlation",
            tenant,
            instance_id,
        )
        return BOOKMARK.rows(rows, self._codec)

    def _journal(self, tenant: str, instance_id: str, after: int, limit: int) -> Script[list[JournalSegment]]:
        found: list[JournalSegment] = []
        if after < 1 and limit > 0:
            rows = yield execute(FIRST_SEGMENT + " and first_entries > 0", tenant, instance_id)
            found = read_first(tenant, rows, self._codec)
        rows = yield execute(
            JOURNAL.select + " where tenant = ? and instance_id = ? and version > ? and entries > 0"
            " order by version limit ?",
            tenant,
            instance_id,
            after,
            limit - len(found),
        )
        return found + [row.segment for row in JOURNAL.rows(rows, self._codec)]

    def _values(self, tenant: str, instance_id: str, refs: Sequence[str]) -> Script[dict[str, bytes]]:
        rows = yield from all_of(
            "select ref, data from hf_value where tenant = ? and instance_id = ? and ref in ({marks})",
            (tenant, instance_id),
            refs,
        )
        return {ref: self._codec.decode(data, "value.data|" + tenant) for ref, data in rows}

    def _versions(self, keys: Sequence[InstanceKey]) -> Script[dict[InstanceKey, int]]:
        found: dict[InstanceKey, int] = {}
        for tenant, group in grouped(keys, lambda key: key.tenant).items():
            rows = yield from all_of(
                "select id, version from hf_instance where tenant = ? and id in ({marks})",
                (tenant,),
                [key.id for key in group],
            )
            found |= {InstanceKey(tenant, row[0]): row[1] for row in rows}
        return found

    def _guard(self, tenant: str, ref: GuardRef) -> Script[GuardRow | None]:
        rows = yield execute(
            GUARD.select + " where tenant = ? and kind = ? and name = ?", tenant, ref.kind.value, ref.name
        )
        return GUARD.decode(rows[0], self._codec) if rows else None

    def _incidents(
        self, tenant: str, instance_id: str | None, only_open: bool, limit: int
    ) -> Script[list[IncidentRow]]:
        sql, values = INCIDENT.select + " where tenant = ?", list[Any]([tenant])
        if only_open:
            sql += " and is_open = 1"
        if instance_id is not None:
            sql, values = sql + " and instance_id = ?", [*values, instance_id]
        rows = yield execute(sql + " order by occurred desc, instance_id desc, id desc limit ?", *values, limit)
        return INCIDENT.rows(rows, self._codec)
