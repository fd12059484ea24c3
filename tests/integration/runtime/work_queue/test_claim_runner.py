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
from holdfast.model.stored import InstanceKey
from holdfast.runtime.facade import Runtime
from holdfast.runtime.queue_watch import Lookout
from tests.integration.conftest import Cluster

COUNT = 20
ran: Counter[str] = Counter()


class Counted(Activity, pure=True):
    """Notes that a segment ran it, whatever became of the segment."""

    def execute(self, context: Context) -> None:
        ran[context.instance_id] += 1


alarm = Workflow(Sequence(StartAt(expr("at")), Counted()), inputs={"at": object}, id="shared_alarm")


class Gate:
    """Stops a node where it has claimed rows and reads their instances."""

    def __init__(self, runtime: Runtime) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        store: Any = runtime.node.store
        load = store.load

        async def wait_and_load(keys: Listed[InstanceKey]) -> Any:
            self.reached.set()
            await self.open.wait()
            return await load(keys)

        store.load = wait_and_load


async def test_of_two_nodes_one_runs_a_row(cluster: Cluster) -> None:
    first, a, b = [await cluster.node(name, activities=[Counted]) for name in ("first", "a", "b")]
    names = [f"{cluster.tenant}-{number}" for number in range(COUNT)]
    soon = {"at": await first.node.store.now() + timedelta(seconds=2)}
    await asyncio.gather(*(first.start(alarm, soon, instance_id=name) for name in names))
    lookout = Lookout(a.node.store, a.node.work_queues)
    while not await lookout.is_due():
        await lookout.wait()
    shared = a.node.store is b.node.store  # A store in memory: there is one process only.
    gate = Gate(a)

    taking = asyncio.ensure_future(a.node.uptake.take_due())
    async with asyncio.timeout(30):
        await gate.reached.wait()
    if a.node.store.name in ("postgresql", "mysql"):  # SQLite reads without a lock: of two one loses.
        assert await b.node.uptake.take_due() == 0
    gate.open.set()

    assert await taking == COUNT
    assert [ran[name] for name in names] == [1] * COUNT
    assert shared or await b.node.uptake.take_due() == 0
    for name in names:
        assert (await first.read(name)).status is Status.FINISHED
    await cluster.check(first, names[0])


async def test_an_instance_that_a_claim_runs_is_left_alone_by_its_lane(cluster: Cluster) -> None:
    """A stimulus that comes meanwhile is applied after the claim's commit, to what it left."""
    runtime = await cluster.node("a", activities=[Counted])
    node, name = runtime.node, f"{cluster.tenant}-one"
    later = {"at": await node.store.now() + timedelta(hours=1)}
    await runtime.start(alarm, later, instance_id=name)
    node.keep_claimed([name])
    canceling = asyncio.ensure_future(runtime.cancel(name))
    for number in range(4):  # Commits of every lane have come and gone.
        await runtime.start(alarm, later, instance_id=f"{name}-{number}")
    assert not canceling.done()
    assert node.works_on(name)
    node.free_claimed([name])
    assert (await canceling).status is Status.CANCELED
    await cluster.check(runtime, name)
