"""Working carefully (rule H15): what kills processes is counted, and nothing else is."""

from __future__ import annotations

import asyncio
import socket
import sys
from datetime import timedelta

from holdfast import Status, Workflow
from holdfast.activities import Delay
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.node_details import NodeDetails
from holdfast.model.work import WorkRow, queue_of
from holdfast.runtime.commits.jobs.base import Answer, Job
from holdfast.runtime.work_queue import quarantine
from tests.integration.conftest import Cluster
from tests.support.node import node_of

MORE_THAN_ALLOWED = quarantine.ATTEMPTS_MAX + 1


class Busy(asyncio.Queue[Job]):
    """Stands where a node's lanes stand: what is submitted waits here."""

    @classmethod
    def on(cls, runtime: ManagedRuntime) -> Busy:
        held = cls()

        def wait_here(job: Job) -> None:
            held.put_nowait(job)

        node_of(runtime).components.lanes.submit = wait_here  # type: ignore[method-assign]  # the lanes stand still meanwhile
        return held


async def napping(cluster: Cluster, runtime: ManagedRuntime) -> str:
    """An instance whose timer is due now."""
    name = f"{cluster.tenant}-naps"
    await runtime.start(Workflow(Delay(timedelta(milliseconds=1)), id="naps"), instance_id=name)
    while not await due_rows(runtime):
        continue
    return name


async def due_rows(runtime: ManagedRuntime) -> list[WorkRow]:
    async with runtime.store.claim([queue_of(runtime.tenant, "default")], 10) as claim:
        return list(claim.rows)


async def test_living_nodes_do_not_count_for_each_other(cluster: Cluster) -> None:
    """While one is at a row, others leave it alone, however many look: nobody has died of it."""
    first, *others = [await cluster.node(f"n{number}") for number in range(MORE_THAN_ALLOWED + 1)]
    name = await napping(cluster, first)
    submit, held = node_of(first).components.lanes.submit, Busy.on(first)
    taking = asyncio.create_task(node_of(first).components.quarantine.take_one())
    job = await held.get()

    taken = await asyncio.gather(*(node_of(other).components.quarantine.take_one() for other in others))
    submit(job)

    assert await taking == 1
    assert taken == [0] * len(others)
    assert not await first.store.list_dead_letters(cluster.tenant)
    assert (await first.read(name)).status is Status.FINISHED


async def test_an_attempt_that_was_answered_does_not_count(cluster: Cluster) -> None:
    """The row lost its race and is still there: it is due again at once, as if nobody had tried."""
    runtime = await cluster.node()
    await napping(cluster, runtime)
    before = await due_rows(runtime)
    held = Busy.on(runtime)

    for _ in range(MORE_THAN_ALLOWED):
        taking = asyncio.create_task(node_of(runtime).components.quarantine.take_one())
        (await held.get()).finish(Answer(dropped=True))
        assert await taking == 1

    assert await due_rows(runtime) == before
    assert not await runtime.store.list_dead_letters(cluster.tenant)


async def test_an_attempt_without_an_answer_counts(cluster: Cluster) -> None:
    """Each of these died of it; the next one buries it."""
    runtime = await cluster.node()
    name = await napping(cluster, runtime)
    runtime.liveness.time_to_live = timedelta(0)  # What it has in hand is anybody's at once.
    submit, held = node_of(runtime).components.lanes.submit, Busy.on(runtime)

    for _ in range(quarantine.ATTEMPTS_MAX):
        dying = asyncio.create_task(node_of(runtime).components.quarantine.take_one())
        await held.get()
        dying.cancel()
        await asyncio.wait([dying])
        node_of(runtime).components.poller.in_hand.clear()
    node_of(runtime).components.lanes.submit = submit  # type: ignore[method-assign]
    await node_of(runtime).components.quarantine.take_one()

    (letter,) = await runtime.store.list_dead_letters(cluster.tenant)
    (incident,) = (await runtime.read(name)).incidents
    assert (letter.reason, letter.work.instance_id, incident.type) == ("process-died", name, "process-died")


async def test_a_node_of_this_machine_that_died_is_seen_at_the_start_of_the_next(cluster: Cluster) -> None:
    """The dead process had another name, and its lease still runs: the work that killed it must be counted at once."""
    store = await cluster.store()
    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    details = NodeDetails(host=socket.gethostname(), pid=gone.pid, tenant=cluster.tenant, queues=("default",))
    await store.register_node(f"{cluster.tenant}-gone", time_to_live=timedelta(minutes=5), details=details.encoded())

    assert node_of(await cluster.node()).components.intake.in_quarantine
    if cluster.url != "memory://":
        await store.close()


async def test_a_living_node_of_this_machine_is_no_reason_for_a_quarantine(cluster: Cluster) -> None:
    first, second = await cluster.node("a"), await cluster.node("b")
    assert not node_of(first).components.intake.in_quarantine
    assert not node_of(second).components.intake.in_quarantine
