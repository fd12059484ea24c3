"""MySQL fulfils the store contract, with a second store on the same database in the role of another node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

import pytest

from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing.store_contract import ProcessContract, StoreContract
from holdfast.testing.store_machine import compare
from tests.support.chaos.store_chaos import chaos
from tests.support.services.mysql import emptied, executed, need_mysql

pytestmark = pytest.mark.service("mysql")
need_mysql()


@pytest.fixture(scope="module")
def database(mysql: str) -> str:
    """One database for the module; each test empties it."""
    return mysql


async def opened(database: str) -> Store:
    store = store_from_url(database)
    await store.open()
    return store


class TestMysqlStore(StoreContract, ProcessContract):
    @pytest.fixture
    async def store(self, database: str) -> AsyncIterator[Store]:
        await emptied(database)
        store = await opened(database)
        yield store
        await store.close()

    @pytest.fixture
    async def another(self, database: str, store: Store) -> AsyncIterator[Store]:
        another = await opened(database)
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
        columns = await executed(
            self.database,
            "select table_name, column_name from information_schema.columns where table_schema = database()"
            " and (column_name = 'instance_id' or (table_name = 'hf_instance' and column_name = 'id'))",
        )
        found = {}
        for table, column in columns:
            kept = " and released is null" if table == "hf_guard" else ""
            where = f"tenant = '{tenant}' and {column} = '{instance_id}'{kept}"
            ((count,),) = await executed(self.database, f"select count(*) from {table} where {where}")
            assert isinstance(count, int)
            found[str(table).removeprefix("hf_")] = count
        assert len(found) > 8
        return found


def test_mysql_answers_as_memory_does(database: str) -> None:
    async def fresh() -> Store:
        await emptied(database)
        return await opened(database)

    compare(fresh, examples=5)


async def test_killed_workers_lose_nothing_and_do_nothing_twice(database: str) -> None:
    await emptied(database)

    report = await chaos(database, kills=5, bursts=400, instances=40, keys=100)

    assert report.sound, report
    assert report.kills == 5
    assert report.acknowledged >= 400
