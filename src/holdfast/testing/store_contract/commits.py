"""Contract of the commit: atomic per instance, one transaction per batch, and a reason for each conflict."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.errors import BatchRefused
from holdfast.model.commit import COMMITTED, Committed, Conflict, ConflictReason, Failed
from holdfast.model.stored import InstanceKey, wake_key
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, loss_of, lost_among, stored
from holdfast.testing.store_rows import (
    AT,
    bookmark,
    commit_of,
    effect,
    fresh,
    incident,
    instance,
    later,
    message,
    segment,
    settlement,
    stimulus,
    value,
    work,
)


class CommitContract(ContractBase):
    async def test_everything_of_a_commit_is_read_back_as_it_was(self, store: Store, tenant: str) -> None:
        row = instance(
            "all",
            tenant=tenant,
            status="finished",
            correlation_id="Bestellung Nr. 5 ä€😀",
            name="Größe",
            parent_id="parent",
            system=True,
            incidents=1,
            finished=later(9),
            state=bytes(range(256)) * 40,
        )
        given = commit_of(
            row,
            bookmarks_added=(bookmark(tenant, "all", 7, correlation=-(2**63), key=2**63 - 1),),
            effects_added=(effect(tenant, "all", 3, attempt=2, queue="gpu", on_lost="hold", deadline=later(5)),),
            incidents_added=(incident(tenant, "all", id="in-1", activity_id="charge"),),
            values_added=(value(tenant, "all", "items/1", b"\x00large" * 2000),),
        )

        await committed(store, given)

        assert await stored(store, tenant, "all") == row
        assert await store.bookmarks_of(tenant, "all") == list(given.bookmarks_added)
        assert await store.effects_of(tenant, "all") == list(given.effects_added)
        assert await store.list_incidents(tenant, instance_id="all") == list(given.incidents_added)
        assert await store.load_values(tenant, "all", ["items/1", "nothing"]) == {"items/1": b"\x00large" * 2000}
        assert await store.read_journal(tenant, "all") == [given.journal]

    async def test_versions_follow_each_other(self, store: Store, tenant: str) -> None:
        for version in (1, 2, 3):
            await committed(store, commit_of(instance("i", version, tenant=tenant)))

        row = await stored(store, tenant, "i")

        assert row is not None
        assert (row.version, row.state) == (3, b"state 3")
        assert [each.version for each in await store.read_journal(tenant, "i")] == [1, 2, 3]
        assert [each.version for each in await store.read_journal(tenant, "i", after=1, limit=1)] == [2]

    @pytest.mark.parametrize(
        "changes",
        [{}, {"data": b"j" * 3000}, {"written": later(4)}, {"first": 3}, {"count": 0, "data": b""}],
        ids=["as ever", "large", "written later", "counted from 3", "empty"],
    )
    async def test_the_first_segment_stays_as_it_was(
        self, store: Store, another: Store, tenant: str, changes: Mapping[str, Any]
    ) -> None:
        """Regardless of its layout and of later segments."""
        row = instance("i", tenant=tenant, updated=later(1))
        ours = commit_of(row, journal=replace(segment(row), **changes))
        await committed(store, ours)
        alone = await store.read_journal(tenant, "i")
        for version in (2, 3):
            await committed(another, commit_of(instance("i", version, tenant=tenant, updated=later(version))))

        exported = await store.export_instance(tenant, "i")

        assert exported is not None
        assert exported.journal[0] == ours.journal
        assert [each.version for each in exported.journal] == [1, 2, 3]
        assert alone == [each for each in exported.journal[:1] if each.count]
        assert await store.read_journal(tenant, "i") == [each for each in exported.journal if each.count]
        assert len(await store.read_journal(tenant, "i", limit=1)) == 1
        assert list(await store.commit([ours])) == [COMMITTED]  # retry of the same commit

    async def test_a_lost_version_check_writes_nothing(self, store: Store, tenant: str) -> None:
        await committed(
            store,
            commit_of(instance("i", tenant=tenant), bookmarks_added=(bookmark(tenant, "i"),)),
            commit_of(instance("other", tenant=tenant)),
        )
        await committed(store, commit_of(instance("i", 2, tenant=tenant)))
        late = commit_of(
            instance("i", 2, tenant=tenant, state=b"late"),
            bookmarks_burned=(bookmark(tenant, "i").ref,),
            bookmarks_added=(bookmark(tenant, "i", 2),),
            work_added=(work(tenant, id="late"),),
            outbox_added=(message(tenant),),
            effects_added=(effect(tenant, "i"),),
            values_added=(value(tenant, "i", "late"),),
            inbox_added=(stimulus(tenant, instance_id="i"),),
        )

        outcomes = await store.commit([late, commit_of(instance("other", 2, tenant=tenant))])

        assert lost_among(outcomes) == Conflict(reason=ConflictReason.VERSION, name="i", version=2)
        assert outcomes[1] == COMMITTED
        row = await stored(store, tenant, "i")
        assert row is not None
        assert row.state == b"state 2"
        assert [mark.seq for mark in await store.bookmarks_of(tenant, "i")] == [1]
        figures = await store.stats(tenant)
        assert (figures.work_ready, figures.outbox, figures.effects, figures.inbox) == (0, 0, 0, 0)
        assert await store.load_values(tenant, "i", ["late"]) == {}

    async def test_a_version_that_skips_one_loses(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("i", tenant=tenant)))

        assert (await loss_of(store, commit_of(instance("i", 3, tenant=tenant)))).version == 1

    async def test_a_version_of_an_instance_that_is_gone_loses(self, store: Store, tenant: str) -> None:
        loss = await loss_of(store, commit_of(instance("i", 2, tenant=tenant)))

        assert loss == Conflict(reason=ConflictReason.VERSION, name="i", version=0)

    async def test_an_instance_is_created_once(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("i", tenant=tenant)))

        loss = await loss_of(store, commit_of(instance("i", tenant=tenant, state=b"again")))

        assert loss == Conflict(reason=ConflictReason.EXISTS, name="i", version=1)

    async def test_a_batch_that_names_an_instance_twice_is_refused(self, store: Store, tenant: str) -> None:
        """E1: two stimuli for two bookmarks of one instance, both computed from the same version."""
        marks = (bookmark(tenant, "i", 1, "A"), bookmark(tenant, "i", 2, "B"))
        await committed(
            store,
            commit_of(instance("i", tenant=tenant), bookmarks_added=marks),
            commit_of(instance("j", tenant=tenant)),
        )
        both = [
            commit_of(instance("i", 2, tenant=tenant), bookmarks_burned=(mark.ref,), outbox_added=(message(tenant),))
            for mark in marks
        ]

        with pytest.raises(BatchRefused, match="twice"):
            await store.commit([commit_of(instance("j", 2, tenant=tenant)), *both])

        assert await store.versions_of([InstanceKey(tenant, "i"), InstanceKey(tenant, "j")]) == {
            InstanceKey(tenant, "i"): 1,
            InstanceKey(tenant, "j"): 1,
        }
        assert len(await store.bookmarks_of(tenant, "i")) == 2
        assert (await store.stats(tenant)).outbox == 0

    async def test_a_commit_of_two_tenants_is_refused(self, store: Store, tenant: str) -> None:
        with pytest.raises(BatchRefused, match="one tenant"):
            await store.commit([commit_of(instance("i", tenant=tenant), work_added=(work("another tenant"),))])

    async def test_an_empty_batch_is_nothing(self, store: Store) -> None:
        assert list(await store.commit([])) == []

    async def test_the_same_commit_sent_again_is_committed_once(self, store: Store, tenant: str) -> None:
        """M3: the connection broke, the outcome is unknown, and the commit is retried."""
        first = commit_of(instance("i", tenant=tenant), work_added=(work(tenant, id="once"),))
        await committed(store, first)

        assert list(await store.commit([first])) == [COMMITTED]

        assert (await store.stats(tenant)).work_ready == 1

    async def test_an_unknown_outcome_with_a_commit_in_between(self, store: Store, another: Store, tenant: str) -> None:
        """M3: our commit succeeded without a response, then another burst committed. Our retry does not lose."""
        await committed(store, commit_of(instance("i", tenant=tenant)))
        ours = commit_of(instance("i", 2, tenant=tenant), outbox_added=(message(tenant),))
        await committed(store, ours)
        await committed(another, commit_of(instance("i", 3, tenant=tenant)))
        await committed(another, commit_of(instance("i", 4, tenant=tenant), journal=None))

        assert list(await store.commit([ours])) == [COMMITTED]

        row = await stored(store, tenant, "i")
        assert row is not None
        assert row.version == 4
        assert (await store.stats(tenant)).outbox == 1

    async def test_an_unknown_outcome_without_journal(self, store: Store, another: Store, tenant: str) -> None:
        ours = commit_of(instance("i", tenant=tenant), journal=None)
        await committed(store, ours)
        await committed(another, commit_of(instance("i", 2, tenant=tenant), journal=None))

        assert list(await store.commit([ours])) == [COMMITTED]
        assert list(await store.read_journal(tenant, "i")) == []

    async def test_another_burst_of_the_same_version_is_a_loser(self, store: Store, tenant: str) -> None:
        ours = commit_of(instance("i", tenant=tenant))
        await committed(store, ours)
        other = instance("i", tenant=tenant)

        assert (await loss_of(store, commit_of(other))).reason is ConflictReason.EXISTS

    async def test_a_poison_burst_fails_alone(self, store: Store, tenant: str) -> None:
        twice = work(tenant)
        batch = [commit_of(instance(f"i{number}", tenant=tenant)) for number in range(9)]
        batch[4] = replace(batch[4], work_added=(twice, twice))

        outcomes = await store.commit(batch)

        assert isinstance(outcomes[4], Failed)
        assert [type(outcome) for outcome in outcomes].count(Committed) == 8
        found = await store.versions_of([InstanceKey(tenant, f"i{number}") for number in range(9)])
        assert sorted(key.id for key in found) == [f"i{number}" for number in range(9) if number != 4]
        assert (await store.stats(tenant)).work_ready == 0

    async def test_bookmarks_are_burned_and_rewritten_in_one_commit(self, store: Store, tenant: str) -> None:
        """Correlate rewrites its bookmarks with the new correlation id (M5)."""
        old = bookmark(tenant, "i", 1, correlation=5)
        kept = bookmark(tenant, "i", 2, "Other")
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(old, kept)))
        new = replace(old, correlation=6)

        await committed(
            store,
            commit_of(instance("i", 2, tenant=tenant), bookmarks_burned=(old.ref,), bookmarks_added=(new,)),
        )

        assert await store.bookmarks_of(tenant, "i") == [new, kept]

    async def test_incidents_are_added_and_resolved(self, store: Store, tenant: str) -> None:
        first, second = incident(tenant, "i", occurred=later(1)), incident(tenant, "i", occurred=later(2))
        await committed(store, commit_of(instance("i", tenant=tenant), incidents_added=(first, second)))

        await committed(store, commit_of(instance("i", 2, tenant=tenant), incidents_resolved=(first.id,)))

        assert await store.list_incidents(tenant) == [second]
        everything = await store.list_incidents(tenant, instance_id="i", only_open=False)
        assert everything == [second, replace(first, open=False)]
        assert await store.list_incidents(tenant, instance_id="another") == []

    async def test_values_are_written_once_and_dropped(self, store: Store, tenant: str) -> None:
        first, second = value(tenant, "i", "a"), value(tenant, "i", "b", b"")
        await committed(store, commit_of(instance("i", tenant=tenant), values_added=(first, second)))

        again = await store.commit([commit_of(instance("i", 2, tenant=tenant), values_added=(first,))])
        await committed(store, commit_of(instance("i", 2, tenant=tenant), values_dropped=("a",)))

        assert isinstance(again[0], Failed)
        assert await store.load_values(tenant, "i", ["a", "b"]) == {"b": b""}

    async def test_commits_at_once_all_arrive(self, store: Store, another: Store, tenant: str) -> None:
        """Group commit: many callers, two handles on the database; each commit is durable."""
        batches = [[commit_of(instance(f"i{number}", tenant=tenant))] for number in range(100)]

        outcomes = await asyncio.gather(
            *((store if number % 2 else another).commit(batch) for number, batch in enumerate(batches))
        )

        assert all(list(outcome) == [COMMITTED] for outcome in outcomes)
        keys = [InstanceKey(tenant, f"i{number}") for number in range(100)]
        assert len(await store.versions_of(keys)) == 100

    async def test_of_racing_versions_one_wins(self, store: Store, another: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("i", tenant=tenant)))

        outcomes = await asyncio.gather(
            *(
                (store if number % 2 else another).commit(
                    [commit_of(instance("i", 2, tenant=tenant), outbox_added=(message(tenant),))]
                )
                for number in range(20)
            )
        )

        assert sum(list(outcome) == [COMMITTED] for outcome in outcomes) == 1
        assert (await store.stats(tenant)).outbox == 1

    async def test_a_hundred_stimuli_for_a_hundred_bookmarks(self, store: Store, another: Store, tenant: str) -> None:
        """H5: 100 stimuli for one instance, sent concurrently by several tasks, all arrive."""
        marks = tuple(bookmark(tenant, "i", seq, f"Line{seq}") for seq in range(100))
        await committed(store, commit_of(instance("i", tenant=tenant, state=b""), bookmarks_added=marks))

        async def send(seq: int) -> None:
            handle = store if seq % 3 else another
            while True:
                row = await stored(handle, tenant, "i")
                assert row is not None
                state = row.state + bytes([seq])
                update = instance("i", row.version + 1, tenant=tenant, state=state)
                outcome = (await handle.commit([commit_of(update, bookmarks_burned=(marks[seq].ref,))]))[0]
                if isinstance(outcome, Committed):
                    return
                await asyncio.sleep(0)

        await asyncio.gather(*(send(seq) for seq in range(100)))

        row = await stored(store, tenant, "i")
        assert row is not None
        assert (row.version, sorted(row.state)) == (101, list(range(100)))
        assert list(await store.bookmarks_of(tenant, "i")) == []

    async def test_a_commit_without_an_instance_settles_rows(self, store: Store, tenant: str) -> None:
        job = work(tenant)
        await store.enqueue([job])
        pages = tuple(work(tenant, kind="stimulus") for _ in range(3))

        await committed(store, settlement(tenant, work_consumed=(job.id,), work_added=pages))
        loss = await loss_of(store, settlement(tenant, work_consumed=(job.id,), work_added=(work(tenant),)))

        assert (loss.reason, loss.name) == (ConflictReason.WORK, job.id)
        assert (await store.stats(tenant)).work_ready == 3

    async def test_a_large_batch_of_large_states(self, store: Store, tenant: str) -> None:
        batch = [
            commit_of(
                instance(f"i{number}", tenant=tenant, state=bytes([number % 256]) * 50_000, correlation_id=fresh()),
                bookmarks_added=(bookmark(tenant, f"i{number}", created=AT),),
            )
            for number in range(130)
        ]

        await committed(store, *batch)

        found = await store.load([InstanceKey(tenant, f"i{number}") for number in range(130)])
        assert {row.id: row.state[:1] for row in found.instances.values()} == {
            f"i{number}": bytes([number % 256]) for number in range(130)
        }
        assert wake_key("Paid") == batch[0].bookmarks_added[0].key
