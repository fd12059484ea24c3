"""Sessions on MySQL: lost connections, deadlocks, unknown outcomes, races and close."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from holdfast.errors import StoreClosed, StoreUnavailable
from holdfast.model.commit import COMMITTED, Commit, Conflict, ConflictReason
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.persistence.sql.mysql import MysqlStore
from holdfast.persistence.sql.mysql.errors import MysqlError, code_of
from holdfast.persistence.sql.mysql.session import Session
from holdfast.persistence.sql.mysql.url import address_of
from holdfast.testing import faults
from holdfast.testing.store_rows import (
    commit_of,
    instance,
    message,
    stimulus,
    work,
)
from tests.support.services.mysql import executed, kill_connections, need_mysql

pytestmark = pytest.mark.service("mysql")
need_mysql()


class TestBrokenConnections:
    async def test_connections_that_were_killed_are_replaced(self, database: str, store: MysqlStore) -> None:
        await store.commit([commit_of(instance("i"))])
        await store.epoch()

        assert await kill_connections(database) >= 2

        assert await store.versions_of([InstanceKey("", "i")]) == {InstanceKey("", "i"): 1}
        assert await store.commit([commit_of(instance("i", 2))]) == [COMMITTED]
        assert list(await store.enqueue([work("")])) == [True]

    async def test_a_connection_killed_in_mid_commit(self, database: str, store: MysqlStore) -> None:
        """Nothing of the commit was written, and it is sent again."""
        killed = 0

        def kill() -> None:
            nonlocal killed
            with ThreadPoolExecutor(1) as thread:
                killed += thread.submit(asyncio.run, kill_connections(database)).result()

        with faults.at("commit.written", kill, times=1):
            outcomes = await store.commit([commit_of(instance("i"), outbox_added=(message(""),))])

        assert (outcomes, killed > 0) == ([COMMITTED], True)
        assert (await store.stats()).outbox == 1

    async def test_an_unknown_outcome_is_resolved(self, store: MysqlStore) -> None:
        """The commit arrived, its reply was lost, and another burst was committed in between."""
        await store.commit([commit_of(instance("i"))])
        ours = commit_of(instance("i", 2), outbox_added=(message(""),))
        between = commit_of(instance("i", 3))
        seen: list[object] = []

        def lose_the_answer() -> None:
            with ThreadPoolExecutor(1) as thread:
                seen.append(thread.submit(asyncio.run, _commit_elsewhere(store, between)).result())
            raise ConnectionResetError

        with faults.at("commit.done", lose_the_answer, times=1):
            outcomes = await store.commit([ours])

        assert (outcomes, seen) == ([COMMITTED], [[COMMITTED]])
        assert await store.versions_of([InstanceKey("", "i")]) == {InstanceKey("", "i"): 3}
        assert (await store.stats()).outbox == 1

    @pytest.mark.parametrize("code", [1213, 1205, 2013, 1040])
    async def test_transient_errors_are_retried(self, store: MysqlStore, code: int) -> None:
        with faults.at("commit.locked", faults.raising(MysqlError(code, "passes")), times=3) as reached:
            assert await store.commit([commit_of(instance("i"))]) == [COMMITTED]

        assert reached.count("commit.locked") == 4

    async def test_a_permanent_outage_is_unavailable(self, store: MysqlStore) -> None:
        with (
            faults.at("commit.locked", faults.raising(MysqlError(1205, "Lock wait timeout exceeded"))),
            pytest.raises(StoreUnavailable, match="database call failed 4 times"),
        ):
            await store.commit([commit_of(instance("i"))])

        assert await store.versions_of([InstanceKey("", "i")]) == {}

    async def test_the_victim_of_a_deadlock_is_retried(self, database: str, store: MysqlStore) -> None:
        """Another session locks in the wrong order; the commit is written nevertheless."""
        await store.commit([commit_of(instance("a")), commit_of(instance("b"))])
        stranger = await Session.connect(address_of(database))
        lock = "select id from hf_instance where tenant = '' and id = '{}' for update"
        update = "update hf_instance set incidents = incidents where tenant = '' and id in ('a', 'b')"
        try:
            await stranger.send(lock.format("b"))
            commit = asyncio.create_task(store.commit([commit_of(instance("a", 2)), commit_of(instance("b", 2))]))
            await _until_blocked(database)
            try:
                await stranger.send(f"{lock.format('a')};{update};commit")
            except MysqlError as error:
                assert code_of(error) == 1213  # The other session may be the victim.
            async with asyncio.timeout(30):
                assert await commit == [COMMITTED, COMMITTED]
        finally:
            await stranger.close()


class TestRaces:
    async def test_a_row_queued_by_many_at_once_is_new_once(self, store: MysqlStore, another: MysqlStore) -> None:
        row, early = work("", id="w"), stimulus("", id="s")

        queued = await asyncio.gather(*((store, another)[turn % 2].enqueue([row]) for turn in range(16)))
        kept = await asyncio.gather(*((store, another)[turn % 2].put_inbox([early]) for turn in range(16)))

        assert [told[0] for told in queued].count(True) == 1
        assert [told[0] for told in kept].count(True) == 1

    async def test_a_row_taken_between_read_and_write_is_a_conflict(self, store: MysqlStore) -> None:
        """The first read finds no key and no instance; the server refuses the row, and the second read finds the winner."""
        key = idempotency_key(operation="start", target="order", key="k")
        taken = commit_of(instance("faster"), guards_taken=(key,))

        def be_faster() -> None:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, _commit_elsewhere(store, taken)).result()

        with faults.at("commit.locked", be_faster, times=1):
            by_key = await store.commit([commit_of(instance("slower"), guards_taken=(key,))])
        taken = commit_of(instance("same"))
        with faults.at("commit.locked", be_faster, times=1):
            by_id = await store.commit([commit_of(instance("same"))])

        assert by_key == [Conflict(reason=ConflictReason.KEY, name=key.name, holder="faster")]
        assert by_id == [Conflict(reason=ConflictReason.EXISTS, name="same", version=1)]
        assert await store.versions_of([InstanceKey("", "slower")]) == {}

    async def test_competitors_for_one_version_get_one_winner(self, store: MysqlStore) -> None:
        await store.commit([commit_of(instance("i"))])
        racers = [commit_of(instance("i", 2)) for _ in range(20)]

        outcomes = await asyncio.gather(*(store.commit([racer]) for racer in [*racers, racers[0]]))

        told = [outcome for (outcome,) in outcomes]
        assert told.count(COMMITTED) in {1, 2}  # The first commit was sent twice.
        assert told.count(Conflict(reason=ConflictReason.VERSION, name="i", version=2)) == 21 - told.count(COMMITTED)
        assert len(await store.read_journal("", "i")) == 2


class TestClosing:
    async def test_use_after_fork_is_refused(self, store: MysqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("holdfast.persistence.sql.mysql.driver.os.getpid", lambda: -1)
            with pytest.raises(StoreClosed, match="forked"):
                await store.epoch()

    def test_a_store_belongs_to_one_loop_at_a_time(self, database: str) -> None:
        store = MysqlStore(address_of(database))

        async def committed(name: str) -> bool:
            await store.open()
            outcomes = await asyncio.gather(
                *(store.commit([commit_of(instance(f"{name}{number}"))]) for number in range(20))
            )
            await store.close()
            return all(outcome == [COMMITTED] for outcome in outcomes)

        assert asyncio.run(committed("first"))
        assert asyncio.run(committed("second"))
        asyncio.run(store.open())
        with pytest.raises(StoreClosed, match="another event loop"):
            asyncio.run(_epoch(store))

    async def test_a_cancelled_caller_does_not_affect_others(self, store: MysqlStore) -> None:
        """H1: a cancelled caller cancels no commit of others, and connections stay usable."""
        calls = [asyncio.create_task(store.commit([commit_of(instance(f"i{number}"))])) for number in range(20)]
        reads = [asyncio.create_task(store.epoch()) for _ in range(20)]
        for _ in range(5):
            await asyncio.sleep(0)
        for call in (*calls[::2], *reads[::2]):
            call.cancel()

        await asyncio.gather(*calls, *reads, return_exceptions=True)

        assert all([(await call) == [COMMITTED] for call in calls[1::2]])
        assert [await read for read in reads[1::2]] == [0] * 10
        assert await store.commit([commit_of(instance("after"))]) == [COMMITTED]


async def _commit_elsewhere(store: MysqlStore, commit: Commit) -> list[object]:
    """Run in a new event loop: a connection belongs to one loop."""
    fresh = MysqlStore(store._driver.address)
    await fresh.open()
    try:
        return list(await fresh.commit([commit]))
    finally:
        await fresh.close()


async def _until_blocked(database: str) -> None:
    waiting = "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
    while not await executed(database, waiting):  # noqa: ASYNC110 - the server sends no event
        await asyncio.sleep(0.01)


async def _epoch(store: MysqlStore) -> int:
    return await store.epoch()
