"""Contract of searches: filters, sorting by every column, paging without gaps, counts."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from holdfast.errors import InvalidCursor
from holdfast.model.filter_match import matches
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort, InstanceSummary
from holdfast.model.stored import ENDED, InstanceRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import commit_of, fresh, instance, later

STATUSES = ("running", "suspended", "finished", "faulted", "canceling", "canceled")


def _rows(tenant: str) -> list[InstanceRow]:
    """Rows with ties and gaps in every column."""
    return [
        instance(
            f"i{number:02}",
            tenant=tenant,
            status=STATUSES[number % 6],
            definition_id=f"d{number // 2 % 3}",
            definition_version=number % 2 + 1,
            content=f"c{number % 4}",
            correlation_id=None if number % 4 == 0 else f"K{number % 7}",
            name=(None, "", "Ärger", "zebra", "Zebra", "apple", "100%_sure")[number % 7],
            parent_id=None if number % 6 else "p1",
            system=number % 11 == 0,
            incidents=number % 3,
            created=later(number // 2),
            updated=later(100 - number // 3),
            finished=later(number % 9) if STATUSES[number % 6] in ENDED else None,
        )
        for number in range(40)
    ]


def _place(row: InstanceSummary | InstanceRow, sort: InstanceSort) -> tuple[object, ...]:
    value = getattr(row, sort.value)
    return (value is not None, 0 if value is None else value, row.id)


FILTERS = {
    "status": InstanceFilter(statuses=("faulted", "suspended")),
    "definition": InstanceFilter(definition_ids=("d1", "d2")),
    "both": InstanceFilter(statuses=("finished", "running"), definition_ids=("d1",)),
    "version": InstanceFilter(definition_version=2),
    "correlation": InstanceFilter(correlation_ids=("K1", "K2", "K3")),
    "name": InstanceFilter(names=("zebra", "apple")),
    "parent": InstanceFilter(parent_id="p1"),
    "incidents": InstanceFilter(has_incidents=True),
    "no system": InstanceFilter(system=False),
    "created": InstanceFilter(created_from=later(3), created_before=later(15)),
    "ended": InstanceFilter(finished_from=later(2)),
    "search": InstanceFilter(search="zeb"),
    "search of definition": InstanceFilter(search="D2"),
    "search and status": InstanceFilter(search="i1", statuses=("running",)),
    "ids": InstanceFilter(ids=("i03", "i17", "i21", "i33")),
}
"""Filters of lists, alone and combined."""


class SearchContract(ContractBase):
    @pytest.fixture
    async def rows(self, store: Store, tenant: str) -> list[InstanceRow]:
        rows = _rows(tenant)
        await committed(store, *(commit_of(row) for row in rows))
        return rows

    async def test_a_summary_has_everything_but_the_state(
        self, store: Store, tenant: str, rows: list[InstanceRow]
    ) -> None:
        page = await self._search(store, tenant, InstanceFilter(ids=("i07",)))

        expected = {name: getattr(rows[7], name) for name in InstanceSummary.__struct_fields__}
        assert page == [InstanceSummary(**expected)]

    @pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
    @pytest.mark.parametrize("sort", list(InstanceSort))
    async def test_pages_by_every_column_have_every_row_once_in_order(
        self, store: Store, tenant: str, rows: list[InstanceRow], sort: InstanceSort, descending: bool
    ) -> None:
        found: list[InstanceSummary] = []
        cursor: str | None = None
        for _ in range(20):
            page = await store.search(
                InstanceQuery(tenant=tenant, sort=sort, descending=descending, limit=7, cursor=cursor)
            )
            found += page.items
            cursor = page.cursor
            if cursor is None:
                break

        expected = [row for row in rows if sort is not InstanceSort.FINISHED or row.finished is not None]
        assert cursor is None
        assert len(found) == len(expected)
        assert found == sorted(found, key=lambda row: _place(row, sort), reverse=descending)
        assert {row.id for row in found} == {row.id for row in expected}

    @pytest.mark.parametrize("name", list(FILTERS))
    async def test_pages_of_every_filter_and_sort_have_every_match_once_in_order(
        self, store: Store, tenant: str, rows: list[InstanceRow], name: str
    ) -> None:
        filter = FILTERS[name]
        for sort, descending in product(InstanceSort, (False, True)):
            found: list[InstanceSummary] = []
            cursor: str | None = None
            while cursor is not None or not found:
                page = await store.search(
                    InstanceQuery(
                        tenant=tenant, filter=filter, sort=sort, descending=descending, limit=5, cursor=cursor
                    )
                )
                found += page.items
                cursor = page.cursor
                if cursor is None:
                    break
                assert len(found) < len(rows)

            expected = [
                row
                for row in rows
                if matches(row, filter) and (sort is not InstanceSort.FINISHED or row.finished is not None)
            ]
            ordered = sorted(expected, key=lambda row: _place(row, sort), reverse=descending)
            assert [row.id for row in found] == [row.id for row in ordered], (sort, descending)

    async def test_pages_by_offset(self, store: Store, tenant: str, rows: list[InstanceRow]) -> None:
        page = await store.search(
            InstanceQuery(tenant=tenant, sort=InstanceSort.ID, descending=False, limit=3, offset=5)
        )
        past = await store.search(InstanceQuery(tenant=tenant, offset=1000))

        assert [row.id for row in page.items] == ["i05", "i06", "i07"]
        assert (past.items, past.cursor) == ((), None)
        assert len(rows) == 40

    async def test_a_page_that_ends_with_the_list_has_no_cursor(
        self, store: Store, tenant: str, rows: list[InstanceRow]
    ) -> None:
        page = await store.search(InstanceQuery(tenant=tenant, limit=len(rows)))

        assert (len(page.items), page.cursor, page.stale) == (40, None, False)

    async def test_a_cursor_of_another_list_is_refused(self, store: Store, tenant: str) -> None:
        with pytest.raises(InvalidCursor):
            await store.search(InstanceQuery(tenant=tenant, cursor="nonsense"))

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"statuses": ("faulted", "canceled")}, lambda row: row.status in {"faulted", "canceled"}),
            ({"definition_ids": ("d1",)}, lambda row: row.definition_id == "d1"),
            ({"definition_version": 2}, lambda row: row.definition_version == 2),
            ({"contents": ("c0", "c3")}, lambda row: row.content in {"c0", "c3"}),
            ({"correlation_ids": ("K1", "K2")}, lambda row: row.correlation_id in {"K1", "K2"}),
            ({"names": ("zebra",)}, lambda row: row.name == "zebra"),
            ({"parent_id": "p1"}, lambda row: row.parent_id == "p1"),
            ({"has_incidents": True}, lambda row: row.incidents > 0),
            ({"has_incidents": False}, lambda row: row.incidents == 0),
            ({"system": True}, lambda row: row.system),
            ({"created_from": later(5), "created_before": later(9)}, lambda row: later(5) <= row.created < later(9)),
            ({"updated_from": later(95)}, lambda row: row.updated >= later(95)),
            ({"updated_before": later(95)}, lambda row: row.updated < later(95)),
            ({"finished_from": later(4)}, lambda row: row.finished is not None and row.finished >= later(4)),
            ({"finished_before": later(4)}, lambda row: row.finished is not None and row.finished < later(4)),
            ({"search": "ZEB"}, lambda row: row.name in {"zebra", "Zebra"}),
            ({"search": "100%_s"}, lambda row: row.name == "100%_sure"),
            ({"search": "k3"}, lambda row: row.correlation_id == "K3"),
            ({"search": "i1"}, lambda row: row.id.startswith("i1")),
            ({"search": "APP"}, lambda row: row.name == "apple"),
            ({"search": "Ä"}, lambda row: row.name == "Ärger"),
            ({"search": "D2"}, lambda row: row.definition_id == "d2"),
            ({"ids": ("i01", "i02", "unknown")}, lambda row: row.id in {"i01", "i02"}),
            ({"statuses": ("finished",), "definition_ids": ("d1",)}, None),
        ],
    )
    async def test_filters(
        self, store: Store, tenant: str, rows: list[InstanceRow], asked: dict[str, Any], expected: Any
    ) -> None:
        if expected is None:
            expected = lambda row: row.status == "finished" and row.definition_id == "d1"  # noqa: E731
        wanted = {row.id for row in rows if expected(row)}
        filter = InstanceFilter(**asked)

        found = await self._search(store, tenant, filter)

        assert {row.id for row in found} == wanted
        assert wanted
        assert await store.count(tenant, filter) == len(wanted)
        by_status = await store.count_by_status(tenant, filter)
        assert sum(by_status.values()) == len(wanted)
        assert set(by_status) == {row.status for row in found}

    async def test_a_search_finds_beginnings_not_parts(
        self, store: Store, tenant: str, rows: list[InstanceRow]
    ) -> None:
        assert rows
        assert not await self._search(store, tenant, InstanceFilter(search="ebra"))
        assert not await self._search(store, tenant, InstanceFilter(search="%"))

    async def test_counts_follow_changes_and_deletions(self, store: Store, tenant: str) -> None:
        everything = InstanceFilter()
        await committed(store, commit_of(instance("a", tenant=tenant, status="running")))
        await committed(store, commit_of(instance("b", tenant=tenant, status="finished", finished=later(1))))
        assert await store.count_by_status(tenant, everything) == {"running": 1, "finished": 1}

        done = instance("a", 2, tenant=tenant, status="faulted", finished=later(2), burst_id=fresh("burst"))
        await committed(store, commit_of(done))
        assert await store.count_by_status(tenant, everything) == {"faulted": 1, "finished": 1}
        assert await store.count(tenant, InstanceFilter(statuses=("faulted",))) == 1

        await store.delete_instances(tenant, ["a"])
        assert await store.count_by_status(tenant, everything) == {"finished": 1}

    async def test_counts_by_hour(self, store: Store, tenant: str) -> None:
        hour = later(0).replace(minute=0, second=0, microsecond=0)
        started = instance("a", tenant=tenant, status="running", created=hour + timedelta(minutes=10))
        ended: dict[str, Any] = {"status": "finished", "finished": hour + timedelta(minutes=70)}
        await committed(
            store,
            commit_of(started),
            commit_of(instance("b", tenant=tenant, created=hour + timedelta(minutes=65), **ended)),
            commit_of(instance("s", tenant=tenant, created=hour, system=True, **ended)),
            commit_of(instance("old", tenant=tenant, created=hour - timedelta(minutes=1))),
        )
        await committed(
            store,
            commit_of(instance("a", 2, tenant=tenant, created=started.created, burst_id=fresh("burst"), **ended)),
        )

        found = await store.count_by_hour(tenant, hour + timedelta(minutes=30))

        following = hour + timedelta(hours=1)
        assert [(each.hour, each.event, each.count) for each in found] == [
            (hour, "started", 1),
            (following, "finished", 2),
            (following, "started", 1),
        ]

    async def test_a_list_includes_its_position(self, store: Store, tenant: str) -> None:
        """M7: a start, then a list that requests its position."""
        for version in (1, 2, 3):
            row = instance("i", version, tenant=tenant, name=f"v{version}", burst_id=fresh("burst"))
            await committed(store, commit_of(row))

            page = await store.search(
                InstanceQuery(tenant=tenant, position=("i", version), patience=timedelta(seconds=20))
            )

            assert [(each.version, each.name) for each in page.items] == [(version, f"v{version}")]
            assert not page.stale

    async def test_a_position_that_does_not_come_is_stale(self, store: Store, tenant: str) -> None:
        page = await store.search(InstanceQuery(tenant=tenant, position=("i", 7), patience=timedelta(0)))

        assert page.stale

    async def _search(self, store: Store, tenant: str, filter: InstanceFilter) -> list[InstanceSummary]:
        return list((await store.search(InstanceQuery(tenant=tenant, filter=filter, limit=1000))).items)
