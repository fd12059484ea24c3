"""MySQL keeps the contract, with a second store on the same database as another process would have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping

import pytest

from holdfast.ports import Store
from holdfast.testing.mysql_server import mysql_database
from holdfast.testing.store_contract import ProcessContract, StoreContract


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with mysql_database() as url:
        yield url


class TestMysqlStore(StoreContract, ProcessContract):
    @pytest.fixture
    async def store(self, database: str) -> AsyncIterator[Store]:
        from holdfast.persistence import store_from_url

        store = store_from_url(database)
        await store.open()
        await _empty(database)
        yield store
        await store.close()

    @pytest.fixture
    async def another(self, database: str, store: Store) -> AsyncIterator[Store]:
        from holdfast.persistence import store_from_url

        another = store_from_url(database)
        await another.open()
        yield another
        await another.close()

    @pytest.fixture
    def url(self, database: str) -> str:
        return database

    @pytest.fixture(autouse=True)
    def _url(self, database: str) -> None:
        self.database = database

    async def rows_left(self, store: Store, tenant: str, instance_id: str) -> Mapping[str, int]:
        """By introspection: every table with a column `instance_id`, and the instances themselves."""
        from holdfast.persistence.sql.mysql.session import Session
        from holdfast.persistence.sql.mysql.url import address_of

        session = await Session.connect(address_of(self.database))
        try:
            columns = await session.send(
                "select table_name, column_name from information_schema.columns where table_schema = database()"
                " and (column_name = 'instance_id' or (table_name = 'hf_instance' and column_name = 'id'))"
            )
            found = {}
            for table, column in columns:
                kept = " and released is null" if table == "hf_guard" else ""
                rows = await session.ask(
                    f"select count(*) from {table} where tenant = ? and {column} = ?{kept}", tenant, instance_id
                )
                found[table.removeprefix("hf_")] = rows[0][0]
        finally:
            await session.close()
        assert len(found) > 8
        return found


async def _empty(database: str) -> None:
    """Faster than a database for each test. Counters start again, too."""
    from holdfast.persistence.sql.mysql.session import Session
    from holdfast.persistence.sql.mysql.url import address_of

    session = await Session.connect(address_of(database))
    try:
        tables = await session.send("select table_name from information_schema.tables where table_schema = database()")
        kept = {"hf_migration", "hf_counter", "hf_change"}
        for name in sorted({row[0] for row in tables} - kept):
            await session.send(f"delete from {name}")
        await session.send("update hf_counter set value = 0;commit")
    finally:
        await session.close()
