"""Contract of changes: waiters and subscribers hear of commits and work rows of their own and of other nodes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from holdfast.model.changes import Change, queue_topic
from holdfast.ports import Store
from holdfast.testing.store_contract.base import ContractBase, committed
from holdfast.testing.store_rows import commit_of, instance, work


class ChangesContract(ContractBase):
    async def test_a_waiter_is_notified_of_a_change(self, store: Store, tenant: str) -> None:
        seen = await store.wait_for_change(-1, timedelta(0))
        await store.enqueue([work(tenant)])

        async with asyncio.timeout(30):
            now = await store.wait_for_change(seen, timedelta(seconds=60))

        assert now != seen
        assert await store.wait_for_change(now, timedelta(0)) == now

    async def test_a_waiter_is_notified_of_a_change_by_another_node(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        seen = await store.wait_for_change(-1, timedelta(0))
        waiting = asyncio.create_task(store.wait_for_change(seen, timedelta(seconds=60)))
        await asyncio.sleep(0)

        await committed(another, commit_of(instance("i", tenant=tenant), work_added=(work(tenant),)))

        async with asyncio.timeout(30):
            assert await waiting != seen

    async def test_a_subscriber_hears_the_rows_and_commits_of_its_own_process(self, store: Store, tenant: str) -> None:
        heard: asyncio.Queue[Change] = asyncio.Queue()
        end = store.subscribe(heard.put_nowait)
        row = work(tenant)

        await committed(store, commit_of(instance("i", tenant=tenant), work_added=(row,)))

        async with asyncio.timeout(30):
            while not (change := await heard.get()).commits:
                pass  # The store may begin with an unknown change.
        end()
        assert change.concerns(queue_topic(row.queue))
        assert [item.id for item in change.rows] == [row.id]
        assert [item.instance.id for item in change.commits if item.instance is not None] == ["i"]
        assert not change.elsewhere

    async def test_a_subscriber_hears_of_work_that_another_node_adds(
        self, store: Store, another: Store, tenant: str
    ) -> None:
        heard: asyncio.Queue[Change] = asyncio.Queue()
        end = store.subscribe(heard.put_nowait)
        await _quiet(heard)

        await another.enqueue([work(tenant)])

        async with asyncio.timeout(30):
            while not (await heard.get()).concerns(queue_topic("default")):
                pass
        end()

    async def test_a_subscription_ends(self, store: Store, tenant: str) -> None:
        heard: list[Change] = []
        store.subscribe(heard.append)()

        await store.enqueue([work(tenant)])

        assert heard == []


async def _quiet(heard: asyncio.Queue[Change]) -> None:
    """Wait until the subscription is in effect: a store that must connect first reports an unknown change then."""
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            while True:
                await heard.get()
