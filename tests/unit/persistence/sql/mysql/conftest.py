"""Fixtures: a MySQL or MariaDB database per module, emptied for each test, and two stores on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from holdfast.persistence.retry import RetryPolicy
from tests.support.services.mysql import emptied

if TYPE_CHECKING:
    from holdfast.persistence.sql.mysql import MysqlStore

QUICK = RetryPolicy(retries=3, delay=timedelta(milliseconds=1))


@pytest.fixture(scope="module")
def database(mysql: str) -> str:
    return mysql


async def opened(database: str) -> MysqlStore:
    from holdfast.persistence.sql.mysql import MysqlStore
    from holdfast.persistence.sql.mysql.url import address_of

    store = MysqlStore(address_of(database), retry=QUICK)
    await store.open()
    return store


@pytest.fixture
async def store(database: str) -> AsyncIterator[MysqlStore]:
    await emptied(database)
    store = await opened(database)
    yield store
    await store.close()


@pytest.fixture
async def another(database: str, store: MysqlStore) -> AsyncIterator[MysqlStore]:
    another = await opened(database)
    yield another
    await another.close()
