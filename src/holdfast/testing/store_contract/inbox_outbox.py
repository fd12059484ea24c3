"""Contract of inbox and outbox: no stimulus and no message is lost or taken twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import permutations

from msgspec.structs import replace

from holdfast.model.commit import COMMITTED
from holdfast.model.stored import BookmarkQuery, wake_key
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import (
    FAR_OFF,
    LONG_AGO,
    bookmark,
    commit_of,
    ids_of,
    instance,
    later,
    message,
    stimulus,
)

PAID = wake_key("Paid")
HOLD = timedelta(minutes=10)


class InboxOutboxContract(ContractBase):
    async def test_early_stimulus_against_parking_in_every_order(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        """E3b: both sides write, commit, then look. In every order, one of them sees the other."""
        for number, order in enumerate(sorted(set(permutations("ppss")))):
            mark = bookmark(tenant, f"i{number}", name=f"Event{number}")
            early = stimulus(tenant, f"Event{number}")
            seen_by_parker = seen_by_sender = 0
            parked = sent = False
            for side in order:
                if side == "p" and not parked:
                    await committed(store, commit_of(instance(f"i{number}", tenant=tenant), bookmarks_added=(mark,)))
                    parked = True
                elif side == "p":
                    seen_by_parker = len((await store.find_inbox([mark]))[0])
                elif not sent:
                    assert list(await another.put_inbox([early])) == [True]
                    sent = True
                else:
                    query = BookmarkQuery(tenant=tenant, key=mark.key)
                    seen_by_sender = len((await another.find_bookmarks([query])).bookmarks[0])
            assert seen_by_parker or seen_by_sender, order

    async def test_an_early_stimulus_is_consumed_once(self, store: Store, another: Store, tenant: str) -> None:
        """Both sides saw each other and both run: one commit takes the stimulus."""
        mark, early = bookmark(tenant, "i"), stimulus(tenant)
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(mark,)))
        await store.put_inbox([early])
        resume = [
            commit_of(instance("i", 2, tenant=tenant), bookmarks_burned=(mark.ref,), inbox_consumed=(early.id,))
            for _ in range(2)
        ]

        outcomes = await asyncio.gather(store.commit([resume[0]]), another.commit([resume[1]]))

        assert sum(list(outcome) == [COMMITTED] for outcome in outcomes) == 1
        assert await store.find_inbox([mark]) == [[]]

    async def test_two_stimuli_for_two_waiters_of_one_name_each_wake_one(self, store: Store, tenant: str) -> None:
        """The oldest waiter first, each once. A third stimulus finds no waiter."""
        marks = [bookmark(tenant, name, created=later(-number)) for number, name in enumerate(("young", "old"))]
        for mark in marks:
            row = instance(mark.instance_id, tenant=tenant)
            await committed(store, commit_of(row, bookmarks_added=(mark,)))
        woken: list[str] = []

        for _ in range(3):
            found = await store.find_bookmarks([BookmarkQuery(tenant=tenant, key=PAID)])
            for mark in found.bookmarks[0]:
                row = instance(mark.instance_id, 2, tenant=tenant)
                await committed(store, commit_of(row, bookmarks_burned=(mark.ref,)))
                woken.append(mark.instance_id)

        assert woken == ["old", "young"]

    async def test_a_stimulus_is_kept_once(self, store: Store, tenant: str) -> None:
        early = stimulus(tenant)

        assert list(await store.put_inbox([early])) == [True]
        assert list(await store.put_inbox([replace(early, payload=b"again"), stimulus(tenant)])) == [False, True]

        rows = (await store.find_inbox([bookmark(tenant, "i")]))[0]
        assert rows[0] == early
        assert len(rows) == 2

    async def test_the_inbox_in_a_commit_keeps_a_stimulus_once(self, store: Store, tenant: str) -> None:
        early = stimulus(tenant, instance_id="i")
        await store.put_inbox([early])

        await committed(store, commit_of(instance("i", tenant=tenant), inbox_added=(early, stimulus(tenant))))

        assert await store.inbox_of(tenant, "i") == [early]
        assert (await store.stats(tenant)).inbox == 2

    async def test_which_stimuli_fit_a_bookmark(self, store: Store, tenant: str) -> None:
        rows = {
            "any": stimulus(tenant, arrived=later(3)),
            "mine": stimulus(tenant, arrived=later(2), instance_id="i"),
            "another's": stimulus(tenant, instance_id="j"),
            "my correlation": stimulus(tenant, arrived=later(1), correlation=7),
            "another correlation": stimulus(tenant, correlation=8),
            "another name": stimulus(tenant, "Other"),
            "expired": stimulus(tenant, expires=LONG_AGO),
            "not expired": stimulus(tenant, arrived=later(4), expires=FAR_OFF),
        }
        await store.put_inbox(list(rows.values()))
        mine = bookmark(tenant, "i", correlation=7)
        plain = bookmark(tenant, "k")

        found = await store.find_inbox([mine, plain, bookmark(tenant, "i", name="Nothing")])

        names = {row.id: name for name, row in rows.items()}
        assert [[names[row.id] for row in each] for each in found] == [
            ["my correlation", "mine", "any", "not expired"],
            ["any", "not expired"],
            [],
        ]

    async def test_stimuli_and_bookmarks_that_missed_each_other_are_swept(self, store: Store, tenant: str) -> None:
        """Both sides died between commit and look."""
        mark, lost = bookmark(tenant, "i", correlation=7), stimulus(tenant, correlation=7)
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(mark,)))
        others = [
            stimulus(tenant, "No waiter"),
            stimulus(tenant, correlation=8),
            stimulus(tenant, instance_id="j"),
            stimulus(tenant, expires=LONG_AGO),
        ]
        await store.put_inbox([*others, lost])

        assert await store.stranded_inbox(100) == [(lost, mark)]

    async def test_expired_stimuli_are_reported_and_deleted(self, store: Store, tenant: str) -> None:
        old, older = stimulus(tenant, expires=later(5), arrived=later(2)), stimulus(tenant, expires=LONG_AGO)
        kept = [stimulus(tenant), stimulus(tenant, expires=FAR_OFF)]
        await store.put_inbox([old, *kept, older])

        first = await store.expire_inbox(1)
        second = await store.expire_inbox(100)

        assert (list(first), list(second)) == ([older], [old])
        assert (await store.stats(tenant)).inbox == 2
        assert list(await store.expire_inbox(100)) == []

    async def test_the_outbox_is_drained_by_deletion(self, store: Store, another: Store, tenant: str) -> None:
        rows = tuple(message(tenant, created=later(number), instance_id="i") for number in (3, 1, 2))
        await committed(store, commit_of(instance("i", tenant=tenant), outbox_added=rows))

        first = await store.take_outbox(2, HOLD)
        second = await another.take_outbox(10, HOLD)

        assert [ids_of(first), ids_of(second)] == [[rows[1].id, rows[2].id], [rows[0].id]]
        assert first[0] == replace(rows[1], attempts=1)
        assert list(await store.take_outbox(10, HOLD)) == []
        await store.delete_outbox(first)
        assert (await store.stats(tenant)).outbox == 1

    async def test_a_relay_that_dies_loses_nothing(self, store: Store, another: Store, tenant: str) -> None:
        """Taken and never deleted: after its hold expires, another relay takes it with the same id."""
        row = message(tenant)
        await committed(store, commit_of(instance("i", tenant=tenant), outbox_added=(row,)))

        taken = await store.take_outbox(10, timedelta(seconds=-1))
        again = await another.take_outbox(10, HOLD)

        assert [(one.id, one.attempts) for one in (*taken, *again)] == [(row.id, 1), (row.id, 2)]

    async def test_undelivered_messages_come_back(self, store: Store, tenant: str) -> None:
        await committed(store, commit_of(instance("i", tenant=tenant), outbox_added=(message(tenant), message(tenant))))
        soon, late = await store.take_outbox(10, HOLD)

        await store.return_outbox([soon], timedelta(seconds=-1))
        await store.return_outbox([late], HOLD)

        assert [(row.id, row.attempts) for row in await store.take_outbox(10, HOLD)] == [(soon.id, 2)]

    async def test_relays_at_once_take_different_rows(self, store: Store, another: Store, tenant: str) -> None:
        rows = tuple(message(tenant) for _ in range(60))
        await committed(store, commit_of(instance("i", tenant=tenant), outbox_added=rows))

        taken = await asyncio.gather(*((store, another)[turn % 2].take_outbox(10, HOLD) for turn in range(12)))

        ids = [row.id for part in taken for row in part]
        assert len(ids) == len(set(ids))
