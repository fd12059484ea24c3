"""Contract of several processes on one database, with real processes that are started and killed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import StoreClosed
from holdfast.model.guard import idempotency_key
from holdfast.model.stored import BookmarkQuery, InstanceKey, wake_key
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed, stored
from holdfast.testing.store_process import answer_of, start
from holdfast.testing.store_rows import bookmark, commit_of, instance, work

TENANT = "acme"
DEADLY = ["commit.begin", "commit.locked", "commit.written", "commit.done"]


class ProcessContract(ContractBase):
    @pytest.fixture
    def url(self) -> str:
        """The address of the store's database, for other processes."""
        raise NotImplementedError("provide the fixture `url`: the address of the store's database")

    async def test_a_store_that_is_not_open_says_so(self, url: str, another: Store) -> None:
        await another.close()

        for closed in (store_from_url(url), another):
            for call in (
                closed.load([]),
                closed.commit([commit_of(instance("i"))]),
                closed.enqueue([work(TENANT)]),
                closed.wait_for_change(0, timedelta(0)),
            ):
                with pytest.raises(StoreClosed, match=r"await store\.open\(\)"):
                    await call

    async def test_a_hundred_stimuli_from_three_processes_all_arrive(self, url: str, store: Store) -> None:
        """H5: 100 bookmarks of one instance, at most 100 versions."""
        marks = [bookmark(TENANT, "i", seq, f"Line{seq}") for seq in range(100)]
        await committed(store, commit_of(instance("i", tenant=TENANT, state=b""), bookmarks_added=tuple(marks)))

        senders = [
            start(
                "send_stimuli",
                url,
                tenant=TENANT,
                instance_id="i",
                seqs=[mark.seq for mark in marks[part::3]],
                refs=[list(mark.ref) for mark in marks[part::3]],
            )
            for part in range(3)
        ]
        answers = await asyncio.gather(*(asyncio.to_thread(answer_of, sender) for sender in senders))

        assert all(answer is not None for answer in answers)
        row = await stored(store, TENANT, "i")
        assert row is not None
        assert (sorted(row.state), row.version) == (list(range(100)), 101)
        assert list(await store.bookmarks_of(TENANT, "i")) == []

    async def test_three_processes_drain_a_queue_and_do_each_row_once(self, url: str, store: Store) -> None:
        await store.enqueue([work(TENANT, id=f"w{number}") for number in range(200)])

        drains = [start("drain", url, tenant=TENANT, prefix=f"p{number}") for number in range(3)]
        answers: list[Any] = await asyncio.gather(*(asyncio.to_thread(answer_of, each) for each in drains))

        done = [name for answer in answers for name in answer["done"]]
        assert sorted(done) == sorted(f"w{number}" for number in range(200))
        assert sum((await store.stats(TENANT)).instances.values()) == 200

    async def test_work_in_the_hands_of_a_process_that_dies_is_done_by_another(self, url: str, store: Store) -> None:
        await store.enqueue([work(TENANT, id=f"w{number}") for number in range(10)])

        dead = await asyncio.to_thread(
            answer_of, start("drain", url, fault="claim.taken", tenant=TENANT, prefix="dead")
        )
        alive = await asyncio.to_thread(answer_of, start("drain", url, tenant=TENANT, prefix="alive"))

        assert dead is None
        assert alive is not None
        assert sorted(alive["done"]) == sorted(f"w{number}" for number in range(10))

    @pytest.mark.parametrize("point", DEADLY)
    async def test_a_process_that_dies_leaves_all_or_nothing(self, url: str, store: Store, point: str) -> None:
        """Killed at each point of the commit: all or nothing is stored, and a retry succeeds once."""
        names = [f"i{number}" for number in range(5)]

        assert await asyncio.to_thread(answer_of, start("burst", url, fault=point, tenant=TENANT, names=names)) is None
        found = await store.versions_of([InstanceKey(TENANT, name) for name in names])
        figures = await store.stats(TENANT)
        held = await _holders(store, names)
        again = await asyncio.to_thread(answer_of, start("burst", url, tenant=TENANT, names=names))

        assert len(found) == (5 if point == "commit.done" else 0)
        assert held == sorted(key.id for key in found)
        assert (figures.bookmarks, figures.work_ready, figures.outbox) == (len(found),) * 3
        assert again == {"committed": 5}
        marks = await store.find_bookmarks([BookmarkQuery(tenant=TENANT, key=wake_key("Paid"), limit=99)])
        assert len(marks.bookmarks[0]) == 5
        assert (await store.stats(TENANT)).work_ready == 5


async def _holders(store: Store, names: list[str]) -> list[str]:
    """Instances that hold the keys of these starts. A key never refers to a missing instance."""
    refs = [idempotency_key(operation="start", target="burst", key=name).ref for name in names]
    rows = [await store.find_guard(TENANT, ref) for ref in refs]
    return sorted(row.instance_id for row in rows if row is not None)
