"""Contract of searches: filters, sorting by every column, paging without gaps, counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import InvalidCursor
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort, InstanceSummary
from holdfast.model.stored import InstanceRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import commit_of, fresh, instance, later

STATUSES = ("running", "suspended", "finished", "faulted", "canceled")


def _rows(tenant: str) -> list[InstanceRow]:
    """Rows with ties and gaps in every column."""
    return [
        instance(
            f"i{number:02}",
            tenant=tenant,
            status=STATUSES[number % 5],
            definition_id=f"d{number % 3}",
            definition_version=number % 2 + 1,
            content=f"c{number % 4}",
            correlation_id=None if number % 4 == 0 else f"K{number % 7}",
            name=(None, "", "Ärger", "zebra", "Zebra", "apple", "100%_sure")[number % 7],
            parent_id=None if number % 6 else "p1",
            system=number % 11 == 0,
            incidents=number % 3,
            created=later(number // 2),
            updated=later(100 - number // 3),
            finished=later(number % 9) if number % 5 in {2, 3, 4} else None,
        )
        for number in range(40)
    ]


def _place(row: InstanceSummary, sort: InstanceSort, descending: bool) -> tuple[object, ...]:
    value = getattr(row, sort.value)
    if sort in {InstanceSort.NAME, InstanceSort.CORRELATION, InstanceSort.PARENT}:
        value = value or ""
    missing = value is None
    return (missing != descending, 0 if missing else value, row.id)


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

        assert cursor is None
        assert len(found) == len(rows)
        assert found == sorted(found, key=lambda row: _place(row, sort, descending), reverse=descending)
        assert {row.id for row in found} == {row.id for row in rows}

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
            ({"search": "%"}, lambda row: row.name == "100%_sure"),
            ({"search": "k3"}, lambda row: row.correlation_id == "K3"),
            ({"search": "i1"}, lambda row: "i1" in row.id),
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
