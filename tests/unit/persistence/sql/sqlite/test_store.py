"""SQLite store: threads, forks, other processes on the file, encrypted payloads."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.errors import StoreClosed, StoreUnavailable
from holdfast.model.commit import COMMITTED, Failed
from holdfast.model.stored import BookmarkQuery, InstanceKey, correlation_key, wake_key
from holdfast.model.work import DeadLetterRow, ScheduleRow
from holdfast.persistence.codec import EncryptingCodec
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.testing import faults
from holdfast.testing.store_process import answer_of, start
from holdfast.testing.store_rows import (
    AT,
    bookmark,
    commit_of,
    content,
    effect,
    incident,
    instance,
    later,
    message,
    settlement,
    stimulus,
    value,
    work,
)

NO_WAIT = RetryPolicy(delay=timedelta(0))


@pytest.fixture
async def store(database: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(database, retry=NO_WAIT)
    await store.open()
    yield store
    await store.close()


async def test_the_file_is_safe(store: SqliteStore, database: Path) -> None:
    writer = store._driver._other_processes
    assert writer is not None

    assert writer._connection.execute("pragma journal_mode").fetchone() == ("wal",)
    assert writer._connection.execute("pragma synchronous").fetchone() == (2,)


async def test_closing_ends_the_threads(database: Path) -> None:
    store = SqliteStore(database)
    await store.open()
    assert [thread for thread in threading.enumerate() if thread.name.startswith("holdfast")]

    await store.close()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("holdfast")]


async def test_use_after_fork_is_refused(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(StoreClosed, match="forked"):
        await store.load([])
    with pytest.raises(StoreClosed, match="forked"):
        await store.enqueue([work("")])
    await store.close()
    monkeypatch.undo()

    assert await store.epoch() == 0


async def test_callers_never_see_locked(store: SqliteStore, database: Path) -> None:
    """Another process holds the write lock; the commit waits for it and succeeds."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("begin immediate")
        commit = asyncio.create_task(store.commit([commit_of(instance("i"))]))
        reading = await store.load([InstanceKey("", "i")])
        assert not commit.done()
        other.execute("commit")

    assert list(await commit) == [COMMITTED]
    assert reading.instances == {}


async def test_a_connection_cut_after_the_commit_is_no_loss(store: SqliteStore) -> None:
    """M3: a commit with an unknown outcome is found by its burst id when it is sent again, and written once."""
    commit = commit_of(instance("i"), outbox_added=(message(""),))

    with faults.at("commit.done", faults.raising(ConnectionResetError), times=1) as reached:
        assert list(await store.commit([commit])) == [COMMITTED]

    assert reached.count("commit.done") == 2
    assert (await store.stats()).outbox == 1


@pytest.mark.parametrize("point", ["commit.locked", "commit.written"])
async def test_a_connection_cut_before_the_commit_is_no_loss(store: SqliteStore, point: str) -> None:
    with faults.at(point, faults.raising(ConnectionResetError), times=1):
        assert list(await store.commit([commit_of(instance("i"))])) == [COMMITTED]

    assert len(await store.versions_of([InstanceKey("", "i")])) == 1


async def test_a_permanently_broken_file_is_unavailable(store: SqliteStore) -> None:
    with faults.at("commit.written", faults.raising(ConnectionResetError)), pytest.raises(StoreUnavailable):
        await store.commit([commit_of(instance("i"))])

    assert await store.versions_of([InstanceKey("", "i")]) == {}


async def test_a_failing_script_does_not_fail_others(store: SqliteStore) -> None:
    """Group commit: jobs share one transaction, but each fails alone."""
    huge = instance("huge", definition_version=2**70)
    calls = [
        store.commit([commit_of(instance("a"))]),
        store.commit([commit_of(huge)]),
        store.enqueue([work("", id="w")]),
        store.enqueue([work("", id="bad", attempts=2**70)]),
        store.commit([commit_of(instance("b"))]),
    ]

    first, poison, queued, refused, last = await asyncio.gather(*calls, return_exceptions=True)

    assert (first, last, queued) == ([COMMITTED], [COMMITTED], [True])
    assert isinstance(refused, OverflowError)
    assert isinstance(poison, list)
    assert isinstance(poison[0], Failed)
    assert (await store.stats()).work_ready == 1


