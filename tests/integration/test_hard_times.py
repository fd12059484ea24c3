"""A full disk, statements that are cut short, clocks that jump: clear words, nothing half-written, and it goes on afterwards."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Status, Workflow, activity
from holdfast.activities import Delay, Sequence
from holdfast.errors import StoreUnavailable
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.commit import COMMITTED, CommitOutcome, Conflict, ConflictReason
from holdfast.model.instance import JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.persistence import store_from_url
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.mysql import session as mysql
from holdfast.persistence.sql.postgresql import connection as postgresql
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.observability import outage_log
from holdfast.testing.store_rows import commit_of, ids_of, instance, message, settlement, work
from holdfast.testing.transport_contract import Wire
from tests.support.node import node_of
from tests.support.services import mysql as mysql_service

LARGE = os.urandom(200_000).hex()
"""What no compression makes small."""
NO_WAIT = RetryPolicy(delay=timedelta(0))


# -- a full disk -------------------------------------------------------------------------------------------------------


class Disk:
    """The size of the store's file can be limited, as a full disk does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = SqliteStore(path, retry=NO_WAIT)

    async def fill(self) -> None:
        pages = await self.store._write(lambda: self._pragma("page_count"))
        await self.store._write(lambda: self._pragma(f"max_page_count = {pages}"))

    async def make_room(self) -> None:
        await self.store._write(lambda: self._pragma("max_page_count = 1000000"))

    @staticmethod
    def _pragma(text: str) -> Script[int]:
        rows = yield execute(f"pragma {text}")
        return int(rows[0][0])

    def counted(self) -> dict[str, int]:
        with closing(sqlite3.connect(self.path)) as connection:
            assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
            tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
            return {name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in tables}


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncIterator[Disk]:
    disk = Disk(tmp_path / "holdfast.db")
    await disk.store.open()
    yield disk
    await disk.store.close()


async def test_a_full_disk_is_told_and_leaves_nothing_half_written(disk: Disk) -> None:
    before = disk.counted()
    await disk.fill()
    burst = commit_of(instance("i", state=LARGE.encode()), outbox_added=(message(""),))

    with pytest.raises(StoreUnavailable, match=r"is full\. Free some space; nothing was written"):
        await disk.store.commit([burst])
    with pytest.raises(StoreUnavailable, match="is full"):
        await disk.store.commit([commit_of(instance("j", state=LARGE.encode()))])

    assert disk.counted() == before
    await disk.make_room()
    assert list(await disk.store.commit([burst])) == [COMMITTED]
    assert (await disk.store.stats()).outbox == 1


async def test_a_result_that_finds_the_disk_full_waits_for_room(
    disk: Disk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The effect has happened: its result is neither lost nor made again, nor called the activity's fault."""
    begun, full, refused = asyncio.Event(), asyncio.Event(), asyncio.Event()
    calls = []

    @activity(name="FillsTheDisk")
    async def large() -> str:
        calls.append(1)
        begun.set()
        await full.wait()
        return LARGE

    commit = disk.store.commit

    async def watched(batch: Any) -> Any:
        try:
            return await commit(batch)
        except StoreUnavailable:
            refused.set()
            raise

    monkeypatch.setattr(disk.store, "commit", watched)
    engine = Holdfast(entry_points=False, activities=[large])
    async with asyncio.timeout(60), engine.runtime_on(disk.store) as runtime:
        flow = Workflow(large.bind(result="text"), id="large", variables={"text": ""})
        running = asyncio.create_task(runtime.start(flow, instance_id="i"))
        await begun.wait()
        await disk.fill()
        full.set()
        await refused.wait()
        await disk.make_room()
        while (await runtime.read("i")).status is not Status.FINISHED:
            await asyncio.wait([runtime.watch.next_change(runtime.key("i"))], timeout=1)
        await asyncio.wait([running])

        assert (await runtime.read("i")).variables["text"] == LARGE
    assert calls == [1]
    assert "The store is unavailable: The disk of" in caplog.text
    engine.close()


async def test_a_file_that_is_gone_takes_nothing_until_it_is_back(disk: Disk) -> None:
    """It is open and could still be written to, but whoever comes next would not find it."""
    away = disk.path.with_name("elsewhere.db")
    disk.path.rename(away)
    with pytest.raises(StoreUnavailable, match="deleted, moved or replaced"):
        await disk.store.commit([commit_of(instance("i"))])
    disk.path.write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="deleted, moved or replaced"):
        await disk.store.commit([commit_of(instance("i"))])

    away.replace(disk.path)
    assert list(await disk.store.commit([commit_of(instance("i"))])) == [COMMITTED]
    assert disk.counted()["hf_instance"] == 1


# -- statements that are cut short -------------------------------------------------------------------------------------


