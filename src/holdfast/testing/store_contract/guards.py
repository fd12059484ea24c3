"""Contract of guards: keys, slots and consumed rows commit or fail together with their burst."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Conflict, ConflictReason
from holdfast.model.guard import activation_slot, idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.model.work import NO_OWNER, EffectRef, Owner, ScheduleRow, ScheduleStep
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, loss_of, lost_among, stored
from holdfast.testing.store_rows import (
    bookmark,
    commit_of,
    effect,
    fresh,
    instance,
    later,
    message,
    settlement,
    stimulus,
    work,
)

KEY = idempotency_key(operation="start", target="order", key="order-1", fingerprint="f1")
SLOT = activation_slot(strategy="singleton", definition_id="order")


class GuardContract(ContractBase):
    async def test_a_key_is_taken_once(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("first", tenant=tenant), guards_taken=(KEY,)))

        loss = await loss_of(store, commit_of(instance("second", tenant=tenant), guards_taken=(KEY,)))

        assert loss == Conflict(reason=ConflictReason.KEY, name=KEY.name, holder="first")
        assert await stored(store, tenant, "second") is None
        row = await store.find_guard(tenant, KEY.ref)
        assert row is not None
        assert (row.instance_id, row.fingerprint, row.released) == ("first", "f1", None)
        assert await store.find_guard(tenant, SLOT.ref) is None

    async def test_a_key_with_another_body_says_so(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("first", tenant=tenant), guards_taken=(KEY,)))
        other = replace(KEY, fingerprint="f2")

        loss = await loss_of(store, commit_of(instance("second", tenant=tenant), guards_taken=(other,)))

        assert loss.other_request

    async def test_a_key_on_a_resume_that_conflicts_is_not_taken(self, store: Store, tenant: str) -> None:
        """E2: the loser's key must not stay, or every retry is refused as a duplicate."""
        key = idempotency_key(operation="resume", target="i", key="k")
        await committed(store, commit_of(instance("i", tenant=tenant)))
        await committed(store, commit_of(instance("i", 2, tenant=tenant)))

        loss = await loss_of(store, commit_of(instance("i", 2, tenant=tenant), guards_taken=(key,)))
        left = await store.find_guard(tenant, key.ref)
        await committed(store, commit_of(instance("i", 3, tenant=tenant), guards_taken=(key,)))
        again = await loss_of(store, commit_of(instance("i", 4, tenant=tenant), guards_taken=(key,)))

        assert (loss.reason, left) == (ConflictReason.VERSION, None)
        assert (again.reason, again.holder) == (ConflictReason.KEY, "i")

    async def test_a_lost_key_keeps_the_version(self, store: Store, tenant: str) -> None:
        await committed(
            store,
            commit_of(instance("holder", tenant=tenant), guards_taken=(KEY,)),
            commit_of(instance("i", tenant=tenant), bookmarks_added=(bookmark(tenant, "i"),)),
        )

        loss = await loss_of(
            store,
            commit_of(
                instance("i", 2, tenant=tenant),
                guards_taken=(SLOT, KEY),
                bookmarks_burned=(bookmark(tenant, "i").ref,),
                outbox_added=(message(tenant),),
            ),
        )

        assert (loss.reason, loss.holder) == (ConflictReason.KEY, "holder")
        assert await store.versions_of([InstanceKey(tenant, "i")]) == {InstanceKey(tenant, "i"): 1}
        assert await store.find_guard(tenant, SLOT.ref) is None
        assert len(await store.bookmarks_of(tenant, "i")) == 1
        assert (await store.stats(tenant)).outbox == 0

    async def test_key_and_slot_on_one_start_with_64_starters(self, store: Store, another: Store, tenant: str) -> None:
        """H6: one instance, one key, one slot. A start that loses either leaves neither."""
        starts = [
            commit_of(
                instance(f"i{number}", tenant=tenant),
                guards_taken=(
                    idempotency_key(operation="start", target="order", key=f"k{number % 8}"),
                    activation_slot(strategy="singleton", definition_id=f"order{number % 3}"),
                ),
                work_added=(work(tenant, id=f"w{number}"),),
            )
            for number in range(64)
        ]

        outcomes = await asyncio.gather(
            *((store if number % 2 else another).commit([start]) for number, start in enumerate(starts))
        )

        winners = [start for start, outcome in zip(starts, outcomes, strict=True) if list(outcome) == [COMMITTED]]
        assert 1 <= len(winners) <= 3
        await self._only_these_exist(store, tenant, starts, winners)
        for start, (outcome,) in zip(starts, outcomes, strict=True):
            if start not in winners:
                assert isinstance(outcome, Conflict), outcome
                assert outcome.reason in {ConflictReason.KEY, ConflictReason.SLOT}
                assert outcome.holder in {_id(winner) for winner in winners}

    async def test_key_and_slot_among_starters_of_one_batch(self, store: Store, tenant: str) -> None:
        starts = [
            commit_of(
                instance(f"i{number}", tenant=tenant),
                guards_taken=(
                    idempotency_key(operation="start", target="order", key=f"k{number % 2}"),
                    activation_slot(strategy="singleton", definition_id=f"order{number % 3}"),
                ),
                work_added=(work(tenant, id=f"w{number}"),),
            )
            for number in range(12)
        ]

        outcomes = await store.commit(starts)

        winners = [start for start, outcome in zip(starts, outcomes, strict=True) if outcome == COMMITTED]
        assert [_id(winner) for winner in winners] == ["i0", "i1"]
        losers = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
        assert [(loser.reason, loser.holder) for loser in losers[:4]] == [
            (ConflictReason.KEY, "i0"),
            (ConflictReason.KEY, "i1"),
            (ConflictReason.KEY, "i0"),
            (ConflictReason.KEY, "i1"),
        ]
        assert len(losers) == 10
        await self._only_these_exist(store, tenant, starts, winners)

    async def _only_these_exist(self, store: Store, tenant: str, starts: list[Commit], winners: list[Commit]) -> None:
        found = await store.versions_of([InstanceKey(tenant, _id(start)) for start in starts])
        assert {key.id for key in found} == {_id(winner) for winner in winners}
        assert (await store.stats(tenant)).work_ready == len(winners)
        taken = {guard.ref for winner in winners for guard in winner.guards_taken}
        for start in starts:
            for guard in start.guards_taken:
                row = await store.find_guard(tenant, guard.ref)
                assert (row is not None) == (guard.ref in taken)
                assert row is None or row.instance_id in {_id(winner) for winner in winners}

    async def test_a_slot_is_given_back_by_the_commit_that_ends_its_instance(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("one", tenant=tenant), guards_taken=(SLOT,)))
        refused = await loss_of(store, commit_of(instance("two", tenant=tenant), guards_taken=(SLOT,)))

        await committed(
            store,
            commit_of(
                instance("one", 2, tenant=tenant, status="finished", finished=later(2)), guards_released=(SLOT.ref,)
            ),
        )
        await committed(store, commit_of(instance("two", tenant=tenant), guards_taken=(SLOT,)))

        assert (refused.reason, refused.holder) == (ConflictReason.SLOT, "one")
        row = await store.find_guard(tenant, SLOT.ref)
        assert row is not None
        assert row.instance_id == "two"

    async def test_a_slot_of_another_instance_is_not_given_back(self, store: Store, tenant: str) -> None:
        await committed(
            store,
            commit_of(instance("one", tenant=tenant), guards_taken=(SLOT,)),
            commit_of(instance("two", tenant=tenant)),
        )

        await committed(store, commit_of(instance("two", 2, tenant=tenant), guards_released=(SLOT.ref,)))

        row = await store.find_guard(tenant, SLOT.ref)
        assert row is not None
        assert row.instance_id == "one"

    async def test_a_slot_moves_in_one_commit(self, store: Store, tenant: str) -> None:
        """Correlate moves the slot of its instance, or loses (M2)."""
        old = activation_slot(strategy="correlation", definition_id="order", correlation_id="a")
        new = activation_slot(strategy="correlation", definition_id="order", correlation_id="b")
        await committed(store, commit_of(instance("i", tenant=tenant), guards_taken=(old,)))

        await committed(
            store, commit_of(instance("i", 2, tenant=tenant), guards_released=(old.ref,), guards_taken=(new,))
        )

        assert await store.find_guard(tenant, old.ref) is None
        assert await store.find_guard(tenant, new.ref) is not None

    async def test_a_work_row_is_consumed_once(self, store: Store, another: Store, tenant: str) -> None:
        """Two nodes read the same start row: one instance, one id."""
        row = work(tenant)
        await store.enqueue([row])

        outcomes = await asyncio.gather(
            *(
                handle.commit([commit_of(instance(fresh("i"), tenant=tenant), work_consumed=(row.id,))])
                for handle in (store, another) * 8
            )
        )

        assert sum(list(outcome) == [COMMITTED] for outcome in outcomes) == 1
        assert {outcome.reason for (outcome,) in outcomes if isinstance(outcome, Conflict)} == {ConflictReason.WORK}
        assert sum((await store.stats(tenant)).instances.values()) == 1

    async def test_a_row_consumed_twice_in_a_batch_has_one_winner(self, store: Store, tenant: str) -> None:
        row, early = work(tenant), stimulus(tenant)
        await store.enqueue([row])
        await store.put_inbox([early])

        works = await store.commit(
            [commit_of(instance(name, tenant=tenant), work_consumed=(row.id,)) for name in ("a", "b")]
        )
        inboxes = await store.commit(
            [commit_of(instance(name, tenant=tenant), inbox_consumed=(early.id,)) for name in ("c", "d")]
        )

        assert (works[0], lost_among(works).reason) == (COMMITTED, ConflictReason.WORK)
        assert (inboxes[0], lost_among(inboxes).reason) == (COMMITTED, ConflictReason.INBOX)
        assert sorted(key.id for key in await _existing(store, tenant, "abcd")) == ["a", "c"]

    async def test_a_refused_start_still_consumes_its_row(self, store: Store, tenant: str) -> None:
        row = work(tenant)
        await store.enqueue([row])
        await committed(store, commit_of(instance("first", tenant=tenant), guards_taken=(KEY,)))

        loss = await loss_of(
            store, commit_of(instance("second", tenant=tenant), guards_taken=(KEY,), work_consumed=(row.id,))
        )
        await committed(store, settlement(tenant, work_consumed=(row.id,)))

        assert loss.holder == "first"
        assert (await store.stats(tenant)).work_ready == 0

    async def test_a_dropped_timer_is_no_guard(self, store: Store, tenant: str) -> None:
        timer = work(tenant, kind="timer", due=later(100))
        await store.enqueue([timer])

        await committed(store, commit_of(instance("i", tenant=tenant), work_dropped=(timer.id, "gone already")))

        figures = await store.stats(tenant)
        assert figures.work_ready + figures.work_later == 0

    async def test_timer_against_event(self, store: Store, another: Store, tenant: str) -> None:
        """E4: the event's commit drops the timer while the timer's claim is open. One of them wins, and neither blocks."""
        for number in range(20):
            name, mark = f"i{number}", bookmark(tenant, f"i{number}")
            timer = work(tenant, kind="timer", due=later(0), instance_id=name, bookmark_seq=mark.seq)
            await committed(
                store, commit_of(instance(name, tenant=tenant), bookmarks_added=(mark,), work_added=(timer,))
            )
            burst = {"bookmarks_burned": (mark.ref,)}
            timeout = commit_of(instance(name, 2, tenant=tenant), work_consumed=(timer.id,), **burst)
            event = commit_of(instance(name, 2, tenant=tenant), work_dropped=(timer.id,), **burst)

            async with asyncio.timeout(20):
                first, second = await asyncio.gather(_claimed_commit(store, timeout), another.commit([event]))

            assert [*first, *second].count(COMMITTED) == 1
            assert await store.versions_of([InstanceKey(tenant, name)]) == {InstanceKey(tenant, name): 2}
            assert list(await store.bookmarks_of(tenant, name)) == []
            await _claimed_commit(store, settlement(tenant, work_consumed=(timer.id,)))
            assert (await store.stats(tenant)).work_ready == 0

    async def test_a_result_counts_only_for_its_attempt_and_owner(self, store: Store, tenant: str) -> None:
        """A late result of a node presumed dead is dropped; the result of the new owner counts."""
        dead, alive = Owner("n1", 1), Owner("n2", 2)
        row = effect(tenant, "i", 1, owner=dead)
        await committed(store, commit_of(instance("i", tenant=tenant), effects_added=(row,)))
        moved = await store.move_effect(tenant, "i", row.ref, EffectRef(1, 2, alive))
        assert moved is not None

        for wrong in (row.ref, EffectRef(1, 2, Owner("n2", 1)), EffectRef(1, 1, alive), EffectRef(9, 1, NO_OWNER)):
            loss = await loss_of(store, commit_of(instance("i", 2, tenant=tenant), effects_consumed=(wrong,)))
            assert loss.reason is ConflictReason.EFFECT

        await committed(store, commit_of(instance("i", 2, tenant=tenant), effects_consumed=(moved.ref,)))
        assert list(await store.effects_of(tenant, "i")) == []

    async def test_a_result_that_does_not_count_costs_its_neighbors_nothing(self, store: Store, tenant: str) -> None:
        """One batch: an effect that was taken over, an instance that moved on, and two valid results."""
        mine, names = Owner("n1", 1), ("a", "b", "c", "d")
        rows = {name: effect(tenant, name, 1, owner=mine) for name in names}
        for name, row in rows.items():
            await committed(store, commit_of(instance(name, tenant=tenant), effects_added=(row,)))
        await store.move_effect(tenant, "b", rows["b"].ref, EffectRef(1, 2, Owner("n2", 1)))
        await committed(store, commit_of(instance("c", 2, tenant=tenant)))
        after = {name: effect(tenant, name, 2, owner=mine) for name in names}

        outcomes = await store.commit([
            commit_of(instance(name, 2, tenant=tenant), effects_consumed=(row.ref,), effects_added=(after[name],))
            for name, row in rows.items()
        ])  # fmt: skip

        assert [item is COMMITTED for item in outcomes] == [True, False, False, True]
        found = {name: [row.execution for row in await store.effects_of(tenant, name)] for name in names}
        assert found == {"a": [2], "b": [1], "c": [1], "d": [2]}

    async def test_a_retry_is_the_same_row_with_a_new_attempt(self, store: Store, tenant: str) -> None:
        row = effect(tenant, "i", 1, owner=Owner("n1", 1))
        await committed(store, commit_of(instance("i", tenant=tenant), effects_added=(row,)))
        again = replace(row, attempt=2, owner=NO_OWNER)

        await committed(
            store,
            commit_of(instance("i", 2, tenant=tenant), effects_consumed=(row.ref,), effects_added=(again,)),
        )

        assert await store.effects_of(tenant, "i") == [again]

    async def test_a_schedule_fires_once(self, store: Store, another: Store, tenant: str) -> None:
        """M20: the start and the next due time are one commit. Two nodes that read the same row start once."""
        row = ScheduleRow(tenant=tenant, id="s", definition_id="order", due=later(0), payload=b"cron")
        await store.put_schedules(tenant, "order", [row])

        def firing(name: str) -> Commit:
            step = ScheduleStep("s", later(0), later(60))
            return commit_of(instance(name, tenant=tenant), schedules_fired=(step,))

        outcomes = await asyncio.gather(store.commit([firing("a")]), another.commit([firing("b")]))

        assert sum(list(outcome) == [COMMITTED] for outcome in outcomes) == 1
        assert lost_among([outcome for (outcome,) in outcomes]).reason is ConflictReason.SCHEDULE
        assert await store.list_schedules(tenant) == [replace(row, due=later(60), fired=later(0))]

    async def test_a_key_outlives_its_instance(self, store: Store, tenant: str) -> None:
        """M4: a late retry gets the instance id and the information that it was deleted."""
        row = instance("i", tenant=tenant, status="finished", finished=later(1))
        await committed(store, commit_of(row, guards_taken=(KEY, SLOT)))
        assert await store.sweep_keys(timedelta(days=36500), 100) == 0

        await store.delete_instances(tenant, ["i"])

        kept = await store.find_guard(tenant, KEY.ref)
        assert kept is not None
        assert kept.released is not None
        assert await store.find_guard(tenant, SLOT.ref) is None
        loss = await loss_of(store, commit_of(instance("j", tenant=tenant), guards_taken=(KEY,)))
        assert loss.holder == "i"
        assert await store.sweep_keys(timedelta(days=7), 100) == 0
        assert await store.sweep_keys(timedelta(seconds=-60), 100) == 1
        await committed(store, commit_of(instance("j", tenant=tenant), guards_taken=(KEY,)))

    async def test_keys_of_live_instances_stay(self, store: Store, tenant: str) -> None:
        done = idempotency_key(operation="start", target="order", key="done")
        await committed(
            store,
            commit_of(instance("lives", tenant=tenant), guards_taken=(KEY, SLOT)),
            commit_of(instance("done", tenant=tenant, status="finished", finished=later(1)), guards_taken=(done,)),
        )

        assert await store.sweep_keys(timedelta(0), 100) == 1

        assert await store.find_guard(tenant, KEY.ref) is not None
        assert await store.find_guard(tenant, SLOT.ref) is not None
        assert await store.find_guard(tenant, done.ref) is None


def _id(commit: Commit) -> str:
    assert commit.instance is not None
    return commit.instance.id


async def _existing(store: Store, tenant: str, names: str) -> list[InstanceKey]:
    return list(await store.versions_of([InstanceKey(tenant, name) for name in names]))


async def _claimed_commit(store: Store, commit: Commit) -> list[CommitOutcome]:
    """Commit under a claim, if the claim has rows."""
    async with store.claim(["default"], 10) as claim:
        return list(await claim.commit([commit])) if claim.rows else []
