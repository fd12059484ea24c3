"""Rule M16 and the experiments behind it (Y1 to Y4, E4), on a real server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from holdfast.errors import StoreError
from holdfast.model.commit import COMMITTED, Committed, Conflict, ConflictReason, Failed
from holdfast.model.guard import idempotency_key
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.sql import script as sql_script
from holdfast.persistence.sql.mysql import MysqlStore
from holdfast.persistence.sql.mysql.errors import MysqlError, code_of
from holdfast.persistence.sql.mysql.session import ConnectionUse, Session
from holdfast.persistence.sql.mysql.url import address_of
from holdfast.persistence.sql.script import Script
from holdfast.testing.store_rows import (
    FAR_OFF,
    bookmark,
    commit_of,
    effect,
    instance,
    later,
    settlement,
    stimulus,
    work,
)
from tests.support.services.mysql import execute, executed, need_mysql

pytestmark = pytest.mark.service("mysql")
need_mysql()


@pytest.fixture
async def sessions(database: str, store: MysqlStore) -> AsyncIterator[tuple[Session, Session]]:
    pair = await Session.connect(address_of(database)), await Session.connect(address_of(database))
    yield pair
    for session in pair:
        await session.close()


class TestSessions:
    async def test_writers_are_strict_and_read_committed(self, sessions: tuple[Session, Session]) -> None:
        ((mode, zone),) = await sessions[0].send("select @@sql_mode, @@time_zone")
        ((isolation,),) = await sessions[0].send(
            "select variable_value from information_schema.session_variables where variable_name = 'tx_isolation'"
            if sessions[0].is_mariadb
            else "select @@transaction_isolation"
        )

        assert "STRICT_ALL_TABLES" in mode
        assert (isolation, zone) == ("READ-COMMITTED", "+00:00")

    async def test_readers_cannot_write(self, database: str, store: MysqlStore) -> None:
        session = await Session.connect(address_of(database), ConnectionUse.READ)
        try:
            with pytest.raises(MysqlError) as raised:
                await session.send("delete from hf_work")
        finally:
            await session.close()

        assert code_of(raised.value) == 1792

    async def test_an_error_in_any_of_many_statements_is_raised(self, sessions: tuple[Session, Session]) -> None:
        for text in ("select 1;select nothing", "update hf_counter set value = value;select 1;nonsense"):
            with pytest.raises(MysqlError):
                await sessions[0].send(text)

            assert await sessions[0].send("select 2;select 3") == ((2,),)

    async def test_a_later_update_that_fails_fails_alone(self, store: MysqlStore) -> None:
        """Updates of a batch are sent together, and the invalid one among them fails alone."""
        names = [f"i{number}" for number in range(6)]
        await store.commit([commit_of(instance(name)) for name in names])

        outcomes = await store.commit(
            [commit_of(instance(name, 2, correlation_id="x" * 5000 if name == "i4" else None)) for name in names]
        )

        assert [isinstance(outcome, Failed) for outcome in outcomes] == [name == "i4" for name in names]
        versions = await store.versions_of([InstanceKey("", name) for name in names])
        assert [versions[InstanceKey("", name)] for name in names] == [2, 2, 2, 2, 1, 2]

    async def test_a_read_sees_one_moment(self, database: str, store: MysqlStore) -> None:
        """Commits of others between two statements of a script are not visible."""

        def script() -> Script[list[int]]:
            seen = []
            for number in range(2):
                rows = yield sql_script.execute("select count(*) from hf_value")
                seen.append(rows[0][0])
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(execute, database, f"insert into hf_value values ('', 'i', '{number}', '')").result()
            return seen

        assert await store._read(script()) == [0, 0]
        assert await executed(database, "select count(*) from hf_value") == [(2,)]


class TestExperiments:
    async def test_y1_names_are_compared_byte_by_byte(self, store: MysqlStore) -> None:
        """MySQL's own comparison finds 'Order-1' for 'ORDER-1  '."""
        names = ["Order-1", "ORDER-1", "Order-1 ", "Ørder-1", "Order-1\t"]
        keys = [idempotency_key(operation="start", target="order", key=name) for name in names]

        outcomes = await store.commit(
            [
                commit_of(instance(f"i{at}", correlation_id=name, name=name), guards_taken=(key,))
                for at, (name, key) in enumerate(zip(names, keys, strict=True))
            ]
        )

        assert all(outcome == COMMITTED for outcome in outcomes)
        for at, name in enumerate(names):
            assert await store.count("", InstanceFilter(correlation_ids=(name,))) == 1
            guard = await store.find_guard("", keys[at].ref)
            assert guard is not None
            assert guard.instance_id == f"i{at}"
        assert await store.count("", InstanceFilter(correlation_ids=("order-1",))) == 0
        assert await store.versions_of([InstanceKey("", "I0"), InstanceKey("", "i0 ")]) == {}

    async def test_y2_nothing_is_stored_truncated(self, store: MysqlStore) -> None:
        """INSERT IGNORE would store a truncated value."""
        long = "x" * 5000

        outcomes = await store.commit(
            [
                commit_of(instance("long", definition_id=long)),
                commit_of(instance("fine")),
                commit_of(instance("mail"), inbox_added=(stimulus("", id=long),)),
            ]
        )

        assert isinstance(outcomes[0], Failed)
        assert isinstance(outcomes[2], Failed)
        assert outcomes[1] == COMMITTED
        assert "does not fit its column" in str(outcomes[0].error)
        assert list(await store.versions_of([InstanceKey("", name) for name in ("long", "fine", "mail")])) == [
            InstanceKey("", "fine")
        ]
        with pytest.raises(StoreError, match="does not fit its column"):
            await store.put_inbox([stimulus("", id=long)])
        with pytest.raises(StoreError, match="does not fit its column"):
            await store.enqueue([work("", id="w" * 5000)])
        figures = await store.stats()
        assert (figures.inbox, figures.work_ready) == (0, 0)

    async def test_y3_a_write_that_changes_nothing_counts(self, store: MysqlStore) -> None:
        """The server reports 0 changed rows for such a write."""
        owner = Owner("n", 1)
        row = effect("", "i", owner=owner)
        await store.commit([commit_of(instance("i"), effects_added=(row,))])
        job = work("", due=FAR_OFF)
        await store.enqueue([job])

        assert await store.own_effect("", "i", row.ref, owner) == row
        assert await store.move_effect("", "i", row.ref, EffectRef(1, 1, owner)) == row
        await store.defer([job], FAR_OFF)
        node = (await store.register_node("n", time_to_live=timedelta(hours=1))).node
        assert [await store.beat(node.owner) for _ in range(3)] == [True] * 3
        assert (await store.stats()).work_later == 1

    async def test_y4_different_absent_keys_do_not_meet(self, sessions: tuple[Session, Session]) -> None:
        """Under MySQL's default isolation level both would hold the gap lock and wait for each other."""
        one, two = sessions
        look = "select name from hf_guard where tenant = '' and kind = 'key' and name = '{}' for update"
        take = "insert into hf_guard values ('', 'key', '{}', '', 'i', 0, null)"
        await one.send(look.format("b10"))
        await two.send(look.format("b20"))

        async with asyncio.timeout(15):
            await one.send(take.format("b10"))
            await two.send(take.format("b20"))

        await one.send("rollback")
        await two.send("rollback")

    async def test_e4_an_event_does_not_wait_for_a_claimed_timer(self, store: MysqlStore, another: MysqlStore) -> None:
        mark = bookmark("", "i")
        timer = work("", kind="timer", due=later(0), instance_id="i", bookmark_seq=mark.seq)
        await store.commit([commit_of(instance("i"), bookmarks_added=(mark,), work_added=(timer,))])

        async with asyncio.timeout(15), store.claim(["default"], 10) as claim:
            assert [row.id for row in claim.rows] == [timer.id]
            event = await another.commit(
                [commit_of(instance("i", 2), bookmarks_burned=(mark.ref,), work_dropped=(timer.id,))]
            )
            timeout = await claim.commit(
                [commit_of(instance("i", 2), bookmarks_burned=(mark.ref,), work_consumed=(timer.id,))]
            )

        assert event == [COMMITTED]
        assert timeout == [Conflict(reason=ConflictReason.VERSION, name="i", version=2)]
        async with store.claim(["default"], 10) as claim:
            assert [row.id for row in claim.rows] == [
                timer.id
            ]  # The dropped timer is left and deleted by its next claim.

    async def test_e4_many_waits_whose_event_and_timeout_meet(self, store: MysqlStore, another: MysqlStore) -> None:
        """H8: no deadlock, and one winner each."""
        names = [f"i{number}" for number in range(300)]
        timers = {name: work("", id=f"t-{name}", kind="timer", due=later(0), instance_id=name) for name in names}
        for start in range(0, len(names), 100):
            await store.commit(
                [
                    commit_of(instance(name), bookmarks_added=(bookmark("", name),), work_added=(timers[name],))
                    for name in names[start : start + 100]
                ]
            )

        async def timeouts() -> list[Committed | Conflict | Failed]:
            outcomes: list[Committed | Conflict | Failed] = []
            while True:
                async with store.claim(["default"], 32) as claim:
                    if not claim.rows:
                        return outcomes
                    batch = [
                        commit_of(instance(str(row.instance_id), 2), work_consumed=(row.id,)) for row in claim.rows
                    ]
                    told = await claim.commit(batch)
                    outcomes += told
                late = [row.id for row, one in zip(claim.rows, told, strict=True) if one != COMMITTED]
                await store.commit([settlement("", work_dropped=tuple(late))])

        async def events() -> list[Committed | Conflict | Failed]:
            outcomes: list[Committed | Conflict | Failed] = []
            for start in range(0, len(names), 32):
                outcomes += await another.commit(
                    [
                        commit_of(instance(name, 2), work_dropped=(timers[name].id,))
                        for name in reversed(names[start : start + 32])
                    ]
                )
            return outcomes

        async with asyncio.timeout(60):
            first, second = await asyncio.gather(timeouts(), events())

        assert [*first, *second].count(COMMITTED) == len(names)
        assert (await store.stats()).work_ready == 0


