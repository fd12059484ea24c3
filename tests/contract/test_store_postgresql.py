"""PostgreSQL fulfils the store contract, with a second store on the same database in the role of another node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec
import pytest

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import BookmarkQuery, wake_key
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import LANE, ORDINARY, connect
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.persistence.sql.postgresql.reads import _find, _parameters
from holdfast.ports import Store
from holdfast.testing.store_contract import ProcessContract, StoreContract
from holdfast.testing.store_machine import compare
from holdfast.testing.store_rows import bookmark, commit_of, instance, later, settlement, work

pytestmark = pytest.mark.service("postgres")

_ALL = InstanceFilter()


@pytest.fixture(scope="module")
def database(postgres: str) -> str:
    """One database for the module; each test empties it."""
    return postgres


@pytest.fixture
async def admin(database: str) -> AsyncIterator[Any]:
    connection = await connect(database, ORDINARY)
    yield connection
    await end(connection)


async def emptied(admin: Any) -> None:
    tables = [row[0] for row in await admin.fetch("select tablename from pg_tables where tablename like 'hf_%'")]
    kept = {"hf_migration", "hf_counter"}
    tables.sort(key=lambda table: table == "hf_tally")  # Last: triggers of the list change it.
    statements = [f"delete from {table}" for table in tables if table not in kept]
    if statements:
        await admin.execute(";".join([*statements, "update hf_counter set value = 0"]))


class TestPostgresStore(StoreContract, ProcessContract):
    @pytest.fixture
    async def store(self, database: str, admin: Any) -> AsyncIterator[Store]:
        self.admin, self.address = admin, database
        await emptied(admin)
        store = PostgresStore(database)
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    async def another(self, database: str, store: Store) -> AsyncIterator[Store]:
        another = PostgresStore(database)
        await another.open()
        yield another
        await another.close()

    @pytest.fixture
    def url(self, database: str) -> str:
        return database

    async def rows_left(self, store: Store, tenant: str, instance_id: str) -> Mapping[str, int]:
        """By introspection: every table with a column `instance_id`, the instances themselves, and their list."""
        await store.count(tenant, _ALL)
        tables: dict[str, set[str]] = {}
        for table, column in await self.admin.fetch(
            "select table_name, column_name from information_schema.columns where table_name like 'hf\\_%'"
        ):
            tables.setdefault(table, set()).add(column)
        found = {}
        for table, columns in tables.items():
            column = "instance_id" if "instance_id" in columns else "id"
            if column == "id" and table not in {"hf_instance", "hf_listing"}:
                continue
            kept = " and released is null" if table == "hf_guard" else ""
            sql = f"select count(*) from {table} where tenant = $1 and {column} = $2{kept}"
            found[table.removeprefix("hf_")] = (await self.admin.fetch(sql, tenant, instance_id))[0][0]
        assert len(found) > 9
        return found

    async def test_timers_and_events_at_one_moment_do_not_deadlock(
        self, store: Store, another: Store, tenant: str, admin: Any
    ) -> None:
        """H8: many waits whose event and timeout arrive together; each ends once, no deadlock is counted."""
        before = await deadlocks(admin)
        marks = [bookmark(tenant, f"i{number:03}") for number in range(120)]
        timers = [
            work(tenant, id=f"t{number:03}", kind="timer", due=later(0), instance_id=f"i{number:03}")
            for number in range(120)
        ]
        starts = [
            commit_of(instance(mark.instance_id, tenant=tenant), bookmarks_added=(mark,), work_added=(timer,))
            for mark, timer in zip(marks, timers, strict=True)
        ]
        assert all(outcome is COMMITTED for outcome in await store.commit(starts))

        def burst(number: int, **given: Any) -> Commit:
            new = instance(marks[number].instance_id, 2, tenant=tenant)
            return commit_of(new, bookmarks_burned=(marks[number].ref,), **given)

        async def time_out() -> list[CommitOutcome]:
            outcomes: list[CommitOutcome] = []
            while True:
                async with store.claim(["default"], 40) as claim:
                    if not claim.rows:
                        return outcomes
                    numbers = [int(row.id[1:]) for row in claim.rows]
                    found = await claim.commit([burst(number, work_consumed=(f"t{number:03}",)) for number in numbers])
                    outcomes += found
                    lost = [row.id for row, outcome in zip(claim.rows, found, strict=True) if outcome is not COMMITTED]
                    await store.commit([settlement(tenant, work_consumed=(name,)) for name in lost])

        async def happen(part: int) -> list[CommitOutcome]:
            events = [burst(number, work_dropped=(f"t{number:03}",)) for number in range(119 - part, -1, -4)]
            return list(await another.commit(events))

        async with asyncio.timeout(60):
            results = await asyncio.gather(time_out(), *(happen(part) for part in range(4)))

        assert [outcome for result in results for outcome in result].count(COMMITTED) == 120
        assert (await store.stats(tenant)).bookmarks == 0
        assert await deadlocks(admin) == before

    async def test_many_sleepers_on_one_event_are_found_by_the_primary_key(
        self, store: Store, tenant: str, admin: Any
    ) -> None:
        """M5, E7: a lookup with a correlation reads the same number of rows, however many instances wait for the event."""
        await admin.execute(_SLEEPERS, tenant, wake_key("Paid"))
        await admin.execute("analyze hf_bookmark")
        queries = [BookmarkQuery(tenant=tenant, key=wake_key("Paid"), correlation=number) for number in (1, 777, 20000)]

        found = await store.find_bookmarks(queries)
        lane = await connect(self.address, LANE)
        plan = await lane.fetch("explain (analyze, format json) " + _find(True, True, 1), *_parameters(queries))
        await end(lane)

        assert [[row.instance_id for row in rows] for rows in found.bookmarks] == [["s1"], ["s777"], ["s20000"]]
        scans = list(_scans(msgspec.json.decode(plan[0][0])[0]["Plan"]))
        assert scans == [("Index Scan", "hf_bookmark_pkey", 1)]


_SLEEPERS = """insert into hf_bookmark (tenant, wake_key, correlation, instance_id, seq, type, activity_id, created, payload)
    select $1, $2, n, 's' || n, 1, 'Paid', 'wait', n, '\\x00' from generate_series(1, 20000) n"""


def _scans(plan: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """The scan of the bookmarks in the plan: kind of scan, index, rows per query."""
    if plan.get("Relation Name") == "hf_bookmark":
        yield plan["Node Type"], plan.get("Index Name", ""), plan["Actual Rows"]
    for part in plan.get("Plans", []):
        yield from _scans(part)


async def deadlocks(admin: Any) -> int:
    await admin.execute("select pg_stat_clear_snapshot()")
    rows = await admin.fetch("select deadlocks from pg_stat_database where datname = current_database()")
    return int(rows[0][0])


def test_postgresql_answers_as_memory_does(database: str) -> None:
    """Random steps, compared with the memory store."""

    async def opened() -> Store:
        connection = await connect(database, ORDINARY)
        store = PostgresStore(database)
        await store.open()
        await emptied(connection)
        await end(connection)
        return store

    compare(opened, examples=8)
