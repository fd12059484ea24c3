"""Steps: effects that a queue carries. Same row, same attempts, same results as inline; another process runs them (seed 5)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from holdfast import Holdfast, OnLost, Retry, Status, Workflow, activity, expr
from holdfast.activities import Parallel, ParallelForEach, Sequence
from holdfast.dispatch.local import LocalBus, LocalTransport
from holdfast.dispatch.steps import TransportSteps
from holdfast.errors import TransportUnavailable
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.cluster import NodeState
from holdfast.model.instance import JournalEvent
from holdfast.model.ticket import Ticket
from holdfast.model.work import NO_OWNER, WorkRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.placement import INLINE, Placement
from holdfast.runtime.queue_watch import DueRows
from holdfast.runtime.steps.limits.cluster import ClusterLimit
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.tickets import CarriedTicket
from tests.integration.conftest import Cluster
from tests.support.node import node_of
from tests.support.probe import probe

QUEUE = "heavy"


@activity
async def double(number: int) -> int:
    probe.calls.append(number)
    return number * 2


@activity
async def fail_twice(say: str) -> str:
    probe.calls.append(say)
    if len(probe.calls) < 3:
        raise ConnectionError("not yet")
    return say.upper()


@activity
async def wait_for_gate(say: str) -> str:
    probe.calls.append(say)
    probe.begun.set()
    if len(probe.calls) == 1:
        await probe.gate.wait()
    return f"{say} {len(probe.calls)}"


@activity
async def crowd() -> None:
    probe.here += 1
    probe.most = max(probe.most, probe.here)
    for _ in range(20):
        await asyncio.sleep(0)
    probe.here -= 1
    probe.calls.append(probe.here)


ALL = [double, fail_twice, wait_for_gate, crowd]


def doubled(**options: Any) -> Workflow:
    return Workflow(
        Sequence(
            double.bind(number=21, result="answer", **options), double.bind(number=expr("answer"), result="answer")
        ),
        variables={"answer": 0},
        id="doubled",
    )


class Carried:
    """The same steps by each carrier: rows of the work table, or tickets of a broker."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.transports: list[LocalTransport] = []
        self.bus = LocalBus()

    async def placement(self, default: str = INLINE) -> Placement:
        if self.kind == "database":
            return Placement(default=default)
        transport = LocalTransport(self.bus)
        await transport.open()
        self.transports.append(transport)
        return Placement(default=default, dispatcher=TransportSteps(transport), transport=transport)


@pytest.fixture(params=["database", "broker"])
async def carried(request: pytest.FixtureRequest, cluster: Cluster) -> Any:
    found = Carried(request.param)
    yield found
    await cluster.close()
    for transport in found.transports:
        await transport.close()


async def ended(runtime: ManagedRuntime, instance_id: str) -> Any:
    async with asyncio.timeout(30):
        return await runtime.wait_at_rest(instance_id)


async def start(runtime: ManagedRuntime, workflow: Workflow) -> str:
    answer = await runtime.start(workflow)
    assert answer.result is not None
    return answer.result.instance_id


async def sent(runtime: ManagedRuntime) -> None:
    """Wait until the node has sent the steps that it is sending now."""
    steps = node_of(runtime).components.steps
    await steps._sender._background.wait()
    await steps._background.wait()


def cluster_limit(runtime: ManagedRuntime, limit: Limit) -> ClusterLimit:
    return ClusterLimit(runtime.store, runtime.membership, runtime.log, runtime.tenant, QUEUE, limit)


