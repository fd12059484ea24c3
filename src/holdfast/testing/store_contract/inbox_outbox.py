"""Contract of inbox and outbox: no stimulus and no message is lost or taken twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import permutations

from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit
from holdfast.model.stored import BookmarkQuery, InstanceKey, wake_key
from holdfast.model.work import InboxRow
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
    record,
    stimulus,
    work,
)

PAID = wake_key("Paid")
HOLD = timedelta(minutes=10)


async def mail_of(store: Store, tenant: str, instance_id: str, limit: int = 10) -> list[InboxRow]:
    (mail,) = await store.find_mail([InstanceKey(tenant, instance_id)], limit)
    return list(mail.rows)


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
                    seen_by_parker = len(await mail_of(store, tenant, f"i{number}"))
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
        assert await mail_of(store, tenant, "i") == []

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

        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(bookmark(tenant, "i"),)))
        rows = await mail_of(store, tenant, "i")
        assert rows[0] == early
        assert len(rows) == 2

    async def test_the_inbox_in_a_commit_keeps_a_stimulus_once(self, store: Store, tenant: str) -> None:
        early = stimulus(tenant, instance_id="i")
        await store.put_inbox([early])

        await committed(store, commit_of(instance("i", tenant=tenant), inbox_added=(early, stimulus(tenant))))

        assert await store.inbox_of(tenant, "i") == [early]
        assert (await store.stats(tenant)).inbox == 2

    async def test_which_stimuli_fit_an_instance(self, store: Store, tenant: str) -> None:
        rows = {
            "any": stimulus(tenant, arrived=later(3)),
            "mine": stimulus(tenant, arrived=later(2), instance_id="i"),
            "another's": stimulus(tenant, instance_id="j"),
            "my correlation": stimulus(tenant, arrived=later(1), correlation=7),
            "another correlation": stimulus(tenant, correlation=8),
            "another name": stimulus(tenant, "Other"),
            "expired": stimulus(tenant, expires=LONG_AGO),
            "not expired": stimulus(tenant, arrived=LONG_AGO, expires=FAR_OFF),
            "delayed": stimulus(tenant, due=FAR_OFF),
            "was delayed": stimulus(tenant, due=LONG_AGO),
        }
        await store.put_inbox(list(rows.values()))
        marks = (
            bookmark(tenant, "i", correlation=7, seq=3),
            bookmark(tenant, "i", correlation=7, seq=5),  # A second wait for the same event: no row twice.
            bookmark(tenant, "k"),
            bookmark(tenant, "n", name="Nothing"),
        )
        for name in ("i", "k", "n"):
            own = tuple(mark for mark in marks if mark.instance_id == name)
            await committed(store, commit_of(instance(name, tenant=tenant), bookmarks_added=own))

        found = await store.find_mail([InstanceKey(tenant, name) for name in ("i", "k", "n", "unknown")], 10)

        names = {row.id: name for name, row in rows.items()}
        assert [[names[row.id] for row in mail.rows] for mail in found] == [
            ["any", "mine", "my correlation", "not expired", "was delayed"],
            ["any", "not expired", "was delayed"],
            [],
            [],
        ]
        assert found[0].seen == 5
        assert len(await mail_of(store, tenant, "i", 2)) == 2

    async def test_mail_has_the_order_in_which_it_was_stored(self, store: Store, another: Store, tenant: str) -> None:
        """Rule H16: by several processes, in puts, commits and records, whatever ids and clocks say."""
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=(bookmark(tenant, "i"),)))
        sent = []
        for number in range(40):
            process = (store, another)[number % 2]
            row = stimulus(tenant, id=f"s{97 * number % 40:02}", arrived=later(-number), instance_id="i", address=4)
            sent.append(row.id)
            if number % 4 == 2:
                await process.commit([Commit(burst_id=f"b{number}", tenant=tenant, inbox_added=(row,))])
            elif number % 4 == 3:
                assert await process.put_record(record(tenant, f"r{number}"), (), [row])
            else:
                await process.put_inbox([row])
            if number % 8 == 5:  # Rows that are consumed in between leave no trace in the order.
                await process.commit([Commit(burst_id=f"c{number}", tenant=tenant, inbox_consumed=(sent.pop(0),))])

        assert [row.id for row in await mail_of(another, tenant, "i", 100)] == sent
        assert [row.id for row in await store.inbox_of(tenant, "i")] == sent
        assert [row.id for row, _ in await store.stranded_inbox(100)] == sent

    async def test_an_address_has_mail_while_a_row_waits_there(self, store: Store, another: Store, tenant: str) -> None:
        rows = [
            stimulus(tenant, address=1),
            stimulus(tenant, address=2, due=FAR_OFF),
            stimulus(tenant, address=3, expires=LONG_AGO),
        ]
        asked = [(tenant, number) for number in (1, 2, 3, 4)] + [("another tenant", 1)]
        assert not any(await store.has_mail(asked))

        await another.put_inbox(rows)

        assert list(await store.has_mail(asked)) == [True, False, False, False, False]
        await another.commit([Commit(burst_id="b", tenant=tenant, inbox_consumed=(rows[0].id,))])
        assert not any(await store.has_mail(asked))

    async def test_instances_are_loaded_with_the_answer_about_their_addresses(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        """In the order of the keys, also for instances that do not exist, that are named twice and of other tenants."""
        rows = [instance(name, tenant=tenant) for name in ("a", "b")]
        for row in rows:
            await committed(store, commit_of(row))
        keys = [InstanceKey(tenant, name) for name in ("b", "none", "a", "b")] + [InstanceKey("another tenant", "a")]
        addresses = [2, 1, 3, 1, 1]

        before = await store.load(keys, addresses)
        await another.put_inbox([stimulus(tenant, address=1), stimulus(tenant, address=2, due=FAR_OFF)])
        after = await store.load(keys, addresses)

        assert list(before.mail) == [False] * 5
        assert list(after.mail) == [False, True, False, True, False]
        plain = await store.load(keys)
        assert dict(after.instances) == dict(before.instances) == dict(plain.instances)
        assert sorted(key.id for key in plain.instances) == ["a", "b"]
        assert (after.epoch, list(plain.mail)) == (plain.epoch, [])

    async def test_bookmarks_are_found_with_the_answer_about_an_address(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        """With and without an address and a correlation, for keys with and without bookmarks."""
        marks = tuple(bookmark(tenant, "i", name=name, seq=seq) for seq, name in enumerate(("Paid", "Sent"), start=1))
        await committed(store, commit_of(instance("i", tenant=tenant), bookmarks_added=marks))
        asked = [
            (PAID, 1),
            (wake_key("None"), 1),
            (PAID, 2),
            (PAID, None),
            (wake_key("Sent"), 1),
            (wake_key("None"), 2),
        ]
        queries = [BookmarkQuery(tenant=tenant, key=key, address=address, limit=2) for key, address in asked]
        queries.append(BookmarkQuery(tenant=tenant, key=PAID, address=1, correlation=9))
        queries.append(BookmarkQuery(tenant="another tenant", key=PAID, address=1))

        before = await store.find_bookmarks(queries)
        await another.put_inbox([stimulus(tenant, address=1), stimulus(tenant, address=2, expires=LONG_AGO)])
        after = await store.find_bookmarks(queries)

        assert list(before.mail) == [False] * 8
        assert list(after.mail) == [True, True, False, False, True, False, True, False]
        for found in (before, after):
            names = [[row.type for row in rows] for rows in found.bookmarks]
            assert names == [["Paid"], [], ["Paid"], ["Paid"], ["Sent"], [], [], []]

    async def test_work_beside_kept_stimuli_is_added_once(self, store: Store, another: Store, tenant: str) -> None:
        bell, other = work(tenant, id="bell", queue=tenant), work(tenant, id="other", queue=tenant)
        await store.enqueue([replace(bell, payload=b"first")])

        await asyncio.gather(
            *((store, another)[turn % 2].put_inbox([stimulus(tenant)], [bell, other]) for turn in range(8))
        )

        async with store.claim([tenant], 10) as claim:
            assert {row.id: row.payload for row in claim.rows} == {"bell": b"first", "other": other.payload}
        assert (await store.stats(tenant)).inbox == 8

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

        assert (list(first), list(second)) == ([old], [older])
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
