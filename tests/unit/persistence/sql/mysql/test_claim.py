"""Claims on MySQL: they lock their own rows and no others."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from holdfast.model.commit import COMMITTED
from holdfast.persistence.sql.mysql import MysqlStore
from holdfast.testing.store_rows import (
    FAR_OFF,
    commit_of,
    instance,
    later,
    work,
)
from tests.support.services.mysql import kill_connections, need_mysql

pytestmark = pytest.mark.service("mysql")
need_mysql()


class TestClaims:
    async def test_claims_of_two_nodes_hold_different_rows(self, store: MysqlStore, another: MysqlStore) -> None:
        await store.enqueue([work("", id=f"w{number}") for number in range(10)])

        async with store.claim(["default"], 6) as first, another.claim(["default"], 6) as second:
            held = [row.id for row in (*first.rows, *second.rows)]

        assert (len(first.rows), len(second.rows)) == (6, 4)
        assert len(set(held)) == 10

    async def test_rows_that_are_not_claimed_are_not_locked(self, store: MysqlStore, another: MysqlStore) -> None:
        """Of 200 due timers, a claim of 10 leaves 190 to other claims."""
        await store.enqueue([work("", id=f"t{number}", due=later(number)) for number in range(200)])

        async with store.claim(["default"], 10), another.claim(["default"], 300) as rest:
            assert len(rest.rows) == 190

    async def test_attempts_of_claimed_rows_can_be_counted(self, store: MysqlStore, another: MysqlStore) -> None:
        """H15, inside the claim: its own locks do not block it, and other claims of the process leave its rows out."""
        await store.enqueue([work("", id="a"), work("", id="b")])

        async with asyncio.timeout(15), store.claim(["default"], 10) as claim:
            counted = await store.move_work(claim.rows[0], attempts=1, due=FAR_OFF)
            async with store.claim(["default"], 10) as second:
                assert list(second.rows) == []
            outcomes = await claim.commit([commit_of(instance("i"), work_consumed=("a",))])

        assert counted is not None
        assert counted.attempts == 1
        assert outcomes == [COMMITTED]
        async with another.claim(["default"], 10) as rest:
            assert [row.id for row in rest.rows] == ["b"]

    async def test_claimed_rows_can_be_deferred_and_consumed_elsewhere(self, store: MysqlStore) -> None:
        await store.enqueue([work("", id="a"), work("", id="b")])

        async with asyncio.timeout(15), store.claim(["default"], 10) as claim:
            await store.defer(claim.rows[:1], FAR_OFF)
            async with store.claim(["default"], 10) as none:
                assert list(none.rows) == []
            assert await store.commit([commit_of(instance("i"), work_consumed=("b",))]) == [COMMITTED]

        figures = await store.stats()
        assert (figures.work_ready, figures.work_later) == (0, 1)

    async def test_a_claim_whose_connection_breaks_commits_by_its_guards(
        self, database: str, store: MysqlStore
    ) -> None:
        await store.enqueue([work("", id="a")])

        async with store.claim(["default"], 10) as claim:
            await kill_connections(database)
            outcomes = await claim.commit([commit_of(instance("i"), work_consumed=("a",))])

        assert outcomes == [COMMITTED]
        assert (await store.stats()).work_ready == 0

    async def test_more_claims_than_connections_wait_for_each_other(self, store: MysqlStore) -> None:
        await store.enqueue([work("", id=f"w{number}") for number in range(60)])

        async def one(number: int) -> int:
            async with store.claim(["default"], 1) as claim:
                await store.epoch()
                batch = [commit_of(instance(f"i{number}"), work_consumed=(row.id,)) for row in claim.rows]
                return len(await claim.commit(batch))

        async with asyncio.timeout(60):
            assert sum(await asyncio.gather(*(one(number) for number in range(60)))) == 60
