"""Lists of instances, in memory: the reference for filters and sorting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from holdfast.model.filter_match import matches
from holdfast.model.listing import (
    HourCount,
    InstanceFilter,
    InstancePage,
    InstanceQuery,
    InstanceSort,
    InstanceSummary,
    SortValue,
    decode_cursor,
    encode_cursor,
)
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.persistence.memory.tables import MemoryStoreBase

_SUMMARY = InstanceSummary.__struct_fields__


class MemorySearch(MemoryStoreBase):
    async def search(self, query: InstanceQuery) -> InstancePage:
        rows = self._matching(query.tenant, query.filter)
        if query.sort is InstanceSort.FINISHED:
            rows = [row for row in rows if row.finished is not None]
        order = _Order(query.sort)
        rows.sort(key=order.place, reverse=query.descending)
        if query.cursor is not None:
            seen = order.place_of(*decode_cursor(query.cursor, query.sort))
            rows = [row for row in rows if (order.place(row) < seen if query.descending else order.place(row) > seen)]
        page = rows[query.offset : query.offset + query.limit]
        more = len(rows) > query.offset + query.limit
        cursor = encode_cursor(query.sort, order.value(page[-1]), page[-1].id) if page and more else None
        return InstancePage(items=tuple(summary(row) for row in page), cursor=cursor, stale=self._stale(query))

    def _stale(self, query: InstanceQuery) -> bool:
        if query.position is None:
            return False
        instance_id, version = query.position
        row = self._tables.instances.get(InstanceKey(query.tenant, instance_id))
        return row is None or row.version < version

    async def count(self, tenant: str, filter: InstanceFilter) -> int:
        return len(self._matching(tenant, filter))

    async def count_by_status(self, tenant: str, filter: InstanceFilter) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for row in self._matching(tenant, filter):
            counts[row.status] = counts.get(row.status, 0) + 1
        return counts

    async def count_by_hour(self, tenant: str, since: datetime) -> Sequence[HourCount]:
        first = _hour(since)
        counts: Counter[tuple[datetime, str]] = Counter()
        for row in self._matching(tenant, InstanceFilter(system=False)):
            counts[_hour(row.created), "started"] += 1
            if row.finished is not None:
                counts[_hour(row.finished), row.status] += 1
        return [
            HourCount(hour=hour, event=event, count=count)
            for (hour, event), count in sorted(counts.items())
            if hour >= first
        ]

    def _matching(self, tenant: str, filter: InstanceFilter) -> list[InstanceRow]:
        return [row for row in self._tables.instances.values() if row.tenant == tenant and matches(row, filter)]


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)


class _Order:
    """The position of a row in a list: the sort value, then the id. A missing name comes before all names."""

    def __init__(self, sort: InstanceSort) -> None:
        self._sort = sort

    def value(self, row: InstanceRow) -> SortValue:
        value = getattr(row, self._sort.value)
        if isinstance(value, datetime):
            return round(value.timestamp() * 1_000_000)
        found: SortValue = value
        return found

    def place(self, row: InstanceRow) -> tuple[bool, SortValue, str]:
        return self.place_of(self.value(row), row.id)

    def place_of(self, value: SortValue, instance_id: str) -> tuple[bool, SortValue, str]:
        missing = value is None
        return (not missing, 0 if missing else value, instance_id)


def summary(row: InstanceRow) -> InstanceSummary:
    return InstanceSummary(**{name: getattr(row, name) for name in _SUMMARY})
