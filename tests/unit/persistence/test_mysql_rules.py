"""Rule M16 and the experiments behind it (Y1 to Y4), on a real server; connections that break; claims that hold."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from holdfast.errors import StoreClosed, StoreError, StoreUnavailable
from holdfast.model.commit import COMMITTED, Committed, Failed, Loss, Lost
from holdfast.model.guard import idempotency_key
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.mysql import MysqlStore
from holdfast.persistence.sql.mysql.errors import MysqlError, RowTooLarge, code_of
from holdfast.persistence.sql.mysql.session import Session, Use
from holdfast.persistence.sql.mysql.url import address_of
from holdfast.persistence.sql.script import Script, ask
from holdfast.testing import faults
from holdfast.testing.mysql_server import emptied, execute, executed, mysql_database
from holdfast.testing.servers import ServiceMissing, given_or
from holdfast.testing.store_rows import (
    FAR_OFF,
    bookmark,
    commit_of,
    effect,
    instance,
    later,
    message,
    stimulus,
    work,
)

pytestmark = pytest.mark.service("mysql")

QUICK = RetryPolicy(retries=3, delay=timedelta(milliseconds=1))


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    try:
        with mysql_database() as url:
            yield url
    except ServiceMissing as missing:
        given_or("mysql", pytest.skip, pytest.fail, missing)


@pytest.fixture
async def store(database: str) -> AsyncIterator[MysqlStore]:
    await emptied(database)
    store = MysqlStore(address_of(database), retry=QUICK)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another(database: str, store: MysqlStore) -> AsyncIterator[MysqlStore]:
    another = MysqlStore(address_of(database), retry=QUICK)
    await another.open()
    yield another
    await another.close()


@pytest.fixture
async def sessions(database: str, store: MysqlStore) -> AsyncIterator[tuple[Session, Session]]:
    pair = await Session.connect(address_of(database)), await Session.connect(address_of(database))
    yield pair
    for session in pair:
        await session.close()


async def kill_all(database: str, store: MysqlStore) -> int:
    """End every connection that the database has, as an administrator or a failover would."""
    rows = await executed(
        database,
        "select id from information_schema.processlist where db = database() and id <> connection_id()",
    )
    for (number,) in rows:
        await executed(database, f"kill {number}")
    return len(rows)


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
        session = await Session.connect(address_of(database), Use.READ)
        try:
            with pytest.raises(MysqlError) as raised:
                await session.send("delete from hf_work")
        finally:
            await session.close()

        assert code_of(raised.value) == 1792

    async def test_a_read_sees_one_moment(self, database: str, store: MysqlStore) -> None:
        """Whatever others commit between two statements of a script."""

        def script() -> Script[list[int]]:
            seen = []
            for number in range(2):
                rows = yield ask("select count(*) from hf_value")
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
        """INSERT IGNORE stores what fits of a value."""
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
        """A server that is asked for changed rows says 0."""
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
        """Under MySQL's own isolation level both hold the gap and wait for each other."""
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

    async def test_e4_an_event_does_not_wait_for_a_timer_in_hand(self, store: MysqlStore, another: MysqlStore) -> None:
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
        assert timeout == [Lost(reason=Loss.VERSION, name="i", version=2)]
        async with store.claim(["default"], 10) as claim:
            assert [row.id for row in claim.rows] == [timer.id]  # a hint that is left, deleted by who finds it

    async def test_e4_a_thousand_waits_whose_event_and_timeout_meet(
        self, store: MysqlStore, another: MysqlStore
    ) -> None:
        """H8: no circle of locks, one winner each."""
        names = [f"i{number}" for number in range(300)]
        timers = {name: work("", id=f"t-{name}", kind="timer", due=later(0), instance_id=name) for name in names}
        for start in range(0, len(names), 100):
            await store.commit(
                [
                    commit_of(instance(name), bookmarks_added=(bookmark("", name),), work_added=(timers[name],))
                    for name in names[start : start + 100]
                ]
            )

        async def timeouts() -> list[Committed | Lost | Failed]:
            outcomes: list[Committed | Lost | Failed] = []
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
                await store.commit([commit_of(instance(f"swept-{late}"), work_dropped=tuple(late))])

        async def events() -> list[Committed | Lost | Failed]:
            outcomes: list[Committed | Lost | Failed] = []
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
    @pytest.mark.parametrize("text", ["it's", 'a "b" \\', "100%s ?", "a\x00b\x1a\n", "; drop table x; --", "😀 ä\u2028"])
    async def test_texts_come_back_as_they_were(self, store: MysqlStore, text: str) -> None:
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
        assert isinstance(outcomes[1].error, RowTooLarge)