@pytest.mark.service("postgres")
@pytest.mark.parametrize("limit", ["statement_timeout", "lock_timeout"])
async def test_a_statement_that_is_cut_short_is_told_and_not_half_done(fresh_postgres: str, limit: str) -> None:
    """Somebody holds the row; the server's administrator limits how long a statement may wait for it."""
    import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

    first = store_from_url(fresh_postgres)
    await first.open()
    assert list(await first.commit([commit_of(instance("i"))])) == [COMMITTED]
    hasty = store_from_url(f"{fresh_postgres}?{limit}=100")
    await hasty.open()
    burst = commit_of(instance("i", 2), outbox_added=(message(""),))
    holder = await asyncpg.connect(fresh_postgres)
    try:
        async with holder.transaction():
            await holder.execute("select * from hf_instance where id = 'i' for update")
            with pytest.raises(StoreUnavailable, match=limit.replace("_", " ")):
                await hasty.commit([burst])
        key = InstanceKey("", "i")
        assert await hasty.versions_of([key]) == {key: 1}
        assert list(await hasty.commit([burst])) == [COMMITTED]
        assert (await hasty.stats()).outbox == 1
    finally:
        await holder.close()
        await hasty.close()
        await first.close()


# -- clocks that jump --------------------------------------------------------------------------------------------------


class JumpingClock(SystemClock):
    """What the machine's clock says, moved by somebody."""

    def __init__(self) -> None:
        super().__init__(lambda: time.time_ns() + self.moved // timedelta(microseconds=1) * 1000)
        self.moved = timedelta(0)


@asynccontextmanager
async def nodes_by(clock: JumpingClock, path: Path, count: int = 2) -> AsyncIterator[list[ManagedRuntime]]:
    """Nodes on one file, all by that clock."""
    opened: list[tuple[ManagedRuntime, SqliteStore, Holdfast]] = []
    try:
        for number in range(count):
            store = SqliteStore(path, now=clock.now)
            await store.open()
            engine = Holdfast(entry_points=False, clock=clock)
            runtime = engine.runtime_on(store, node=f"n{number}")
            await node_of(runtime).start()
            node_of(runtime).take_work()
            opened.append((runtime, store, engine))
        yield [runtime for runtime, _, _ in opened]
    finally:
        for runtime, store, engine in opened:
            await node_of(runtime).stop()
            await store.close()
            engine.close()


@pytest.mark.parametrize("jump", [timedelta(hours=2), timedelta(hours=-2)], ids=["forth", "back"])
async def test_a_clock_that_jumps_fires_each_timer_once(tmp_path: Path, jump: timedelta) -> None:
    clock = JumpingClock()
    flow = Workflow(Sequence(Delay(timedelta(hours=1)), Delay(timedelta(milliseconds=1))), id="naps")
    async with asyncio.timeout(60), nodes_by(clock, tmp_path / "holdfast.db") as (one, two):
        names = [f"i{number}" for number in range(20)]
        for name in names:
            await one.start(flow, instance_id=name)
        first = one.new_id()

        clock.moved += jump
        second = one.new_id()
        clock.moved += max(timedelta(0), -jump) + timedelta(hours=1)
        seen = 0
        for name in names:
            while (await two.read(name)).status is not Status.FINISHED:
                seen = await two.store.wait_for_change(seen, timedelta(milliseconds=100))

        assert second > first
        for name in names:
            events = [entry.event for entry in await two.journal(name)]
            assert events.count(JournalEvent.RESUMED) == 2
            assert events.count(JournalEvent.INSTANCE_FINISHED) == 1
        assert not await one.store.list_dead_letters("")


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.service(name)) for name in ("postgres", "mysql")])
def address(request: pytest.FixtureRequest) -> tuple[str, int]:
    """Of a database, with the port that is usual for it."""
    return request.getfixturevalue(request.param), {"postgres": 5432, "mysql": 3306}[request.param]


@pytest.mark.parametrize("wrong", [timedelta(hours=3), timedelta(hours=-3)], ids=["ahead", "behind"])
async def test_a_node_whose_clock_is_wrong_sleeps_as_long_as_others(address: tuple[str, int], wrong: timedelta) -> None:
    """What is due is so by the database's clock, so an hour must be an hour of that."""
    clock = JumpingClock()
    clock.moved = wrong
    flow = Workflow(Delay(timedelta(hours=1)), id="nap")
    store = store_from_url(address[0])
    await store.open()
    engine = Holdfast(entry_points=False, clock=clock)
    runtime = engine.runtime_on(store, node=f"wrong-{wrong}", tenant=f"wrong-{wrong}")
    try:
        await node_of(runtime).start()
        await runtime.start(flow, instance_id="i")
        left = await store.until_due(node_of(runtime).components.poller.queues)
        started = (await runtime.row("i")).created

        assert left is not None
        assert timedelta(minutes=50) < left < timedelta(minutes=70)
        assert abs(await store.now() - started) < timedelta(minutes=10)
    finally:
        await node_of(runtime).stop()
        await store.close()
        engine.close()


# -- a server that goes away -------------------------------------------------------------------------------------------