async def test_a_million_sleepers_on_one_event_are_found_by_their_index(store: SqliteStore, database: Path) -> None:
    """E7: the plan of a lookup by correlation id uses key and correlation, however many instances wait."""
    statements: list[str] = []
    script = store._matches([BookmarkQuery(key=wake_key("Paid"), correlation=correlation_key("order-1"))])
    statement = next(script)
    while "hf_bookmark" not in statement.sql:
        statement = script.send([(0,)])
    with closing(sqlite3.connect(database)) as connection:
        plan = connection.execute("explain query plan " + statement.sql, statement.values).fetchall()
        statements += [row[3] for row in plan]

    assert "(tenant=? AND wake_key=? AND correlation=?)" in statements[0]


async def test_timers_of_tomorrow_cost_a_claim_nothing(store: SqliteStore, database: Path) -> None:
    """The plan of a claim is two ranges of one index."""
    script = store._claimable(["default"], 10, (), ())
    plans: list[str] = []
    statement = next(script)
    with closing(sqlite3.connect(database)) as connection:
        for _ in range(2):
            plan = connection.execute("explain query plan " + statement.sql, statement.values).fetchall()
            plans.append(plan[0][3])
            try:
                statement = script.send([])
            except StopIteration:
                break

    assert "hf_work_order (queue=? AND due=?)" in plans[0]
    assert "hf_work_order (queue=? AND due>? AND due<?)" in plans[1]


async def test_every_payload_column_goes_through_the_codec(database: Path) -> None:
    """Every blob of every table is encrypted, except node details."""
    store = SqliteStore(database, codec=EncryptingCodec({"k1": b"k" * 32}))
    await store.open()
    secret = b"TOP-SECRET"
    holds = replace(content("", b'"TOP-SECRET"'))
    row = instance("i", state=secret)
    commit = commit_of(
        row,
        bookmarks_added=(bookmark("", "i", payload=secret),),
        work_added=(work("", payload=secret),),
        effects_added=(effect("", "i", inputs=secret),),
        inbox_added=(stimulus("", payload=secret),),
        outbox_added=(message("", payload=secret),),
        incidents_added=(incident("", "i", payload=secret),),
        values_added=(value("", "i", "v", secret),),
    )
    assert commit.journal is not None
    letter = DeadLetterRow(work=work("", payload=secret), reason="attempts", died=AT, error=secret)
    await store.commit([replace(commit, journal=replace(commit.journal, data=secret))])
    await store.commit([settlement("", dead_letters=(letter,))])
    await store.put_schedules("", "d", [ScheduleRow(id="s", definition_id="d", due=later(0), payload=secret)])
    await store.register_node("n", time_to_live=timedelta(1))
    await _save_definition(store, holds.hash, secret)
    await store.close()

    with closing(sqlite3.connect(database)) as connection:
        tables = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
        blobs = [
            (table, column[1], kept)
            for table in tables
            for column in connection.execute(f"pragma table_info({table})").fetchall()
            if column[2] == "BLOB"
            for (kept,) in connection.execute(f"select {column[1]} from {table}").fetchall()
        ]

    encrypted = {(table, column) for table, column, kept in blobs if kept[:1] == b"\x10"}
    plain = {(table, column) for table, column, kept in blobs} - encrypted
    assert plain == {("hf_node", "details")}
    assert len(encrypted) == 15
    assert secret not in database.read_bytes()


async def _save_definition(store: SqliteStore, hash: str, secret: bytes) -> None:
    from holdfast.model.catalog import DefinitionVersion, TriggerRow

    holds = content("", b'"TOP-SECRET"')
    label = DefinitionVersion(definition_id="d", version=1, content=hash, published=True, created=AT, metadata=secret)
    trigger = TriggerRow(definition_id="d", id="t", content=hash, version=1, key=1, type="T", payload=secret)
    await store.save_version(label, holds, [trigger])


def test_four_processes_write_to_one_file(database: Path) -> None:
    """M15: all processes make progress, and none sees an error."""
    writers = [
        start("write", f"sqlite:///{database}", tenant="", prefix=f"p{number}", rounds=25, batch=16)
        for number in range(4)
    ]

    answers = [answer_of(writer) for writer in writers]

    assert all(answer is not None for answer in answers)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("select count(*) from hf_instance").fetchone() == (4 * 25 * 16,)
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)


async def test_the_writer_pauses_only_for_other_processes(store: SqliteStore, database: Path) -> None:
    others = store._driver._other_processes
    assert others is not None
    await store.register_node("mine", time_to_live=timedelta(minutes=5))
    others._looked = float("-inf")
    alone = others.any()
    other = SqliteStore(database)
    await other.open()
    await other.register_node("theirs", time_to_live=timedelta(minutes=5))
    others._looked = float("-inf")

    assert (alone, others.any()) == (False, True)

    await other.close()
