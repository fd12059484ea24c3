"""Numbers of instances on MySQL: changes are written with the instances, and added up exactly by concurrent commits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from holdfast.model.commit import Committed
from holdfast.model.listing import InstanceFilter
from holdfast.model.upkeep import RetentionRule
from holdfast.persistence.sql.mysql.tally_deltas import TALLIES
from holdfast.testing.store_rows import commit_of, instance, later
from tests.support.services.mysql import executed, need_mysql

if TYPE_CHECKING:
    from holdfast.persistence.sql.mysql import MysqlStore

pytestmark = pytest.mark.service("mysql")
need_mysql()

ALL = InstanceFilter()
_WRONG = f"""select status, sum(n) from (
        select status, count(*) as n from hf_instance group by status
        union all select status, -value from {TALLIES} where hour = -1) both_counts
    group by status having sum(n) <> 0"""
_EVENTS = f"select status, sum(value) from {TALLIES} where hour >= 0 group by status order by status"


async def test_starts_changes_and_ends_are_counted(store: MysqlStore, database: str) -> None:
    await store.commit([commit_of(instance(name, status="running")) for name in "abc"])
    await store.commit(
        [
            commit_of(instance("a", 2, status="finished", finished=later(5))),
            commit_of(instance("b", 2, status="suspended", content="other")),
            commit_of(instance("c", 7, status="finished", finished=later(5))),  # Its version is lost.
        ]
    )

    assert await store.count_by_status("", ALL) == {"running": 1, "finished": 1, "suspended": 1}
    assert await store.live_contents() == {("", instance("c").content): 1, ("", "other"): 1}
    assert [(name, int(n)) for name, n in await executed(database, _EVENTS)] == [("finished", 1), ("started", 3)]
    assert await executed(database, _WRONG) == []


async def test_an_instance_that_ends_again_is_counted_once_as_ended(store: MysqlStore, database: str) -> None:
    ended = instance("a", status="finished", finished=later(5))
    await store.commit([commit_of(ended)])
    await store.commit([commit_of(replace(ended, version=2, finished=later(6)))])

    assert [(name, int(n)) for name, n in await executed(database, _EVENTS)] == [("finished", 1), ("started", 1)]


async def test_deleted_and_imported_instances_are_counted(store: MysqlStore, database: str) -> None:
    await store.commit([commit_of(instance(name, status="finished", finished=later(1))) for name in "ab"])
    export = await store.export_instance("", "a")
    assert export is not None
    rule = RetentionRule(finished_before=later(60), statuses=("finished",))
    await store.delete_instances("", await store.find_expired("", rule, 10))
    assert await store.count("", ALL) == 0

    await store.import_instance(export)

    assert await store.count_by_status("", ALL) == {"finished": 1}
    assert await executed(database, _WRONG) == []


async def test_concurrent_commits_are_counted_exactly(store: MysqlStore, another: MysqlStore, database: str) -> None:
    async def bursts(by: MysqlStore, name: str) -> None:
        for version in range(1, 9):
            status = ("running", "suspended", "faulted")[version % 3]
            (outcome,) = await by.commit([commit_of(instance(name, version, status=status))])
            assert isinstance(outcome, Committed)

    await asyncio.gather(*(bursts((store, another)[number % 2], f"i{number}") for number in range(24)))

    assert await store.count_by_status("", ALL) == {"faulted": 24}
    assert await executed(database, _WRONG) == []