async def test_a_step_waits_for_whoever_serves_its_queue_and_who_ran_it_goes_on(
    cluster: Cluster, carried: Carried
) -> None:
    a = await cluster.node("a", work=True, activities=ALL, placement=await carried.placement())
    identity = await start(a, doubled(queue=QUEUE))
    (row,) = await a.store.effects_of(cluster.tenant, identity)
    assert (row.owner, row.queue) == (NO_OWNER, f"{QUEUE}@{cluster.tenant}")
    assert probe.calls == []

    b = await cluster.node("b", work=True, activities=ALL, queues=(QUEUE,), placement=await carried.placement())
    result = await ended(a, identity)

    assert result.status is Status.FINISHED
    assert result.variables["answer"] == 84
    assert probe.calls == [21, 42]
    await b.settled(identity)
    await cluster.check(a, identity)


async def test_every_effect_on_a_queue_gives_what_inline_gives(cluster: Cluster, carried: Carried) -> None:
    runtime = await cluster.node(
        "a", work=True, activities=ALL, queues=("default", QUEUE), placement=await carried.placement(QUEUE)
    )
    many = Workflow(
        ParallelForEach(expr("list(range(40))"), double.bind(number=expr("current_value")), item="current_value"),
        id="many",
    )
    identity = await start(runtime, many)

    assert (await ended(runtime, identity)).status is Status.FINISHED
    assert sorted(probe.calls) == list(range(40))
    await cluster.check(runtime, identity)


async def test_a_failed_step_is_tried_again_with_back_off(cluster: Cluster, carried: Carried) -> None:
    runtime = await cluster.node(
        "a", work=True, activities=ALL, queues=("default", QUEUE), placement=await carried.placement()
    )
    patient = Retry(attempts=5, delay=timedelta(milliseconds=20))
    workflow = Workflow(
        fail_twice.bind(say="well", result="said", queue=QUEUE, retry=patient), variables={"said": ""}, id="patient"
    )
    identity = await start(runtime, workflow)

    result = await ended(runtime, identity)
    assert result.variables["said"] == "WELL"
    journal = await runtime.journal(identity)
    assert [entry.event for entry in journal].count(JournalEvent.RETRY_SCHEDULED) == 2


