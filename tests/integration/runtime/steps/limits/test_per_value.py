"""Limits per value of an input: two at a time for each customer, on every store, with every carrier of steps."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from holdfast import Status, Workflow, activity, expr
from holdfast.activities import Parallel, ParallelForEach
from holdfast.dispatch import transport_from_url
from holdfast.dispatch.local import LocalBus, LocalTransport
from holdfast.dispatch.steps import TransportSteps
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.record_rows import RecordQuery
from holdfast.ports import Transport
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.steps.limits.cluster_per_value import ClusterLimitPerValue
from holdfast.runtime.steps.limits.spec import Limit
from tests.integration.conftest import Cluster
from tests.support.node import node_of
from tests.support.probe import probe
from tests.support.services.brokers import broker_at_hand

QUEUE = "mail"
BROKERS = ("rabbitmq", "nats", "redis")


@activity
async def serve(customer: str) -> None:
    """Counts how many of this customer are served at a time; the first are served until somebody opens the gate."""
    probe.counts[customer] += 1
    probe.most_of[customer] = max(probe.most_of[customer], probe.counts[customer])
    if probe.counts.total() == 6:
        probe.begun.set()
    await probe.gate.wait()
    probe.counts[customer] -= 1
    probe.calls.append(customer)


@activity
async def meet() -> None:
    """Ends when a second one is there."""
    probe.here += 1
    if probe.here == 2:
        probe.gate.set()
    await probe.gate.wait()


ALL = [serve, meet]


class Carried:
    def __init__(self, carrier: str) -> None:
        self.carrier = carrier
        self.bus = LocalBus()
        self.url = ""
        if carrier in BROKERS:
            self.url = f"{broker_at_hand(carrier)}?prefix=test-{uuid4().hex[:12]}"
        self.transports: list[Transport] = []

    async def placement(self) -> Placement:
        if self.carrier == "database":
            return Placement(default=QUEUE)
        transport: Transport = LocalTransport(self.bus) if not self.url else transport_from_url(self.url)
        await transport.open()
        self.transports.append(transport)
        return Placement(default=QUEUE, dispatcher=TransportSteps(transport), transport=transport)

    async def close(self, tenant: str) -> None:
        for transport in self.transports:
            if self.url:
                await transport.delete_queue(f"{QUEUE}@{tenant}")
            await transport.close()


@pytest.fixture(
    params=["database", "local", *(pytest.param(name, marks=pytest.mark.service(name)) for name in BROKERS)]
)
async def carried(request: pytest.FixtureRequest, cluster: Cluster) -> AsyncIterator[Carried]:
    found = Carried(request.param)
    yield found
    await cluster.close()
    await found.close(cluster.tenant)


async def ended(runtime: ManagedRuntime, instance_id: str) -> Any:
    async with asyncio.timeout(30):
        return await runtime.wait_at_rest(instance_id)


async def start(runtime: ManagedRuntime, workflow: Workflow) -> str:
    answer = await runtime.start(workflow)
    assert answer.result is not None
    return answer.result.instance_id


@pytest.mark.parametrize(("where", "nodes"), [("step_limits", "a"), ("cluster_limits", "abc")])
async def test_a_queue_has_a_limit_for_each_value_of_an_input(
    cluster: Cluster, carried: Carried, where: str, nodes: str
) -> None:
    """Two at a time for each customer, on one worker or on all together; the busy one holds up nobody else."""
    limits: dict[str, Any] = {where: f"{QUEUE}/customer=2"}
    workers = [
        await cluster.node(
            name, activities=ALL, queues=("default", QUEUE), placement=await carried.placement(), **limits
        )
        for name in nodes
    ]
    served = ["busy"] * 6 + ["b", "c"] * 3
    root = ParallelForEach(expr(repr(served)), serve.bind(customer=expr("n")), item="n")
    identity = await start(workers[0], Workflow(root, id="served"))
    for runtime in workers:
        node_of(runtime).take_work()
    async with asyncio.timeout(30):
        await probe.begun.wait()
    probe.gate.set()

    assert (await ended(workers[0], identity)).status is Status.FINISHED
    assert Counter(probe.calls) == Counter(served)
    assert probe.most_of == {"busy": 2, "b": 2, "c": 2}


async def test_a_queue_has_a_rate_for_each_value_of_an_input(cluster: Cluster, carried: Carried) -> None:
    """Each has one beginning in hand; a second one of the same customer comes later than the first of another."""
    a = await cluster.node(
        "a",
        activities=ALL,
        queues=("default", QUEUE),
        placement=await carried.placement(),
        step_limits=f"{QUEUE}/customer=@2/s",
        cluster_limits=f"{QUEUE}/customer=@0.5/s",
    )
    probe.gate.set()
    root = ParallelForEach(expr(repr(["b", "b", "c"])), serve.bind(customer=expr("n")), item="n")
    identity = await start(a, Workflow(root, id="served"))
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED
    assert probe.calls[-1] == "b"
    assert Counter(probe.calls) == {"b": 2, "c": 1}


async def test_steps_without_the_input_are_not_counted(cluster: Cluster, carried: Carried) -> None:
    a = await cluster.node(
        "a",
        activities=ALL,
        queues=("default", QUEUE),
        placement=await carried.placement(),
        step_limits=f"{QUEUE}/customer=1",
    )
    identity = await start(a, Workflow(Parallel(meet.bind(), meet.bind()), id="meeting"))
    node_of(a).take_work()

    assert (await ended(a, identity)).status is Status.FINISHED


async def test_places_per_value_of_a_dead_node_are_free_again(cluster: Cluster) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    limit = Limit(concurrency=2)
    mine, theirs = (
        ClusterLimitPerValue(item.store, item.membership, item.log, item.tenant, "mail/customer", limit)
        for item in (a, b)
    )
    assert [await mine.take("aa"), await mine.take("aa"), await mine.take("aa")] == [True, True, False]
    assert [await theirs.take("aa"), await theirs.take("ab")] == [False, True]

    await mine.give_back("aa")
    assert [await theirs.take("aa"), await theirs.take("aa")] == [True, False]
    await cluster.died(a)
    assert await theirs.take("aa")

    for value in ("aa", "aa", "ab"):
        await theirs.give_back(value)
    left = await b.store.list_records(RecordQuery(tenant=cluster.tenant, kind="limit"))
    assert {row.payload for row in left} == {b"{}"}
