"""Lists of instances: pages by cursor, searches and counts."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.model.instance import Status
from holdfast.model.listing import (
    SEARCH_MAX,
    HourCount,
    InstanceFilter,
    InstancePage,
    InstanceQuery,
    InstanceSort,
    InstanceSummary,
    encode_cursor,
    folded,
    spellings,
)
from holdfast.model.stored import ENDED
from holdfast.persistence.sql.instance_tables import SUMMARY, read_summary
from holdfast.persistence.sql.list_query import (
    SEARCHED,
    Conditions,
    after_cursor,
    begins_with,
    condition,
    is_selective,
    matches_text,
    merge_key,
    one_of,
    order_of,
    own_conditions,
    shared_conditions,
    sort_value,
)
from holdfast.persistence.sql.script import Script, Value, chunks, execute, marks
from holdfast.persistence.sql.store_base import SqlStoreBase
from holdfast.persistence.sql.tables import micros, moment

_STATUSES = tuple(status.value for status in Status)
HOUR = 3_600_000_000
"""Microseconds."""
_INDEXES = {
    (InstanceSort.CREATED, False): "hf_instance_created",
    (InstanceSort.CREATED, True): "hf_instance_definition",
    (InstanceSort.UPDATED, False): "hf_instance_status",
    (InstanceSort.UPDATED, True): "hf_instance_definition_updated",
    (InstanceSort.FINISHED, False): "hf_instance_finished",
    (InstanceSort.FINISHED, True): "hf_instance_finished",
}
"""The index of a sort, without and with a filter by definition."""
_NEVER = condition("1 = 0")


class Select(NamedTuple):
    """A branch of a list without its order: `select … from … where …` and its parameters."""

    text: str
    values: tuple[Value, ...]
    order: str = ""
    """The order of the branch if it is simpler than the order of the list."""


class SqlSearch(SqlStoreBase):
    async def search(self, query: InstanceQuery) -> InstancePage:
        stale = not await self._wait_for_position(query)
        found, capped = await self._read(self._page(query))
        more = len(found) > query.limit
        page = found[: query.limit]
        cursor = encode_cursor(query.sort, sort_value(page[-1], query), page[-1].id) if page and more else None
        return InstancePage(items=tuple(page), cursor=cursor, stale=stale, capped=capped)

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

    async def count_by_hour(self, tenant: str, since: datetime) -> Sequence[HourCount]:
        found = await self._read(self._hours(tenant, micros(since)))
        return [HourCount(hour=moment(hour * HOUR), event=event, count=count) for hour, event, count in found]

    # -- pages ---------------------------------------------------------------------------------------------------------

    def _page(self, query: InstanceQuery) -> Script[tuple[list[InstanceSummary], bool]]:
        """One row more than the page, and whether the search was capped."""
        if query.filter.search and query.sort is not InstanceSort.ID:
            return (yield from self._found_page(query))
        return (yield from self._merged(query, query.offset)), False

    def _merged(self, query: InstanceQuery, offset: int = 0) -> Script[list[InstanceSummary]]:
        branches = self._branches(query)
        order, limit = order_of(query, self._dialect), query.limit + 1
        values: list[Value] = []
        if len(branches) == 1:
            text = f"{branches[0].text} order by {branches[0].order or order}"
            values += branches[0].values
        else:
            parts = []
            for number, branch in enumerate(branches):
                parts.append(f"select * from ({branch.text} order by {branch.order or order} limit ?) b{number}")
                values += (*branch.values, limit + offset)
            text = f"{' union all '.join(parts)} order by {order}"
        rows = yield execute(f"{text} limit ? offset ?", *values, limit, offset)
        return [read_summary(row) for row in rows]

    def _branches(self, query: InstanceQuery) -> list[Select]:
        """Ranges of indexes: by status and, if given, by definition, each in the order of the list."""
        filter = query.filter
        own = condition("tenant = ?", query.tenant) & own_conditions(filter) & self._text(query)
        ranges = after_cursor(query, self._dialect)
        if is_selective(filter):
            return [self._select(own & shared_conditions(filter) & beyond) for beyond in ranges]
        if query.sort in {InstanceSort.ID, InstanceSort.NAME}:
            return [
                self._select(own & shared_conditions(filter) & beyond, self._dialect.by_name)
                if "name is not null" in beyond.parts
                else self._select(own & shared_conditions(filter) & beyond, self._dialect.by_id)._replace(
                    order="id desc" if query.descending else "id"
                )
                for beyond in ranges
            ]
        rest = own & shared_conditions(replace(filter, statuses=(), definition_ids=()))
        index = self._dialect.by_index.format(index=_INDEXES[query.sort, bool(filter.definition_ids)])
        return [self._select(place & rest & beyond, index) for place in _places(query) for beyond in ranges]

    def _text(self, query: InstanceQuery) -> Conditions:
        search = query.filter.search
        return matches_text(search, self._dialect) if search else Conditions()

    def _select(self, where: Conditions, index: str = "") -> Select:
        return Select(f"select {SUMMARY} from {self._dialect.listing}{index} where {where.text}", where.values)

    # -- search --------------------------------------------------------------------------------------------------------

    def _found_page(self, query: InstanceQuery) -> Script[tuple[list[InstanceSummary], bool]]:
        """Instances whose definition matches, and instances whose id, correlation id or name begins with the text. Each
        beginning is one range of an index, of which at most `SEARCH_MAX` rows are read."""
        filter, wanted = query.filter, replace(query.filter, search="")
        ids, capped = yield from self._beginning(query.tenant, filter.search)
        if filter.ids:
            ids &= set(filter.ids)
        rows: dict[str, InstanceSummary] = {}
        for part in chunks(sorted(ids)):
            found = yield from self._merged(_all_until(query, replace(wanted, ids=tuple(part))))
            rows.update((row.id, row) for row in found)
        definitions = set((yield from self._definitions_containing(query.tenant, filter.search)))
        if filter.definition_ids:
            definitions &= set(filter.definition_ids)
        for some in chunks(sorted(definitions), 50):
            found = yield from self._merged(_all_until(query, replace(wanted, definition_ids=tuple(some))))
            rows.update((row.id, row) for row in found)
        ordered = sorted(rows.values(), key=lambda row: merge_key(row, query), reverse=query.descending)
        return ordered[query.offset : query.offset + query.limit + 1], capped

    def _beginning(self, tenant: str, search: str) -> Script[tuple[set[str], bool]]:
        ids: set[str] = set()
        capped = False
        for column in SEARCHED:
            for spelling in spellings(search):
                where = condition("tenant = ?", tenant) & begins_with(column, spelling)
                table = self._dialect.search_tables.get(column, "hf_instance")
                sql = f"select id from {table} where {where.text} order by {column} limit ?"
                found = yield execute(sql, *where.values, SEARCH_MAX + 1)
                capped = capped or len(found) > SEARCH_MAX
                ids.update(row[0] for row in found[:SEARCH_MAX])
        return ids, capped

    def _definitions_containing(self, tenant: str, search: str) -> Script[list[str]]:
        contains = self._dialect.contains.format(column="definition_id")
        sql = f"select distinct definition_id from {self._dialect.definitions_in_use} where tenant = ? and {contains}"
        rows = yield execute(sql, tenant, folded(search))
        return [row[0] for row in rows]

    # -- counts --------------------------------------------------------------------------------------------------------

    def _counts(self, tenant: str, filter: InstanceFilter) -> Script[dict[str, int]]:
        where = condition("tenant = ?", tenant) & shared_conditions(filter) & own_conditions(filter)
        if filter.search:
            where &= matches_text(filter.search, self._dialect)
        rows = yield execute(
            f"select status, count(*) from {self._dialect.listing} where {where.text} group by status", *where.values
        )
        return {row[0]: row[1] for row in rows}

    def _hours(self, tenant: str, since: int) -> Script[list[tuple[int, str, int]]]:
        """(hour since 1970, event, number)."""
        first = since // HOUR * HOUR
        rows: list[tuple[int, str, int]] = []
        for column, event in (("created", "'started'"), ("finished", "status")):
            statuses = _STATUSES if column == "created" else tuple(sorted(ENDED))
            found = yield execute(
                f"""select floor({column} / {HOUR}), {event}, count(*) from hf_instance
                where tenant = ? and status in ({marks(len(statuses))}) and {column} >= ? and is_system = 0 group by 1, 2""",
                tenant,
                *statuses,
                first,
            )
            rows += [(int(row[0]), row[1], row[2]) for row in found]
        return sorted(rows)


def _places(query: InstanceQuery) -> Sequence[Conditions]:
    """The first columns of the indexes that a list reads: one value of each."""
    filter = query.filter
    statuses = [
        status for status in filter.statuses or _STATUSES if status in ENDED or query.sort is not InstanceSort.FINISHED
    ]
    if not statuses:
        return [_NEVER]
    if not filter.definition_ids:
        return [condition("status = ?", status) for status in statuses]
    if query.sort is InstanceSort.CREATED:
        return [
            condition("definition_id = ? and status = ?", name, status)
            for name in filter.definition_ids
            for status in statuses
        ]
    if query.sort is InstanceSort.UPDATED:
        chosen = one_of("status", filter.statuses) if filter.statuses else Conditions()
        return [condition("definition_id = ?", name) & chosen for name in filter.definition_ids]
    return [condition("status = ?", status) & one_of("definition_id", filter.definition_ids) for status in statuses]


def _all_until(query: InstanceQuery, filter: InstanceFilter) -> InstanceQuery:
    """The same page for a part of the search, without its offset."""
    return replace(query, filter=filter, limit=query.offset + query.limit, offset=0)