async def test_a_server_that_goes_away_is_told_in_few_lines(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The wire is cut and mended: one line each, no traceback, and what waited goes on."""
    monkeypatch.setattr(outage_log, "RECOVERED_SECONDS", 0.5)
    wire = await Wire.to(*address)
    quick: dict[str, Any] = {"store_retries": 1, "store_retry_delay": "10ms", "node_alive": "3s"}
    try:
        async with asyncio.timeout(60), Holdfast(store=wire.url(address[0]), entry_points=False, **quick) as app:
            await app.runtime.start(Workflow(Delay(timedelta(milliseconds=500)), id="nap"), instance_id="i")
            await wire.down()
            while "The store is unavailable" not in caplog.text:  # noqa: ASYNC110 - a log tells nobody that it was written
                await asyncio.sleep(0.02)
            await wire.up()
            while "The store is back" not in caplog.text:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            assert (await app.runtime.wait_at_rest("i")).status is Status.FINISHED
    finally:
        await wire.close()

    told = [record for record in caplog.records if record.levelno > logging.INFO]
    assert [record.getMessage()[:17] for record in told] == ["The store is unav", "The store is back"]
    assert not any(record.exc_info for record in told)


async def test_a_line_that_falls_silent_is_given_up(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody says that the connections are over, as when the server's machine vanished: new ones are made."""
    for module in (postgresql, mysql):
        monkeypatch.setattr(module, "REPLY_TIMEOUT", timedelta(seconds=1))
    wire = await Wire.to(*address)
    nap = Workflow(Delay(timedelta(milliseconds=1)), id="nap")
    quick: dict[str, Any] = {"store_retry_delay": "10ms", "node_alive": "3s"}
    try:
        async with asyncio.timeout(60), Holdfast(store=wire.url(address[0]), entry_points=False, **quick) as app:
            await app.runtime.start(nap, instance_id="before")
            assert (await app.runtime.wait_at_rest("before")).status is Status.FINISHED
            wire.hush()
            await app.runtime.start(nap, instance_id="after")
            assert (await app.runtime.wait_at_rest("after")).status is Status.FINISHED
    finally:
        await wire.close()


async def test_rows_of_a_claim_whose_process_is_frozen_go_to_others(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its connection, and says nothing. When it wakes up it has lost, as by any guard."""
    assert postgresql.LANE["idle_in_transaction_session_timeout"]
    monkeypatch.setitem(postgresql.LANE, "idle_in_transaction_session_timeout", "500ms")
    monkeypatch.setattr(mysql, "_SETTINGS", mysql._SETTINGS.replace("timeout = 30", "timeout = 1"))
    frozen, other = store_from_url(address[0]), store_from_url(address[0])
    await frozen.open()
    await other.open()
    row = work("frozen", queue="frozen")
    await frozen.enqueue([row])
    try:
        async with asyncio.timeout(60), frozen.claim(["frozen"], 1) as held:
            assert ids_of(held.rows) == [row.id]
            outcomes: list[CommitOutcome] = []
            while not outcomes:
                async with other.claim(["frozen"], 1) as claim:
                    batch = [settlement("frozen", work_consumed=(found.id,)) for found in claim.rows]
                    outcomes += await claim.commit(batch)
            assert outcomes == [COMMITTED]
            (late,) = await held.commit([settlement("frozen", work_consumed=(row.id,))])

            assert isinstance(late, Conflict)
            assert late.reason is ConflictReason.WORK
    finally:
        await frozen.close()
        await other.close()


async def test_a_result_that_finds_the_tables_away_waits_for_them(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody restores a backup, changes a password, takes a right: that is not the fault of an effect that ends meanwhile."""
    begun, gone = asyncio.Event(), asyncio.Event()
    calls = []

    @activity(name="EndsMeanwhile")
    async def charge() -> str:
        calls.append(1)
        begun.set()
        await gone.wait()
        return "charged"

    quick: dict[str, Any] = {"store_retries": 1, "store_retry_delay": "10ms"}
    flow = Workflow(charge.bind(result="text"), id="charges", variables={"text": ""})
    async with asyncio.timeout(60), Holdfast(store=address[0], entry_points=False, **quick) as app:
        running = asyncio.create_task(app.runtime.start(flow, instance_id="charged"))
        await begun.wait()
        await executed(address[0], "alter table hf_effect rename to hf_elsewhere")
        gone.set()
        while "The store is unavailable" not in caplog.text:  # noqa: ASYNC110 - a log tells nobody that it was written
            await asyncio.sleep(0.02)
        await executed(address[0], "alter table hf_elsewhere rename to hf_effect")

        assert (await app.runtime.wait_at_rest("charged")).variables["text"] == "charged"
        await asyncio.wait([running])
    assert calls == [1]


async def executed(url: str, statement: str) -> None:
    if url.startswith("mysql"):
        await mysql_service.executed(url, statement)
        return
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
