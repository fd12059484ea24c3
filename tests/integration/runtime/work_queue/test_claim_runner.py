"""Two nodes take from one table: a row is run once, by whoever has it locked, and committed where it is locked."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence as Listed
from datetime import timedelta
from typing import Any

from holdfast import Activity, Context, Status, Workflow, expr
from holdfast.activities import Sequence
from holdfast.activities.scheduling import StartAt
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.stored import InstanceKey
from holdfast.runtime.queue_watch import DueRows
from tests.integration.conftest import Cluster
from tests.support.node import node_of

COUNT = 20
ran: Counter[str] = Counter()


class Counted(Activity, pure=True):
    """Notes that a segment ran it, whatever became of the segment."""

    def execute(self, context: Context) -> None:
        ran[context.instance_id] += 1


alarm = Workflow(Sequence(StartAt(expr("at")), Counted()), inputs={"at": object}, id="shared_alarm")


class Gate:
    """Stops a node where it has claimed rows and reads their instances."""

    def __init__(self, runtime: ManagedRuntime) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        store: Any = runtime.store
        load = store.load

        async def wait_and_load(keys: Listed[InstanceKey]) -> Any:
            self.reached.set()
            await self.open.wait()
            return await load(keys)

        store.load = wait_and_load


async def test_of_two_nodes_one_runs_a_row(cluster: Cluster) -> None:
    first, a, b = [await cluster.node(name, activities=[Counted]) for name in ("first", "a", "b")]
    names = [f"{cluster.tenant}-{number}" for number in range(COUNT)]
    soon = {"at": await first.store.now() + timedelta(seconds=2)}
    await asyncio.gather(*(first.start(alarm, soon, instance_id=name) for name in names))
    due = DueRows(a.store, node_of(a).components.poller.queues)
    while not await due.is_due():
        await due.wait()
    shared = a.store is b.store  # A store in memory: there is one process only.
    gate = Gate(a)

    taking = asyncio.ensure_future(node_of(a).components.poller.take_due())
    async with asyncio.timeout(30):
        await gate.reached.wait()
    if a.store.name in ("postgresql", "mysql"):  # SQLite reads without a lock: of two one loses.
        assert await node_of(b).components.poller.take_due() == 0
    gate.open.set()

    assert await taking == COUNT
    assert [ran[name] for name in names] == [1] * COUNT
    assert shared or await node_of(b).components.poller.take_due() == 0
    for name in names:
        assert (await first.read(name)).status is Status.FINISHED
    await cluster.check(first, names[0])


async def test_an_instance_that_a_claim_runs_is_left_alone_by_its_lane(cluster: Cluster) -> None:
    """A stimulus that comes meanwhile is applied after the claim's commit, to what it left."""
    runtime = await cluster.node("a", activities=[Counted])
    node, name = node_of(runtime), f"{cluster.tenant}-one"
    later = {"at": await node.components.store.now() + timedelta(hours=1)}
    await runtime.start(alarm, later, instance_id=name)
    node.components.in_hand.claim([runtime.key(name)])
    canceling = asyncio.ensure_future(runtime.cancel(name))
    for number in range(4):  # Commits of every lane have come and gone.
        await runtime.start(alarm, later, instance_id=f"{name}-{number}")
    assert not canceling.done()
    assert node.components.in_hand.has(runtime.key(name))
    node.components.in_hand.end_claim([runtime.key(name)])
    node.components.lanes.look_again()
    assert (await canceling).status is Status.CANCELED
    await cluster.check(runtime, name)
