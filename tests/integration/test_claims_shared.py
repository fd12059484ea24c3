"""Two nodes take from one table: each row is run once, by whoever has it locked, and committed where it is locked."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from holdfast import Activity, Context, Sequence, Status, Workflow, expr
from holdfast.activities.scheduling import StartAt
from tests.integration.conftest import Cluster

COUNT = 300
ran: Counter[str] = Counter()


class Counted(Activity, pure=True):
    """Notes that a segment ran it, whatever became of the segment."""

    def execute(self, context: Context) -> None:
        ran[context.instance_id] += 1


alarm = Workflow(Sequence(StartAt(expr("at")), Counted()), inputs={"at": object}, id="shared_alarm")


@pytest.mark.timeout(180)
async def test_of_two_nodes_one_runs_a_row(cluster: Cluster) -> None:
    a, b = [await cluster.node(name, activities=[Counted]) for name in ("a", "b")]
    at = await a.node.store.now() + timedelta(seconds=1)
    names = [f"{cluster.tenant}-{number}" for number in range(COUNT)]
    await asyncio.gather(*(a.start(alarm, {"at": at}, instance_id=name) for name in names))
    await asyncio.sleep(max(0.0, (at - await a.node.store.now()).total_seconds()))
    a.node.take_work()
    b.node.take_work()
    async with asyncio.timeout(120):
        results = [await a.wait_at_rest(name) for name in names]
    assert {item.status for item in results} == {Status.FINISHED}
    if a.node.store.name in ("postgresql", "mysql"):  # The others read without a lock, and one of two loses.
        assert [ran[name] for name in names] == [1] * COUNT
    for name in names[:20]:
        await cluster.check(a, name)


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
