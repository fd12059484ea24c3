"""PostgreSQL store: lost connections, locking claims, the projected list, notifications, encrypted payloads."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types
import pytest
from msgspec.structs import replace

from holdfast.errors import StoreClosed
from holdfast.model.commit import COMMITTED, Commit, Conflict, ConflictReason, Failed
from holdfast.model.guard import activation_slot, idempotency_key
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.stored import BookmarkRef, InstanceKey
from holdfast.model.work import DeadLetterRow, ScheduleRow
from holdfast.persistence.codec import EncryptingCodec, PayloadCodec
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import LANE, Connection, connect
from holdfast.persistence.sql.postgresql.notifications import CHANNEL
from holdfast.persistence.sql.postgresql.pool import end
from holdfast.persistence.sql.postgresql.rows import rows_of
from holdfast.persistence.sql.postgresql.statement import statement_of
from holdfast.testing import faults
from holdfast.testing.store_rows import (
    AT,
    FAR_OFF,
    bookmark,
    commit_of,
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

pytestmark = pytest.mark.service("postgres")

NO_WAIT = RetryPolicy(delay=timedelta(0))
ALL = InstanceFilter()
_BOOKMARKS = """insert into hf_bookmark (tenant, wake_key, correlation, instance_id, seq, type, activity_id, created, payload)
    select '', n, 0, 's' || n, 1, 'Paid', 'wait', n, '\\x00' from generate_series(1, 5000) n"""


@pytest.fixture
async def store(database: str, admin: Connection) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(database, retry=NO_WAIT)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another(database: str, store: PostgresStore) -> AsyncIterator[PostgresStore]:
    another = PostgresStore(database, retry=NO_WAIT)
    await another.open()
    yield another
    await another.close()


async def test_use_after_fork_is_refused(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)

    with pytest.raises(StoreClosed, match="forked"):
        await store.load([])
    with pytest.raises(StoreClosed, match="forked"):
        await store.enqueue([work("")])
    monkeypatch.undo()

    assert await store.epoch() == 0


@pytest.mark.parametrize("guarded", [False, True], ids=["by version", "by a key too"])
@pytest.mark.parametrize("point", ["commit.begin", "commit.locked", "commit.written", "commit.done"])
async def test_a_connection_cut_at_any_point_is_no_loss(store: PostgresStore, point: str, guarded: bool) -> None:
    """M3: a commit with an unknown outcome is written once when it is sent again."""
    key = idempotency_key(operation="start", target="t", key="k")
    commit = commit_of(instance("i"), outbox_added=(message(""),), guards_taken=(key,) if guarded else ())

    with faults.at(point, faults.raising(ConnectionResetError), times=1):
        try:
            outcomes = list(await store.commit([commit]))
        except ConnectionResetError:
            assert point == "commit.begin"
            outcomes = list(await store.commit([commit]))

    assert outcomes == [COMMITTED]
    assert (await store.stats()).outbox == 1


async def test_sessions_that_the_server_ended_are_replaced(store: PostgresStore, admin: Connection) -> None:
    """Every idle connection of the store is cut: reads, lists, claims and commits still work."""
    await _use_everything(store, 1)

    await admin.fetch(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
        " and pid <> pg_backend_pid()"
    )

    await _use_everything(store, 2)


async def _use_everything(store: PostgresStore, version: int) -> None:
    assert list(await store.commit([commit_of(instance("i", version))])) == [COMMITTED]
    await store.enqueue([work("", id=f"w{version}")])
    async with store.claim(["default"], 10) as claim:
        assert len(claim.rows) == version
    assert (await store.load([InstanceKey("", "i")])).instances[InstanceKey("", "i")].version == version
    assert [row.version for row in (await store.search(InstanceQuery())).items] == [version]
    assert (await store.stats()).work_ready == version


async def test_a_deadlock_is_retried(store: PostgresStore, admin: Connection) -> None:
    await store.commit([commit_of(instance("a")), commit_of(instance("b"))])
    await admin.execute("begin")
    await admin.execute("update hf_instance set name = 'theirs' where id = 'b'")

    ours = asyncio.create_task(store.commit([commit_of(instance("a", 2)), commit_of(instance("b", 2))]))
    await _until_blocked(admin, ours)
    try:
        await admin.execute("update hf_instance set name = 'theirs' where id = 'a'")
        await admin.execute("commit")
    except asyncpg.PostgresError:
        await admin.execute("rollback")

    assert list(await ours) == [COMMITTED, COMMITTED]


async def _until_blocked(admin: Connection, task: asyncio.Task[Any]) -> None:
    """Wait until another session waits for a lock of `admin`."""
    while not (await admin.fetch("select exists (select 1 from pg_locks where not granted)"))[0][0]:
        assert not task.done()
        await asyncio.sleep(0)


async def test_a_poison_burst_is_explained(store: PostgresStore) -> None:
    outcomes = await store.commit([commit_of(instance("good")), commit_of(instance("bad", name="a\x00b"))])

    assert outcomes[0] == COMMITTED
    assert isinstance(outcomes[1], Failed)
    assert outcomes[1].error.__cause__ is not None


async def test_rows_added_by_a_batch_are_not_visible_within_it(store: PostgresStore) -> None:
    batch = [commit_of(instance("a"), work_added=(work("", id="w"),)), settlement("", work_consumed=("w",))]

    assert await store.commit(batch) == [COMMITTED, Conflict(reason=ConflictReason.WORK, name="w")]


async def test_a_slot_is_released_and_taken_in_one_batch(store: PostgresStore) -> None:
    slot = activation_slot(strategy="singleton", definition_id="order")
    await store.commit([commit_of(instance("old"), guards_taken=(slot,))])
    ends = commit_of(instance("old", 2, status="finished", finished=later(1)), guards_released=(slot.ref,))

    assert await store.commit([ends, commit_of(instance("new"), guards_taken=(slot,))]) == [COMMITTED, COMMITTED]

    row = await store.find_guard("", slot.ref)
    assert row is not None
    assert row.instance_id == "new"


@pytest.mark.parametrize("consumed", [True, False], ids=["done by the claim", "given back by the claim"])
async def test_a_commit_waits_for_the_claim_of_its_row(
    store: PostgresStore, another: PostgresStore, consumed: bool
) -> None:
    await store.enqueue([work("", id="w")])

    async with another.claim(["default"], 1) as claim:
        ours = asyncio.create_task(store.commit([commit_of(instance("ours"), work_consumed=("w",))]))
        await asyncio.wait([ours], timeout=0.05)
        assert not ours.done()
        if consumed:
            await claim.commit([commit_of(instance("theirs"), work_consumed=("w",))])

    assert await ours == [Conflict(reason=ConflictReason.WORK, name="w") if consumed else COMMITTED]


async def test_unconsumed_rows_stay_with_their_claim_in_this_process(store: PostgresStore) -> None:
    await store.enqueue([work("", id="a"), work("", id="b")])

    async with store.claim(["default"], 2) as claim:
        await claim.commit([settlement("", work_consumed=("a",))])
        async with store.claim(["default"], 2) as other:
            assert list(other.rows) == []
        assert await claim.commit([settlement("", work_consumed=("b",))]) == [COMMITTED]

    assert (await store.stats()).work_ready == 0


async def test_excluded_rows_are_not_locked(store: PostgresStore, another: PostgresStore) -> None:
    """Otherwise a commit would wait until the rows of a claim have been processed."""
    await store.enqueue([work("", id="a"), work("", id="b")])

    async with store.claim(["default"], 2, without=[("", "a")]) as claim:
        assert [row.id for row in claim.rows] == ["b"]
        async with asyncio.timeout(30):
            assert await another.commit([settlement("", work_consumed=("a",))]) == [COMMITTED]


async def test_a_claim_whose_connection_breaks_is_committed_all_the_same(store: PostgresStore) -> None:
    await store.enqueue([work("", id="a")])

    async with store.claim(["default"], 1) as claim:
        with faults.at("commit.written", faults.raising(ConnectionResetError), times=1):
            outcomes = await claim.commit([commit_of(instance("i"), work_consumed=("a",))])

    assert outcomes == [COMMITTED]
    assert (await store.stats()).work_ready == 0


async def test_another_process_lists_the_instances_of_a_dead_one(store: PostgresStore, another: PostgresStore) -> None:
    """M7: the keys are committed with the burst, and the next read of a list projects them first."""
    store._driver.projector.mark = lambda: None  # type: ignore[method-assign]  # as if it died at once

    await store.commit([commit_of(instance("i"))])

    page = await another.search(InstanceQuery(position=("i", 1)))
    assert ([row.id for row in page.items], page.stale) == (["i"], False)


async def test_a_deleted_instance_does_not_come_back_to_the_list(store: PostgresStore, admin: Connection) -> None:
    await store.commit([commit_of(instance("i", status="finished", finished=later(1)))])
    assert await store.count("", ALL) == 1
    await store.delete_instances("", ["i"])
    await admin.execute(
        "insert into hf_unlisted (shard, is_new, tenants, ids, createds)"
        " select hf_shard('i'), is_new, array[''], array['i'], array[0] from (values (true), (false)) v(is_new)"
    )

    assert await store.count("", ALL) == 0
    assert (await admin.fetch("select count(*) from hf_unlisted"))[0][0] == 0


async def test_a_listed_instance_does_not_block_the_projector(store: PostgresStore, admin: Connection) -> None:
    """New instances are inserted without a check; the check follows if one is listed already."""
    await store.commit([commit_of(instance("i"))])
    assert await store.count("", ALL) == 1
    await admin.execute(
        "insert into hf_unlisted (shard, is_new, tenants, ids, createds)"
        " select hf_shard(id), true, array[tenant], array[id], array[created] from hf_instance"
    )
    await admin.execute("update hf_instance set correlation_id = 'changed'")
    await store.commit([commit_of(instance("j"))])

    found = {row.id: row.correlation_id for row in (await store.search(InstanceQuery())).items}

    assert found == {"i": "changed", "j": None}
    assert (await admin.fetch("select count(*) from hf_unlisted"))[0][0] == 0


async def test_a_reused_id_is_listed_once(store: PostgresStore) -> None:
    await store.commit([commit_of(instance("i", status="finished", finished=later(1)))])
    await store.delete_instances("", ["i"])
    await store.commit([commit_of(instance("i", created=later(5)))])

    page = await store.search(InstanceQuery(position=("i", 1)))

    assert ([(row.id, row.status) for row in page.items], page.stale) == ([("i", "suspended")], False)
    assert await store.count("", InstanceFilter(ids=("i",))) == 1


async def test_guards_are_checked_first_for_a_while_after_a_refusal(store: PostgresStore, admin: Connection) -> None:
    """Under contention, sending each batch twice would cost more than checking the guards first."""
    committer = store._driver.committer
    await store.commit([commit_of(instance("taken"))])
    assert committer._cautious == 0

    outcomes = await store.commit([commit_of(instance("taken")), commit_of(instance("free"))])

    assert [type(outcome) for outcome in outcomes] == [Conflict, type(COMMITTED)]
    doubt = committer._cautious
    assert doubt > 0
    for number in range(doubt):
        assert await store.commit([commit_of(instance(f"i{number}"))]) == [COMMITTED]
    assert committer._cautious == 0


@pytest.mark.parametrize("confident", [False, True], ids=["looking", "confident"])
async def test_rows_are_found_by_their_keys(store: PostgresStore, database: str, confident: bool) -> None:
    """Plans are made once, perhaps on empty tables, where every usable index looks as good as the primary key."""
    burned = bookmark("", "a").ref
    given: dict[str, Any] = {
        "bookmarks_burned": (burned,), "bookmarks_added": (bookmark("", "a", 2),), "effects_dropped": (7,),
        "values_dropped": ("v",), "incidents_resolved": ("x",), "work_dropped": ("d",), "inbox_consumed": ("s",),
        "work_consumed": ("w",),
    }  # fmt: skip
    lane = await connect(database, LANE)

    used: list[tuple[str, str]] = []
    for name, rows in given.items():
        batch = [commit_of(instance(each, 2), **{name: rows}) for each in "ab"]
        text, values = statement_of(rows_of(batch, PayloadCodec()), confident=confident)
        plan = "\n".join(row[0] for row in await lane.fetch("explain " + text, *values))
        used += [(name, index) for index in re.findall(r"Index (?:Only )?Scan using (\w+)", plan)]
        assert "Seq Scan" not in plan
    await end(lane)

    assert [(name, index) for name, index in used if not index.endswith("_pkey")] == []
    assert {index for _, index in used} >= {"hf_instance_pkey", "hf_bookmark_pkey", "hf_effect_pkey", "hf_work_pkey"}


async def test_burned_bookmarks_are_found_by_all_of_their_key(
    store: PostgresStore, database: str, admin: Connection
) -> None:
    """Most instances have one bookmark, so the planner may consider reading all bookmarks of an instance as good."""
    await admin.execute(_BOOKMARKS)
    await admin.execute("analyze hf_bookmark")
    burns = [commit_of(instance(name, 2), bookmarks_burned=(BookmarkRef(7, 0, 7),)) for name in ("many", "other")]
    text, values = statement_of(rows_of(burns, PayloadCodec()), confident=True)
    lane = await connect(database, LANE)

    await lane.execute("begin")
    plan = "\n".join(row[0] for row in await lane.fetch("explain " + text, *values))
    await end(lane)

    scan = re.search(r"Index Scan using hf_bookmark\w* on hf_bookmark t.*?\n +Index Cond: (.*)\n", plan)
    assert scan is not None
    assert "seq" in scan[1]


async def test_notifications_are_merged_and_sent_only_to_listeners(
    store: PostgresStore, another: PostgresStore, admin: Connection
) -> None:
    """M9: NOTIFY never per commit."""
    heard: list[int] = []
    await admin.add_listener(CHANNEL, lambda connection, sender, channel, payload: heard.append(sender))
    for number in range(5):
        await store.commit([commit_of(instance(f"alone{number}"))])
    await admin.fetch("select 1")
    assert heard == []

    seen = await another.wait_for_change(-1, timedelta(0))
    seen = await another.wait_for_change(seen, timedelta(seconds=30))
    store._driver.listener._checked = float("-inf")
    await asyncio.gather(*(store.commit([commit_of(instance(f"i{number}"))]) for number in range(200)))

    assert await another.wait_for_change(seen, timedelta(seconds=30)) != seen
    await admin.fetch("select 1")
    assert 0 < len(heard) < 50


async def test_updates_stay_on_their_page(store: PostgresStore, admin: Connection) -> None:
    """No index contains a column that a commit changes, so every update is heap-only."""
    for version in range(1, 6):
        await store.commit([commit_of(instance("i", version, status=("suspended", "running")[version % 2]))])
    await admin.fetch("select pg_stat_clear_snapshot()")

    columns = await admin.fetch(
        "select a.attname from pg_index x join pg_attribute a on a.attrelid = x.indrelid and a.attnum = any(x.indkey)"
        " where x.indrelid = 'hf_instance'::regclass"
    )

    assert {row[0] for row in columns} == {"tenant", "id", "parent_id"}


@pytest.mark.parametrize("many", [1, 3])
@pytest.mark.parametrize("confident", [True, False])
async def test_a_lane_finds_rows_by_their_keys(database: str, store: PostgresStore, confident: bool, many: int) -> None:
    """The plans of a lane are made once, perhaps on empty tables, where every index looks equally good."""
    rows = rows_of(
        [
            commit_of(
                instance(f"i{number}", 2),
                effects_consumed=(effect("", f"i{number}").ref,),
                effects_added=(effect("", f"i{number}", 2),),
            )
            for number in range(many)
        ],
        PayloadCodec(),
    )
    text, values = statement_of(rows, confident=confident)
    lane = await connect(database, LANE)

    plan = "\n".join(row[0] for row in await lane.fetch("explain " + text, *values))
    await end(lane)

    used = set(re.findall(r"(?:Index|Seq) (?:Only )?Scan (?:using (\w+) )?on hf_", plan))
    assert used == {"hf_instance_pkey", "hf_effect_pkey"}


async def test_every_payload_is_encrypted_at_rest(database: str, admin: Connection) -> None:
    """Every bytea of every table is encrypted, except node details."""
    store = PostgresStore(database, codec=EncryptingCodec({"k1": b"k" * 32}))
    await store.open()
    for commit in _secrets(b"TOP-SECRET"):
        assert await store.commit([commit]) == [COMMITTED]
    await store.put_schedules("", "d", [ScheduleRow(id="s", definition_id="d", due=FAR_OFF, payload=b"TOP-SECRET")])
    await store.close()

    clear = []
    rows = await admin.fetch(
        "select table_name, column_name from information_schema.columns where data_type = 'bytea'"
        " and table_schema = current_schema() and table_name <> 'hf_node'"
    )
    kept = 0
    for table, column in rows:
        for (data,) in await admin.fetch(f"select {column} from {table}"):
            kept += 1
            if data[:1] != b"\x10":
                clear.append((table, column))

    assert clear == []
    assert kept >= 10


def _secrets(secret: bytes) -> list[Commit]:
    commit = commit_of(
        instance("i", state=secret),
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
    return [replace(commit, journal=replace(commit.journal, data=secret)), settlement("", dead_letters=(letter,))]