class TestBrokenConnections:
    async def test_connections_that_were_killed_are_replaced(self, database: str, store: MysqlStore) -> None:
        await store.commit([commit_of(instance("i"))])
        await store.epoch()

        assert await kill_all(database, store) >= 2

        assert await store.versions_of([InstanceKey("", "i")]) == {InstanceKey("", "i"): 1}
        assert await store.commit([commit_of(instance("i", 2))]) == [COMMITTED]
        assert list(await store.enqueue([work("")])) == [True]

    async def test_a_connection_killed_in_mid_commit(self, database: str, store: MysqlStore) -> None:
        """Nothing of it was written; it is sent again."""
        killed = 0

        def kill() -> None:
            nonlocal killed
            with ThreadPoolExecutor(1) as thread:
                killed += thread.submit(asyncio.run, kill_all(database, store)).result()

        with faults.at("commit.written", kill, times=1):
            outcomes = await store.commit([commit_of(instance("i"), outbox_added=(message(""),))])

        assert (outcomes, killed > 0) == ([COMMITTED], True)
        assert (await store.stats()).outbox == 1

    async def test_an_unknown_outcome_is_resolved(self, store: MysqlStore, another: MysqlStore) -> None:
        """The commit arrived, its answer did not, and another burst came in between."""
        await store.commit([commit_of(instance("i"))])
        ours = commit_of(instance("i", 2), outbox_added=(message(""),))
        seen: list[object] = []

        def lose_the_answer() -> None:
            with ThreadPoolExecutor(1) as thread:
                seen.append(thread.submit(asyncio.run, _commit_elsewhere(another)).result())
            raise ConnectionResetError

        with faults.at("commit.done", lose_the_answer, times=1):
            outcomes = await store.commit([ours])

        assert (outcomes, seen) == ([COMMITTED], [[COMMITTED]])
        assert await store.versions_of([InstanceKey("", "i")]) == {InstanceKey("", "i"): 3}
        assert (await store.stats()).outbox == 1

    @pytest.mark.parametrize("code", [1213, 1205, 2013, 1040])
    async def test_what_passes_by_itself_is_tried_again(self, store: MysqlStore, code: int) -> None:
        with faults.at("commit.locked", faults.raising(MysqlError(code, "passes")), times=3) as reached:
            assert await store.commit([commit_of(instance("i"))]) == [COMMITTED]

        assert reached.count("commit.locked") == 4

    async def test_what_does_not_pass_is_unavailable(self, store: MysqlStore) -> None:
        with (
            faults.at("commit.locked", faults.raising(MysqlError(1205, "Lock wait timeout exceeded"))),
            pytest.raises(StoreUnavailable, match="did not answer after 3 more attempts"),
        ):
            await store.commit([commit_of(instance("i"))])

        assert await store.versions_of([InstanceKey("", "i")]) == {}

    async def test_a_real_deadlock_has_a_victim_that_comes_again(self, database: str, store: MysqlStore) -> None:
        """Somebody else locks in the wrong order; the commit is written all the same."""
        await store.commit([commit_of(instance("a")), commit_of(instance("b"))])
        stranger = await Session.connect(address_of(database))
        lock = "select id from hf_instance where tenant = '' and id = '{}' for update"
        update = "update hf_instance set incidents = incidents where tenant = '' and id in ('a', 'b')"
        try:
            await stranger.send(lock.format("b"))
            commit = asyncio.create_task(store.commit([commit_of(instance("a", 2)), commit_of(instance("b", 2))]))
            await _until_somebody_waits(database)
            try:
                await stranger.send(f"{lock.format('a')};{update};commit")
            except MysqlError as error:
                assert code_of(error) == 1213  # then the stranger is the victim
            async with asyncio.timeout(30):
                assert await commit == [COMMITTED, COMMITTED]
        finally:
            await stranger.close()