class Away:
    """A carrier whose broker does not answer."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.back = asyncio.Event()

    async def enqueue_step(self, context: Any, definition: Any, step: Any) -> str | None:
        self.asked.set()
        await self.back.wait()
        return None

    async def schedule_step(self, context: Any, definition: Any, step: Any, delay: timedelta) -> str | None:
        return await self.enqueue_step(context, definition, step)


async def test_a_broker_that_is_away_does_not_hold_up_the_sweep(cluster: Cluster) -> None:
    a = await cluster.node("a", work=True, activities=ALL, queues=("default", QUEUE))
    identity = await start(a, Workflow(wait_for_gate.bind(say="hello", queue=QUEUE)))
    async with asyncio.timeout(20):
        await probe.begun.wait()
    away = Away()
    b = await cluster.node("b", activities=ALL, placement=Placement(dispatcher=away))
    await node_of(a).components.steps.stop_taking()
    await node_of(a).components.reaper.stop()
    await cluster.died(a)

    async with asyncio.timeout(20):
        assert await node_of(b).components.reaper.sweep() == 1
        await away.asked.wait()
    (row,) = await b.store.effects_of(cluster.tenant, identity)
    assert (row.attempt, row.owner) == (2, NO_OWNER)
    away.back.set()


async def test_a_step_of_a_dead_worker_goes_back_to_its_queue_with_a_receipt(
    cluster: Cluster, carried: Carried
) -> None:
    served = ("default", QUEUE)
    a = await cluster.node("a", work=True, activities=ALL, queues=served, placement=await carried.placement())
    identity = await start(
        a, Workflow(wait_for_gate.bind(say="hello", result="said", queue=QUEUE), variables={"said": ""})
    )
    async with asyncio.timeout(20):
        await probe.begun.wait()
    await node_of(a).components.steps.stop_taking()
    await node_of(a).components.reaper.stop()
    b = await cluster.node("b", work=True, activities=ALL, queues=served, placement=await carried.placement())
    await cluster.died(a)
    await node_of(b).components.reaper.sweep()

    result = await ended(b, identity)

    assert result.variables["said"] == "hello 2"
    receipts = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.TAKEN_OVER]
    assert [entry.data["attempt"] for entry in receipts] == [2]
    assert receipts[0].data["message"] == f"node {a.membership.name} died, effect taken over by its queue, attempt 2"


@pytest.mark.parametrize("on_lost", [OnLost.FAIL, OnLost.HOLD])
async def test_on_lost_decides_for_steps_too(cluster: Cluster, carried: Carried, on_lost: OnLost) -> None:
    served = ("default", QUEUE)
    a = await cluster.node("a", work=True, activities=ALL, queues=served, placement=await carried.placement())
    identity = await start(a, Workflow(wait_for_gate.bind(say="hello", queue=QUEUE, on_lost=on_lost)))
    async with asyncio.timeout(20):
        await probe.begun.wait()
    await node_of(a).components.steps.stop_taking()
    await node_of(a).components.reaper.stop()
    b = await cluster.node("b", activities=ALL, queues=served, placement=await carried.placement())
    await cluster.died(a)
    await node_of(b).components.reaper.sweep()
    await b.settled(identity)

    result = await b.read(identity)
    assert len(result.incidents) == 1
    assert result.status is (Status.FAULTED if on_lost is OnLost.FAIL else Status.RUNNING)
    assert probe.calls == ["hello"]


async def test_a_ticket_that_comes_ten_times_runs_once(cluster: Cluster) -> None:
    carried = Carried("broker")
    placement = await carried.placement()
    a = await cluster.node("a", work=True, activities=ALL, placement=placement)
    identity = await start(a, doubled(queue=QUEUE))
    (row,) = await a.store.effects_of(cluster.tenant, identity)
    instance, carrier = await a.row(identity), placement.dispatcher
    assert carrier is not None
    for _ in range(9):
        await node_of(a).components.steps._sender._dispatch(carrier, _context(a, identity), instance, row, timedelta(0))

    served = (QUEUE, "default")
    b = await cluster.node("b", work=True, activities=ALL, queues=served, placement=await carried.placement())
    c = await cluster.node("c", work=True, activities=ALL, queues=served, placement=await carried.placement())

    assert (await ended(a, identity)).variables["answer"] == 84
    assert probe.calls == [21, 42]
    for runtime in (a, b, c):
        await node_of(runtime).stop()
    for transport in carried.transports:
        await transport.close()


def _context(runtime: ManagedRuntime, identity: str) -> Any:
    from holdfast.runtime.steps.sender import SentStep

    return SentStep(tenant=runtime.tenant, instance_id=identity)


async def test_a_ticket_that_the_broker_lost_is_sent_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.runtime.commits.placement.RESEND_AFTER", timedelta(0))
    carried = Carried("broker")
    a = await cluster.node(
        "a", work=True, activities=ALL, queues=("default", QUEUE), placement=await carried.placement()
    )
    await node_of(a).components.steps.stop_taking()
    identity = await start(a, doubled(queue=QUEUE))
    await sent(a)
    await carried.transports[0].delete_queue(f"{QUEUE}@{cluster.tenant}")  # It is gone from the broker.

    node_of(a).components.steps.start()
    await node_of(a).components.reaper.sweep()

    assert (await ended(a, identity)).variables["answer"] == 84
    assert probe.calls == [21, 42]
    await node_of(a).stop()
    await carried.transports[0].close()


class Wavering:
    """A step dispatcher over a broker that may be away."""

    def __init__(self, transport: LocalTransport) -> None:
        self._steps = TransportSteps(transport)
        self.away = True
        self.asked = 0

    async def enqueue_step(self, context: Any, definition: Any, step: Any) -> str | None:
        self.asked += 1
        if self.away:
            raise TransportUnavailable("The broker is away. Wait.")
        return await self._steps.enqueue_step(context, definition, step)

    async def schedule_step(self, context: Any, definition: Any, step: Any, delay: timedelta) -> str | None:
        return await self.enqueue_step(context, definition, step)


async def test_while_a_broker_is_away_one_ticket_asks_for_all_and_one_line_says_so(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("holdfast.runtime.commits.placement.RESEND_AFTER", timedelta(0))
    transport = LocalTransport(LocalBus())
    await transport.open()
    carrier = Wavering(transport)
    placement = Placement(dispatcher=carrier, transport=transport)
    a = await cluster.node("a", activities=ALL, queues=("default", QUEUE), placement=placement)
    names = [await start(a, doubled(queue=QUEUE)) for _ in range(5)]
    await sent(a)

    asked = []
    for away in (True, True, False, False):
        carrier.away, carrier.asked = away, 0
        await node_of(a).components.reaper.sweep()
        await sent(a)
        asked.append(carrier.asked)

    assert asked == [1, 1, 1, 5]
    assert [record.message.count("could not be sent") for record in caplog.records if "sent" in record.message] == [1]
    node_of(a).components.steps.start()
    for name in names:
        assert (await ended(a, name)).variables["answer"] == 84
    await node_of(a).stop()
    await transport.close()


async def test_a_ticket_that_waits_long_is_sent_again_ever_more_rarely(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("holdfast.runtime.commits.placement.RESEND_AFTER", timedelta(microseconds=1))
    monkeypatch.setattr("holdfast.runtime.steps.sender.monotonic", lambda: now)
    transport = LocalTransport(LocalBus())
    await transport.open()
    carrier = Wavering(transport)
    carrier.away = False
    placement = Placement(dispatcher=carrier, transport=transport)
    a = await cluster.node("a", activities=ALL, queues=("default", QUEUE), placement=placement)
    await start(a, doubled(queue=QUEUE))
    await sent(a)

    asked = []
    for microsecond in range(17):
        now, carrier.asked = microsecond / 1e6, 0
        await node_of(a).components.reaper.sweep()
        await sent(a)
        asked += [microsecond] * carrier.asked

    assert asked == [0, 1, 3, 7, 15]
    await node_of(a).stop()
    await transport.close()


async def test_sixty_four_who_take_one_step_run_it_once(cluster: Cluster) -> None:
    a = await cluster.node("a", activities=ALL)
    identity = await start(a, doubled(queue=QUEUE))
    (row,) = await a.store.effects_of(cluster.tenant, identity)
    settled = 0

    class Counted(CarriedTicket):
        async def settle(self) -> None:
            nonlocal settled
            settled += 1

    ticket = Ticket(tenant=cluster.tenant, instance_id=identity, execution=row.execution, attempt=row.attempt)
    async with asyncio.timeout(30):
        run = node_of(a).components.steps._runner.run
        taken = await asyncio.gather(*(run(Counted(ticket), QueueShare(())) for _ in range(64)))

    assert sum(taken) == 1
    assert settled == 64
    await a.settled(identity)
    assert probe.calls == [21, 42]


async def test_a_worker_takes_no_more_than_its_concurrency(cluster: Cluster, carried: Carried) -> None:
    a = await cluster.node("a", activities=ALL, queues=("default", QUEUE), placement=await carried.placement(QUEUE))
    node_of(a).components.steps.concurrency = 2
    identity = await start(a, Workflow(ParallelForEach(expr("list(range(8))"), crowd.bind(), item="n"), id="many"))
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED
    assert len(probe.calls) == 8
    assert probe.most <= 2


async def test_a_worker_begins_its_own_steps_without_a_look_at_the_table(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(due: DueRows) -> bool:
        return await asyncio.Event().wait()

    monkeypatch.setattr(DueRows, "is_due", never)
    a = await cluster.node("a", work=True, activities=ALL, queues=("default", QUEUE))
    identity = await start(a, doubled(queue=QUEUE))

    assert (await ended(a, identity)).variables["answer"] == 84
    assert probe.calls == [21, 42]
    await node_of(a).stop()
    assert (await a.store.stats(cluster.tenant)).work_ready == 0


async def test_a_queue_has_a_limit_of_its_own(cluster: Cluster, carried: Carried) -> None:
    a = await cluster.node(
        "a",
        activities=ALL,
        queues=("default", QUEUE),
        placement=await carried.placement(QUEUE),
        step_limits=f"{QUEUE}=2",
    )
    identity = await start(a, Workflow(ParallelForEach(expr("list(range(8))"), crowd.bind(), item="n"), id="many"))
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED
    assert len(probe.calls) == 8
    assert probe.most <= 2


async def test_urgent_steps_go_first(cluster: Cluster, carried: Carried) -> None:
    a = await cluster.node(
        "a",
        activities=ALL,
        queues=("default", QUEUE),
        placement=await carried.placement(QUEUE),
        step_limits=f"{QUEUE}=1",
    )
    steps = [double.bind(number=1), double.bind(number=2, priority=5), double.bind(number=3, priority=-5)]
    identity = await start(a, Workflow(Parallel(*steps), id="urgent"))
    node_of(a).components.steps.concurrency = 1
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED
    assert probe.calls == [2, 1, 3]


async def test_a_queue_has_a_limit_for_the_whole_cluster(cluster: Cluster, carried: Carried) -> None:
    nodes = [
        await cluster.node(
            name,
            activities=ALL,
            queues=("default", QUEUE),
            placement=await carried.placement(QUEUE),
            cluster_limits=f"{QUEUE}=2",
        )
        for name in "abc"
    ]
    identity = await start(
        nodes[0], Workflow(ParallelForEach(expr("list(range(20))"), crowd.bind(), item="n"), id="many")
    )
    for runtime in nodes:
        node_of(runtime).take_work()

    assert (await ended(nodes[0], identity)).status is Status.FINISHED
    assert len(probe.calls) == 20
    assert probe.most <= 2


async def test_bursts_of_steps_on_three_nodes_never_exceed_the_limit(cluster: Cluster) -> None:
    """Places are returned between two bursts, while the next burst takes them."""
    nodes = [
        await cluster.node(
            name,
            work=True,
            activities=ALL,
            queues=("default", QUEUE),
            placement=Placement(default=QUEUE),
            cluster_limits=f"{QUEUE}=3",
        )
        for name in "abc"
    ]
    one, rng = Workflow(Sequence(crowd.bind()), id="one"), Random(1)
    wide = Workflow(ParallelForEach(expr("list(range(8))"), crowd.bind(), item="n", limit=4), id="wide")
    identities = [await start(nodes[0], wide) for _ in range(3)]
    for number in range(60):
        identities.append(await start(nodes[number % 3], one))
        if rng.random() < 0.3:
            await ended(nodes[0], identities[-1])

    for identity in identities:
        assert (await ended(nodes[0], identity)).status is Status.FINISHED
    assert len(probe.calls) == 84
    assert probe.most <= 3


async def test_places_of_a_dead_node_are_free_again_and_nobody_counts_past_the_limit(cluster: Cluster) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    limit = Limit(concurrency=3)
    mine, theirs = cluster_limit(a, limit), cluster_limit(b, limit)

    assert await mine.reserve(2, lambda: 0) == 2
    assert await theirs.reserve(5, lambda: 0) == 1
    mine.settle(2, 1)
    await mine.give_back(lambda: 1)
    theirs.settle(1, 1)
    assert await theirs.reserve(5, lambda: 1) == 1
    theirs.settle(1, 1)
    await cluster.died(a)
    assert await theirs.reserve(5, lambda: 2) == 1


async def test_three_nodes_that_reserve_and_return_at_random_never_exceed_the_limit(cluster: Cluster) -> None:
    limit, used, most = Limit(concurrency=3), dict.fromkeys("abc", 0), 0

    async def use(name: str, mine: ClusterLimit, rng: Random) -> None:
        nonlocal most
        returns = []
        for _ in range(40):
            reserved = await mine.reserve(rng.randint(1, 3), lambda: used[name])
            used[name] += reserved
            mine.settle(reserved, reserved)
            most = max(most, sum(used.values()))
            used[name] = rng.randint(0, used[name])
            returns.append(asyncio.ensure_future(mine.give_back(lambda: used[name])))
            for _ in range(rng.randint(0, 5)):
                await asyncio.sleep(0)
        await asyncio.gather(*returns)

    async with asyncio.TaskGroup() as group:
        for number, name in enumerate(used):
            group.create_task(use(name, cluster_limit(await cluster.node(name), limit), Random(number)))
    assert 0 < most <= 3


async def test_what_may_begin_per_second_is_counted_for_all(cluster: Cluster) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    limit = Limit(per_second=0.001)
    mine, theirs = cluster_limit(a, limit), cluster_limit(b, limit)

    assert await mine.reserve(4, lambda: 0) == 1
    mine.settle(1, 1)
    assert await mine.reserve(4, lambda: 0) == 0
    assert await theirs.reserve(4, lambda: 0) == 0


async def test_the_sweep_leaves_what_is_being_taken(
    cluster: Cluster, carried: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between owning a step and beginning it: a sweep that began it too would run it twice, without any fault."""
    a = await cluster.node("a", activities=ALL, queues=("default", QUEUE), placement=await carried.placement(QUEUE))
    own, swept = a.store.own_effect, []

    async def own_and_sweep(*args: Any) -> Any:
        owned = await own(*args)
        swept.append(await node_of(a).components.reaper.sweep())
        return owned

    monkeypatch.setattr(a.store, "own_effect", own_and_sweep)
    identity = await start(a, doubled())
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED
    assert swept == [0, 0]
    assert probe.calls == [21, 42]


