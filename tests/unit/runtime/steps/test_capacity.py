"""Places for steps: reservations of all queues together stay within the concurrency of the node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from holdfast.model.stored import InstanceKey
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.limits.cluster import ClusterLimit
from holdfast.runtime.steps.limits.local import LocalLimit
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.queue_share import QueueShare

LEASE = timedelta(seconds=30)


@pytest.fixture
async def background() -> AsyncIterator[BackgroundTasks]:
    tasks = BackgroundTasks("a test task failed")
    yield tasks
    await tasks.stop()


def capacity_of(background: BackgroundTasks, *shares: QueueShare, concurrency: int) -> StepCapacity:
    return StepCapacity(Liveness(LEASE), Intake(), shares, concurrency, background)


async def test_two_shares_never_reserve_more_than_the_concurrency(background: BackgroundTasks) -> None:
    one, other = QueueShare(["mail@a"]), QueueShare(["mail@b"])
    capacity = capacity_of(background, one, other, concurrency=3)

    assert await capacity.reserve(one) == 3
    waiting = asyncio.create_task(capacity.reserve(other))
    await asyncio.sleep(0)
    assert not waiting.done()

    one.begin("row")
    capacity.settle(one, 3, 1)
    assert await asyncio.wait_for(waiting, 1) == 2


async def test_the_end_of_an_effect_frees_its_place(background: BackgroundTasks) -> None:
    share, key = QueueShare(["mail"]), (InstanceKey("", "i1"), 1)
    capacity = capacity_of(background, share, concurrency=1)
    share.running.add(key)
    waiting = asyncio.create_task(capacity.reserve(share))
    await asyncio.sleep(0)

    capacity.effect_ended(key)

    assert await asyncio.wait_for(waiting, 1) == 1


async def test_a_reservation_counts_for_the_limit_of_its_queue(background: BackgroundTasks) -> None:
    share = QueueShare(["mail"], LocalLimit(Limit(concurrency=2)))
    capacity = capacity_of(background, share, concurrency=32)

    assert await capacity.reserve(share, 1) == 1
    assert capacity.room(share) == 1
    capacity.settle(share, 1, 0)
    assert capacity.room(share) == 2


async def test_unused_places_of_the_cluster_limit_return_to_other_nodes(background: BackgroundTasks) -> None:
    store = MemoryStore()
    await store.open()
    shares = []
    for name in ("a", "b"):
        membership = Membership(name)
        registration = await store.register_node(name, time_to_live=LEASE)
        membership.join(registration, lambda: 0)
        limit = ClusterLimit(store, membership, OutageLog(name), "", "mail", Limit(concurrency=2))
        shares.append(QueueShare(["mail"], cluster_limit=limit))
    one, other = shares
    here, there = (capacity_of(background, share, concurrency=32) for share in shares)

    assert await here.reserve(one) == 2
    waiting = asyncio.create_task(there.reserve(other))
    one.begin("row")
    here.settle(one, 2, 1)
    one.starting.clear()
    here.freed(one)

    assert await asyncio.wait_for(waiting, 5) >= 1
    await store.close()