class TestClaims:
    async def test_claims_of_two_nodes_hold_different_rows(self, store: MysqlStore, another: MysqlStore) -> None:
        await store.enqueue([work("", id=f"w{number}") for number in range(10)])

        async with store.claim(["default"], 6) as first, another.claim(["default"], 6) as second:
            held = [row.id for row in (*first.rows, *second.rows)]

        assert (len(first.rows), len(second.rows)) == (6, 4)
        assert len(set(held)) == 10

    async def test_rows_that_are_not_claimed_are_not_locked(self, store: MysqlStore, another: MysqlStore) -> None:
        """Of 200 timers that are due, a claim of 10 leaves 190 to others."""
        await store.enqueue([work("", id=f"t{number}", due=later(number)) for number in range(200)])

        async with store.claim(["default"], 10), another.claim(["default"], 300) as rest:
            assert len(rest.rows) == 190

    async def test_attempts_of_rows_in_hand_can_be_counted(self, store: MysqlStore, another: MysqlStore) -> None:
        """H15, inside the claim: its own locks must not stand in the way, and its other claims stay away."""
        await store.enqueue([work("", id="a"), work("", id="b")])

        async with asyncio.timeout(15), store.claim(["default"], 10) as claim:
            counted = await store.count_attempt(claim.rows[:1])
            async with store.claim(["default"], 10) as second:
                assert list(second.rows) == []
            outcomes = await claim.commit([commit_of(instance("i"), work_consumed=("a",))])

        assert [row.attempts for row in counted] == [1]
        assert outcomes == [COMMITTED]
        async with another.claim(["default"], 10) as rest:
            assert [row.id for row in rest.rows] == ["b"]

    async def test_rows_in_hand_can_be_put_back_and_consumed_elsewhere(self, store: MysqlStore) -> None:
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
            await kill_all(database, store)
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


class TestRaces:
    async def test_a_row_queued_by_many_at_once_is_new_once(self, store: MysqlStore, another: MysqlStore) -> None:
        row, early = work("", id="w"), stimulus("", id="s")

        queued = await asyncio.gather(*((store, another)[turn % 2].enqueue([row]) for turn in range(16)))
        kept = await asyncio.gather(*((store, another)[turn % 2].put_inbox([early]) for turn in range(16)))

        assert [told[0] for told in queued].count(True) == 1
        assert [told[0] for told in kept].count(True) == 1

    async def test_racers_of_one_version_are_told_who_won(self, store: MysqlStore) -> None:
        await store.commit([commit_of(instance("i"))])
        racers = [commit_of(instance("i", 2)) for _ in range(20)]

        outcomes = await asyncio.gather(*(store.commit([racer]) for racer in [*racers, racers[0]]))

        told = [outcome for (outcome,) in outcomes]
        assert told.count(COMMITTED) in {1, 2}  # the first was sent twice
        assert told.count(Lost(reason=Loss.VERSION, name="i", version=2)) == 21 - told.count(COMMITTED)
        assert len(await store.read_journal("", "i")) == 2


class TestClosing:
    async def test_what_was_asked_before_is_finished_first(self, database: str, store: MysqlStore) -> None:
        commits = [asyncio.create_task(store.commit([commit_of(instance(f"i{number}"))])) for number in range(50)]
        await asyncio.sleep(0)

        await store.close()
        await store.close()

        assert all([(await commit) == [COMMITTED] for commit in commits])
        assert await executed(database, "select count(*) from hf_instance") == [(50,)]
        with pytest.raises(StoreClosed, match="is not open"):
            await store.epoch()
        with pytest.raises(StoreClosed, match="is not open"):
            await store.commit([commit_of(instance("late"))])

    async def test_use_after_fork_is_refused(self, store: MysqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("holdfast.persistence.sql.mysql.driver.os.getpid", lambda: -1)
            with pytest.raises(StoreClosed, match="forked"):
                await store.epoch()

    async def test_a_caller_that_goes_away_harms_nobody(self, store: MysqlStore) -> None:
        """H1: who hangs up cancels nothing of others, and connections stay usable."""
        calls = [asyncio.create_task(store.commit([commit_of(instance(f"i{number}"))])) for number in range(20)]
        reads = [asyncio.create_task(store.epoch()) for _ in range(20)]
        await asyncio.sleep(0.005)
        for call in (*calls[::2], *reads[::2]):
            call.cancel()

        await asyncio.gather(*calls, *reads, return_exceptions=True)

        assert all([(await call) == [COMMITTED] for call in calls[1::2]])
        assert [await read for read in reads[1::2]] == [0] * 10
        assert await store.commit([commit_of(instance("after"))]) == [COMMITTED]


async def _commit_elsewhere(store: MysqlStore) -> list[object]:
    """In a loop of its own: a connection belongs to one."""
    fresh = MysqlStore(store._driver.address)
    await fresh.open()
    try:
        return list(await fresh.commit([commit_of(instance("i", 3))]))
    finally:
        await fresh.close()


async def _until_somebody_waits(database: str) -> None:
    while not await executed(database, "select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"):
        await asyncio.sleep(0.01)
