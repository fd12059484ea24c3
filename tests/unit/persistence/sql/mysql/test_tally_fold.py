"""Changes are added to the counters once, by any number of folders at once, and old counters are deleted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.model.listing import HOURS_KEPT, InstanceFilter
from holdfast.persistence.sql.mysql.tally_fold import TallyFolder, fold, prune
from holdfast.persistence.sql.script import Script
from holdfast.testing.store_rows import commit_of, instance
from tests.support.services.mysql import executed, need_mysql

if TYPE_CHECKING:
    from holdfast.persistence.sql.mysql import MysqlStore

pytestmark = pytest.mark.service("mysql")
need_mysql()

_DELTA = (
    "insert into hf_tally_delta (tenant, hour, definition_id, definition_version, content, status, is_system, value)"
)
_TALLY = "insert into hf_tally (tenant, hour, definition_id, definition_version, content, status, is_system, value)"


async def test_folders_at_once_add_every_change_once(store: MysqlStore, another: MysqlStore, database: str) -> None:
    many = ", ".join(f"('', -1, 'd{number % 7}', 1, 'c', 'running', 0, 1)" for number in range(3000))
    await executed(database, f"{_DELTA} values {many}", f"{_DELTA} values ('', -1, 'd0', 1, 'c', 'running', 0, -1)")

    async def work(by: MysqlStore) -> None:
        while await by._write(fold):
            pass

    await asyncio.gather(*(work(by) for by in (store, another, store, another)))

    assert await executed(database, "select count(*) from hf_tally_delta") == [(0,)]
    assert [int(row[0]) for row in await executed(database, "select sum(value) from hf_tally")] == [2999]
    assert await store.count("", InstanceFilter()) == 2999


async def test_old_hours_and_empty_counters_are_deleted(store: MysqlStore, database: str) -> None:
    hour = int((await executed(database, "select floor(unix_timestamp() / 3600)"))[0][0])
    old = hour - int(HOURS_KEPT.total_seconds()) // 3600 - 1
    values = ", ".join(f"('', {at}, '', 0, '', 'started', 0, {value})" for at, value in ((hour, 1), (old, 1), (-1, 0)))
    await executed(database, f"{_TALLY} values {values}")

    await store._write(prune)

    assert await executed(database, "select hour, value from hf_tally") == [(hour, 1)]


async def test_a_store_that_closes_folds_its_changes(store: MysqlStore, database: str) -> None:
    await store.commit([commit_of(instance("a"))])

    await store.close()

    assert await executed(database, "select count(*) from hf_tally_delta") == [(0,)]
    await store.open()
    assert await store.count("", InstanceFilter()) == 1


async def test_an_error_is_logged_and_the_next_mark_tries_again(caplog: pytest.LogCaptureFixture) -> None:
    outcomes: list[int | StoreUnavailable] = [StoreUnavailable("gone"), 0]

    async def write(make: Callable[[], Script[Any]]) -> int | None:
        outcome = outcomes.pop(0)
        if isinstance(outcome, StoreUnavailable):
            raise outcome
        return outcome

    folder = TallyFolder(write, pause=0)
    with caplog.at_level(logging.DEBUG, "holdfast.persistence.mysql"):
        folder.mark()
        await folder.close()
    folder.mark()
    await folder.close()

    assert outcomes == []
    assert "will be retried" in caplog.text
