"""PostgreSQL keeps the contract, with a second store on the same database as another node would have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest

from holdfast.model.listing import InstanceFilter
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import ORDINARY, connect
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.ports import Store
from holdfast.testing.servers import ServiceMissing, given_or, postgres_database
from holdfast.testing.store_contract import StoreContract

pytestmark = pytest.mark.service("postgres")

_ALL = InstanceFilter()


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """One database for the module; each test empties it."""
    try:
        with postgres_database() as url:
            yield url
    except ServiceMissing as missing:
        given_or("postgres", pytest.skip, pytest.fail, missing)


@pytest.fixture
async def admin(database: str) -> AsyncIterator[Any]:
    connection = await connect(database, ORDINARY)
    yield connection
    await end(connection)


async def emptied(admin: Any) -> None:
    tables = [row[0] for row in await admin.fetch("select tablename from pg_tables where tablename like 'hf_%'")]
    kept = {"hf_migration", "hf_counter"}
    statements = [f"delete from {table}" for table in tables if table not in kept]
    if statements:
        await admin.execute(";".join([*statements, "update hf_counter set value = 0"]))


class TestPostgresStore(StoreContract):
    @pytest.fixture
    async def store(self, database: str, admin: Any) -> AsyncIterator[Store]:
        self.admin = admin
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
