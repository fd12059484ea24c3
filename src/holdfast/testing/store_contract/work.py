"""Contract of work rows: queue, due time, claim, attempts, dead letters and replay."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from holdfast.model.commit import COMMITTED
from holdfast.model.stored import InstanceKey
from holdfast.model.work import DeadLetterRow, ScheduleRow, WorkRow
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import (
    FAR_OFF,
    commit_of,
    fresh,
    ids_of,
    instance,
    later,
    settlement,
    work,
)


async def claimed(store: Store, *queues: str, limit: int = 100, lacking: tuple[str, ...] = ()) -> list[WorkRow]:
    """Rows that a claim gets now; they are released at once."""
    async with store.claim(queues or ("default",), limit, lacking=lacking) as claim:
        return list(claim.rows)


class WorkContract(ContractBase):
    async def test_a_row_is_read_back_as_it_was(self, store: Store, tenant: str) -> None:
        row = work(
            tenant,
            kind="timer",
            queue="gpu",
            due=later(1),
            priority=3,
            instance_id="i",
            bookmark_seq=4,
            content="c0ffee",
            attempts=2,
            payload=bytes(range(256)),
        )

        assert list(await store.enqueue([row])) == [True]

        assert await claimed(store, "gpu") == [row]
        assert await claimed(store) == []

    async def test_a_row_is_queued_once(self, store: Store, tenant: str) -> None:
        row = work(tenant)

        assert list(await store.enqueue([row, work(tenant)])) == [True, True]
        assert list(await store.enqueue([replace(row, payload=b"again"), work(tenant)])) == [False, True]

        found = await claimed(store)
        assert len(found) == 3
        assert row in found

    async def test_rows_are_claimed_by_priority_then_id(self, store: Store, tenant: str) -> None:
        rows = [
            work(tenant, id="c"),
            work(tenant, id="a"),
            work(tenant, id="z", priority=1),
            work(tenant, id="b"),
            work(tenant, id="0", priority=-1),
        ]
        await store.enqueue(rows)

        assert ids_of(await claimed(store)) == ["z", "a", "b", "c", "0"]
        assert ids_of(await claimed(store, limit=2)) == ["z", "a"]

    async def test_timers_are_claimed_when_they_are_due(self, store: Store, tenant: str) -> None:
        now = await store.now()
        await store.enqueue(
            [
                work(tenant, id="due", due=now - timedelta(seconds=5)),
                work(tenant, id="overdue", due=now - timedelta(hours=1)),
                work(tenant, id="not yet", due=now + timedelta(hours=1)),
            ]
        )

        assert ids_of(await claimed(store)) == ["overdue", "due"]
        figures = await store.stats(tenant)
        assert (figures.work_ready, figures.work_later) == (2, 1)
        assert figures.oldest_ready == now - timedelta(hours=1)

    async def test_queues_with_work_are_named_once_and_in_order(self, store: Store, tenant: str) -> None:
        assert await store.queues_with_work() == []
        await store.enqueue([work(tenant, queue=name, due=FAR_OFF) for name in ("b", "a", "b", "step:c")])

        assert list(await store.queues_with_work()) == ["a", "b", "step:c"]

    async def test_until_due_returns_the_time_to_the_next_row(self, store: Store, tenant: str) -> None:
        assert await store.until_due(["default"]) is None
        await store.enqueue(
            [work(tenant, due=FAR_OFF), work(tenant, due=later(7)), work(tenant, queue="x", due=later(1))]
        )

        for queues, due in ((["default"], later(7)), (["default", "x"], later(1))):
            before = await store.now()
            left = await store.until_due(queues)
            assert left is not None
            assert due - await store.now() <= left <= due - before

    async def test_a_row_without_due_time_is_due_since_its_creation(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, due=FAR_OFF), work(tenant, created=await store.now() - timedelta(hours=1))])

        left = await store.until_due(["default"])

        assert left is not None
        assert timedelta(hours=-2) < left <= timedelta(hours=-1)

    async def test_excluded_rows_are_not_claimed(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="a"), work(tenant, id="b")])

        async with store.claim(["default"], 1, without=[(tenant, "a")]) as claim:
            assert [row.id for row in claim.rows] == ["b"]

        assert ids_of(await claimed(store)) == ["a", "b"]

    async def test_a_claim_serves_the_named_queues(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="a"), work(tenant, id="b", queue="gpu"), work(tenant, id="c", queue="x")])

        assert ids_of(await claimed(store, "gpu")) == ["b"]
        assert sorted(ids_of(await claimed(store, "gpu", "default"))) == ["a", "b"]

    async def test_work_with_missing_code_is_not_claimed(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="old", content="v1"), work(tenant, id="new", content="v2")])

        assert ids_of(await claimed(store, lacking=("v2", "v3"))) == ["old"]
        assert sorted(ids_of(await claimed(store))) == ["new", "old"]

    async def test_work_with_missing_code_does_not_count_as_due(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="a", content="v1"), work(tenant, id="b", content="v1", due=later(-1))])

        assert await store.until_due(["default"], lacking=("v1", "v2")) is None
        left = await store.until_due(["default"], lacking=("v2",))
        assert left is not None
        assert left <= timedelta(0)

    async def test_parked_work_keeps_everything_but_its_content(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        """H10: the row names the missing code or class; a process that can run it claims the row as before."""
        rows = [work(tenant, id="a", attempts=1, payload=b"p"), work(tenant, id="b", due=later(-1))]
        await store.enqueue(rows)

        for row in rows:
            moved = await store.move_work(row, attempts=row.attempts, due=row.due, content="v1!item")
            assert moved == replace(row, content="v1!item")

        assert not await claimed(another, lacking=("v1!item",))
        assert list(await claimed(another)) == [replace(row, content="v1!item") for row in rows]

    async def test_claims_at_once_hold_different_rows(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant) for _ in range(20)])

        async with store.claim(["default"], 8) as first, store.claim(["default"], 8) as second:
            third = await claimed(store)
            held = [*ids_of(first.rows), *ids_of(second.rows), *ids_of(third)]

        assert len(held) == len(set(held)) == 20
        assert len(await claimed(store)) == 20

    async def test_work_committed_by_a_claim_is_consumed(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="a"), work(tenant, id="b")])

        async with store.claim(["default"], 10) as claim:
            assert claim.epoch == await store.epoch()
            outcomes = await claim.commit(
                [commit_of(instance("i", tenant=tenant), work_consumed=("a",), work_added=(work(tenant, id="c"),))]
            )

        assert list(outcomes) == [COMMITTED]
        assert sorted(ids_of(await claimed(store))) == ["b", "c"]

    async def test_a_claim_that_fails_gives_its_rows_back(self, store: Store, tenant: str) -> None:
        await store.enqueue([work(tenant, id="a")])

        try:
            async with store.claim(["default"], 10):
                raise LookupError("the lane broke")
        except LookupError:
            pass

        assert ids_of(await claimed(store)) == ["a"]

    async def test_every_row_is_done_once_by_many_workers(self, store: Store, another: Store, tenant: str) -> None:
        """Workers of two nodes drain one queue: each row starts one instance, and none is left."""
        await store.enqueue([work(tenant, id=f"w{number}") for number in range(120)])
        done: list[str] = []

        async def drain(handle: Store) -> None:
            while True:
                async with handle.claim(["default"], 7) as claim:
                    batch = [
                        commit_of(instance(fresh("i"), tenant=tenant), work_consumed=(row.id,)) for row in claim.rows
                    ]
                    outcomes = await claim.commit(batch) if batch else []
                    done.extend(
                        commit.work_consumed[0]
                        for commit, outcome in zip(batch, outcomes, strict=True)
                        if outcome == COMMITTED
                    )
                if (await handle.stats(tenant)).work_ready == 0:
                    return

        async with asyncio.timeout(60):
            await asyncio.gather(*(drain(handle) for handle in (store, another, store, another)))

        assert sorted(done) == sorted(f"w{number}" for number in range(120))
        assert sum((await store.stats(tenant)).instances.values()) == 120

    async def test_attempts_are_counted_before_dangerous_work(self, store: Store, another: Store, tenant: str) -> None:
        """H15: work that kills its process has recorded the attempt."""
        row = work(tenant, id="a", attempts=2, due=later(-1), payload=b"p")
        await store.enqueue([row])

        moved = await store.move_work(row, attempts=3, due=None)

        assert moved == replace(row, attempts=3, due=None)
        assert list(await claimed(another)) == [moved]

    async def test_an_attempt_is_counted_once(self, store: Store, another: Store, tenant: str) -> None:
        row = work(tenant, id="a")
        await store.enqueue([row])

        moves = await asyncio.gather(
            *(handle.move_work(row, attempts=1, due=FAR_OFF) for handle in (store, another, store, another))
        )

        assert [move for move in moves if move is not None] == [replace(row, attempts=1, due=FAR_OFF)]
        assert await store.move_work(work(tenant, id="gone"), attempts=1, due=None) is None
        assert not await claimed(another)
        assert (await store.stats(tenant)).work_later == 1

    async def test_deferred_work_comes_later(self, store: Store, tenant: str) -> None:
        rows = [work(tenant, id="a"), work(tenant, id="b", due=later(1)), work(tenant, id="c")]
        await store.enqueue(rows)

        await store.defer([*rows[:2], work(tenant, id="gone")], FAR_OFF)

        assert ids_of(await claimed(store)) == ["c"]
        assert (await store.stats(tenant)).work_later == 2

    async def test_no_operation_blocks_on_a_claim(self, store: Store, another: Store, tenant: str) -> None:
        """A claim holder makes further store calls.

        They would starve if calls that wait for its rows used all connections.
        """
        rows = [work(tenant, id=str(number)) for number in range(20)]
        await store.enqueue(rows)

        async with asyncio.timeout(60), store.claim(["default"], 20) as claim:
            assert len(claim.rows) == 20
            await asyncio.gather(*(another.defer([row], FAR_OFF) for row in rows[:10]))
            await asyncio.gather(*(another.move_work(row, attempts=1, due=FAR_OFF) for row in rows[10:]))
            found = await store.stats(tenant)

        assert found.work_ready + found.work_later == 20

    async def test_no_tenant_waits_behind_the_backlog_of_another(self, store: Store, tenant: str) -> None:
        """M10, for a node that serves both."""
        other = f"{tenant}-other"
        await store.enqueue([work(tenant, queue=f"q@{tenant}") for _ in range(20)])
        await store.enqueue([work(other, queue=f"q@{other}")])

        async with store.claim([f"q@{tenant}", f"q@{other}"], 4) as claim:
            assert [row.tenant for row in claim.rows].count(other) == 1

    async def test_schedules_keep_their_due_time_when_they_are_put_again(self, store: Store, tenant: str) -> None:
        old = [_schedule(tenant, "a", 10), _schedule(tenant, "b", 20), _schedule(tenant, "gone", 30)]
        await store.put_schedules(tenant, "order", old)
        await store.put_schedules(tenant, "other", [_schedule(tenant, "c", 40, "other")])

        new = [_schedule(tenant, "a", 99), replace(_schedule(tenant, "b", 77), payload=b"changed")]
        await store.put_schedules(tenant, "order", new)

        assert await store.list_schedules(tenant, "order") == [old[0], new[1]]
        assert [row.id for row in await store.list_schedules(tenant)] == ["a", "b", "c"]
        assert [row.id for row in await store.due_schedules(100)] == ["a", "c", "b"]
        assert [row.id for row in await store.due_schedules(1)] == ["a"]

    async def test_schedules_that_are_off_or_not_due_do_not_fire(self, store: Store, tenant: str) -> None:
        off, far = replace(_schedule(tenant, "off", 0), due=None), replace(_schedule(tenant, "far", 0), due=FAR_OFF)

        await store.put_schedules(tenant, "order", [off, far])

        assert list(await store.due_schedules(100)) == []
        assert await store.list_schedules(tenant) == [far, off]

    async def test_dead_letters_are_kept_and_replayed(self, store: Store, tenant: str) -> None:
        rows = [work(tenant, attempts=3, due=later(1), payload=b"poison", instance_id="i") for _ in range(3)]
        await store.enqueue(rows)
        letters = [
            DeadLetterRow(work=row, reason="attempts", died=later(number), error=b"traceback")
            for number, row in enumerate(rows)
        ]

        await committed(
            store,
            *(settlement(tenant, work_consumed=(letter.work.id,), dead_letters=(letter,)) for letter in letters),
        )

        assert await store.list_dead_letters(tenant) == letters[::-1]
        assert await store.list_dead_letters(tenant, limit=1, offset=1) == [letters[1]]
        assert await claimed(store) == []
        assert await store.replay_dead_letters(tenant, [rows[0].id, "unknown"]) == 1
        assert await claimed(store) == [replace(rows[0], attempts=0, due=None)]
        assert await store.delete_dead_letters(tenant, [rows[1].id, rows[0].id]) == 1
        assert await store.list_dead_letters(tenant) == [letters[2]]
        assert (await store.stats(tenant)).dead_letters == 1

    async def test_work_is_found_by_its_instance(self, store: Store, another: Store, tenant: str) -> None:
        rows = [work(tenant, id=f"w{number}", instance_id="i") for number in (2, 1)]
        later_row = work(tenant, id="w3", instance_id="i", due=later(3_600))
        others = [
            work(tenant, id="w4", instance_id="j"),
            work(tenant, id="w5"),
            work(f"{tenant}-2", id="w6", instance_id="i"),
        ]
        await store.enqueue([*rows, later_row, *others])

        assert ids_of(await another.work_of(tenant, "i")) == ["w1", "w2", "w3"]
        assert await store.work_of(tenant, "unknown") == []
        async with store.claim([rows[0].queue], 1):  # A claim does not hide its rows.
            assert ids_of(await another.work_of(tenant, "i")) == ["w1", "w2", "w3"]

    async def test_a_child_is_started_by_a_row_of_its_parents_commit(self, store: Store, tenant: str) -> None:
        """H9: the loser of a version check starts no child."""
        await committed(store, commit_of(instance("parent", tenant=tenant)))
        starts = [
            commit_of(
                instance("parent", 2, tenant=tenant),
                work_added=(work(tenant, id=f"child-{turn}", instance_id="child"),),
            )
            for turn in range(2)
        ]

        outcomes = [(await store.commit([start]))[0] for start in starts]

        assert outcomes[0] == COMMITTED
        assert ids_of(await claimed(store)) == ["child-0"]
        assert await store.versions_of([InstanceKey(tenant, "child")]) == {}


def _schedule(tenant: str, schedule_id: str, due: float, definition_id: str = "order") -> ScheduleRow:
    return ScheduleRow(tenant=tenant, id=schedule_id, definition_id=definition_id, due=later(due), payload=b"0 * * * *")