async def test_work_that_nobody_serves_shows(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.management.unserved.OVERDUE_AFTER", timedelta(0))
    a = await cluster.node("a", work=True, activities=ALL)
    await start(a, doubled(queue=QUEUE))

    (found,) = await a.nodes.unserved()
    assert found.queue == f"{QUEUE}@{cluster.tenant}"

    b = await cluster.node("b", activities=ALL, queues=(QUEUE,))
    assert await a.nodes.unserved() == []

    await b.store.beat(b.membership.owner, NodeState.DRAINING)
    assert [item.queue for item in await a.nodes.unserved()] == [found.queue]


async def test_starts_that_no_live_node_takes_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without a worker is alive, and serves no queue."""
    monkeypatch.setattr("holdfast.management.unserved.OVERDUE_AFTER", timedelta(0))
    async with Holdfast(store=MemoryStore(), node="door", worker=False, entry_points=False) as app:
        nodes, store = app.runtime.nodes, app.runtime.store
        await store.enqueue([WorkRow(id="w", kind="start", created=await store.now())])

        assert (await nodes.this()).details.queues == ()
        assert [item.queue for item in await nodes.unserved()] == ["default"]


@pytest.mark.parametrize("drained", [False, True])
async def test_a_node_that_takes_no_work_leaves_its_steps_to_others(
    cluster: Cluster, carried: Carried, drained: bool
) -> None:
    """One that only starts instances, or is being drained, begins nothing, though it serves the queue."""
    a = await cluster.node(
        "a", work=drained, activities=ALL, queues=("default", QUEUE), placement=await carried.placement()
    )
    if drained:
        await node_of(a).components.steps.stop_taking()

    identity = await start(a, doubled(queue=QUEUE))
    await a.settled(identity)

    (row,) = await a.store.effects_of(cluster.tenant, identity)
    assert row.owner == NO_OWNER
    assert probe.calls == []