class TestTexts:
    @pytest.mark.parametrize(
        "text", ["it's", 'a "b" \\', "100%s ?", "a\x00b\x1a\n", "; drop table x; --", "😀 ä\u2028"]
    )
    async def test_texts_round_trip(self, store: MysqlStore, text: str) -> None:
        row = instance("i", correlation_id=text, name=text, state=text.encode() * 3)

        assert await store.commit([commit_of(row)]) == [COMMITTED]

        assert (await store.load([row.key])).instances[row.key] == row
        assert await store.count("", InstanceFilter(search=text, names=(text,))) == 1

    async def test_search_folds_ascii_only(self, database: str, store: MysqlStore) -> None:
        every = bytes(range(256))
        ((folded,),) = await executed(
            database, f"select hex(cast(lower(convert(unhex('{every.hex()}') using hebrew)) as binary))"
        )

        assert bytes.fromhex(str(folded)) == every.lower()

    async def test_a_state_larger_than_a_packet_fails_alone(self, database: str, store: MysqlStore) -> None:
        ((packet,),) = await executed(database, "select @@max_allowed_packet")
        assert isinstance(packet, int)
        if packet > 1 << 26:
            pytest.skip("this server takes packets that are too large to try")
        huge = commit_of(instance("huge", state=os.urandom(packet + 1)))

        outcomes = await store.commit([commit_of(instance("a")), huge, commit_of(instance("b"))])

        assert [type(outcome) for outcome in outcomes] == [Committed, Failed, Committed]
        assert isinstance(outcomes[1], Failed)
        assert "max_allowed_packet" in str(outcomes[1].error)
