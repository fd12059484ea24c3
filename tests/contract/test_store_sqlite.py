"""SQLite fulfils the store contract, with a second store on the same file in the role of another process."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.ports import Store
from holdfast.testing.store_contract import ProcessContract, StoreContract


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "holdfast.db"


class TestSqliteStore(StoreContract, ProcessContract):
    @pytest.fixture
    async def store(self, database: Path) -> AsyncIterator[Store]:
        store = SqliteStore(database)
        await store.open()
        yield store
        await store.close()

    @pytest.fixture
    async def another(self, database: Path, store: Store) -> AsyncIterator[Store]:
        another = SqliteStore(database)
        await another.open()
        yield another
        await another.close()

    @pytest.fixture
    def url(self, database: Path) -> str:
        return f"sqlite:///{database}"

    @pytest.fixture(autouse=True)
    def _path(self, database: Path) -> None:
        self.database = database

    async def rows_left(self, store: Store, tenant: str, instance_id: str) -> Mapping[str, int]:
        """By introspection: every table with a column `instance_id`, and the instances themselves."""
        with closing(sqlite3.connect(self.database)) as connection:
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
            found = {}
            for table in tables:
                columns = {row[1] for row in connection.execute(f"pragma table_info({table})")}
                column = "instance_id" if "instance_id" in columns else "id" if table == "hf_instance" else None
                if column is None:
                    continue
                kept = " and released is null" if table == "hf_guard" else ""
                sql = f"select count(*) from {table} where tenant = ? and {column} = ?{kept}"
                found[table.removeprefix("hf_")] = connection.execute(sql, (tenant, instance_id)).fetchone()[0]
        assert len(found) > 8
        return found
