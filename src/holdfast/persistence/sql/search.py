"""Lists of instances: filters and sorting as SQL."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

from holdfast.model.listing import (
    InstanceFilter,
    InstancePage,
    InstanceQuery,
    InstanceSort,
    InstanceSummary,
    SortValue,
    decode_cursor,
    encode_cursor,
    folded,
)
from holdfast.persistence.sql.instance_tables import SUMMARY, read_summary
from holdfast.persistence.sql.script import Script, Value, execute, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import micros

_OPTIONAL_TEXTS = frozenset({InstanceSort.NAME, InstanceSort.CORRELATION, InstanceSort.PARENT})
_TEXTS = _OPTIONAL_TEXTS | {InstanceSort.ID, InstanceSort.STATUS, InstanceSort.DEFINITION}
_TIMES = frozenset({InstanceSort.CREATED, InstanceSort.UPDATED, InstanceSort.FINISHED})
_EARLIEST, _LATEST = -(2**62), 2**62
"""Sort values of a missing time, which sorts last in either direction."""
_SEARCHED = ("id", "definition_id", "correlation_id", "name")


class SqlSearch(SqlStoreBase):
    async def search(self, query: InstanceQuery) -> InstancePage:
        stale = not await self._wait_for_position(query)
        found = await self._read(self._page(query))
        more = len(found) > query.limit
        page = found[: query.limit]
        cursor = encode_cursor(query.sort, _value(page[-1], query), page[-1].id) if page and more else None
        return InstancePage(items=tuple(page), cursor=cursor, stale=stale)

    async def count(self, tenant: str, filter: InstanceFilter) -> int:
        return sum((await self.count_by_status(tenant, filter)).values())

    async def count_by_status(self, tenant: str, filter: InstanceFilter) -> Mapping[str, int]:
        return await self._read(self._counts(tenant, filter))

    async def _wait_for_position(self, query: InstanceQuery) -> bool:
        """Wait until the list contains the requested position. False after the timeout."""
        if query.position is None:
            return True
        until = monotonic() + query.patience.total_seconds()
        while True:
            if await self._read(self._has_position(query.tenant, *query.position)):
                return True
            if monotonic() >= until:
                return False
            await asyncio.sleep(0.01)

    def _has_position(self, tenant: str, instance_id: str, version: int) -> Script[bool]:
        rows = yield execute("select version from hf_instance where tenant = ? and id = ?", tenant, instance_id)
        return bool(rows) and rows[0][0] >= version

    def _page(self, query: InstanceQuery) -> Script[list[InstanceSummary]]:
        where, values = self._where(query.tenant, query.filter)
        column = _column(query)
        if query.cursor is not None:
            value, instance_id = decode_cursor(query.cursor, query.sort)
            than = "<" if query.descending else ">"
            order = self._dialect.text_order if query.sort in _TEXTS else ""
            where += f" and ({column}{order} {than} ? or ({column} = ? and id{self._dialect.text_order} {than} ?))"
            values += [value, value, instance_id]
        rows = yield execute(
            f"select {SUMMARY} from {self._dialect.listing}{where} order by {self._order(query, column)}"
            " limit ? offset ?",
            *values,
            query.limit + 1,
            query.offset,
        )
        return [read_summary(row) for row in rows]

    def _order(self, query: InstanceQuery, column: str) -> str:
        direction = " desc" if query.descending else ""
        text = self._dialect.text_order
        return f"{column}{text if query.sort in _TEXTS else ''}{direction}, id{text}{direction}"

    def _counts(self, tenant: str, filter: InstanceFilter) -> Script[dict[str, int]]:
        where, values = self._where(tenant, filter)
        rows = yield execute(f"select status, count(*) from {self._dialect.listing}{where} group by status", *values)
        return {row[0]: row[1] for row in rows}

    def _where(self, tenant: str, filter: InstanceFilter) -> tuple[str, list[Value]]:
        parts, values = ["tenant = ?"], list[Value]([tenant])
        for condition, asked in (*_lists(filter), *_singles(filter), *_times(filter)):
            parts.append(condition)
            values += asked
        if filter.search:
            either = [self._dialect.contains.format(column=column) for column in _SEARCHED]
            parts.append(f"({' or '.join(either)})")
            values += [folded(filter.search)] * len(_SEARCHED)
        return " where " + " and ".join(parts), values


def _lists(filter: InstanceFilter) -> Iterator[tuple[str, Sequence[Value]]]:
    for column, wanted in (
        ("id", filter.ids),
        ("status", filter.statuses),
        ("definition_id", filter.definition_ids),
        ("content", filter.contents),
        ("correlation_id", filter.correlation_ids),
        ("name", filter.names),
    ):
        if wanted:
            yield f"{column} in ({marks(len(wanted))})", wanted


def _singles(filter: InstanceFilter) -> Iterator[tuple[str, Sequence[Value]]]:
    if filter.definition_version is not None:
        yield "definition_version = ?", (filter.definition_version,)
    if filter.parent_id is not None:
        yield "parent_id = ?", (filter.parent_id,)
    if filter.has_incidents is not None:
        yield "incidents > 0" if filter.has_incidents else "incidents = 0", ()
    if filter.system is not None:
        yield "is_system = ?", (int(filter.system),)


def _times(filter: InstanceFilter) -> Iterator[tuple[str, Sequence[Value]]]:
    for condition, limit in (
        ("created >= ?", filter.created_from),
        ("created < ?", filter.created_before),
        ("updated >= ?", filter.updated_from),
        ("updated < ?", filter.updated_before),
        ("finished >= ?", filter.finished_from),
        ("finished < ?", filter.finished_before),
    ):
        if limit is not None:
            yield condition, (micros(limit),)


def _column(query: InstanceQuery) -> str:
    """The sort expression of a column: a missing text sorts as the empty text, a missing time last."""
    column = query.sort.value
    if query.sort in _OPTIONAL_TEXTS:
        return f"coalesce({column}, '')"
    if query.sort is InstanceSort.FINISHED:
        return f"coalesce({column}, {_EARLIEST if query.descending else _LATEST})"
    return column


def _value(row: InstanceSummary, query: InstanceQuery) -> SortValue:
    """The sort value of a row, for its cursor."""
    value = getattr(row, query.sort.value)
    if query.sort in _OPTIONAL_TEXTS:
        return value or ""
    if query.sort in _TIMES:
        missing = _EARLIEST if query.descending else _LATEST
        return missing if value is None else micros(value)
    found: SortValue = value
    return found
