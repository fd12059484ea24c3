"""Wide instances on every store: their branches sleep, and everything that reaches an instance reaches its branches."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest

from holdfast import Status, activity, gather, run_child, wait_for, workflow
from holdfast.management.runtime import ManagedRuntime
from holdfast.runtime.commits.large_values import refers_to, unpack_state
from tests.integration.conftest import Cluster
from tests.support.node import node_of

WIDTH = 250
"""More kids than `WIDE_MIN`."""
gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
all_run: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
ran: defaultdict[str, list[int]] = defaultdict(list)


@activity
async def held(number: int, gate: str) -> int:
    ran[gate].append(number)
    if len(ran[gate]) == WIDTH:
        all_run[gate].set()
    await gates[gate].wait()
    return 2 * number


@activity
async def picky(number: int, gate: str) -> int:
    ran[gate].append(number)
    if number == 17 and not gates[gate].is_set():
        raise ValueError("17 is refused")
    return number


@workflow
async def doubled(number: int) -> int:
    return 2 * number


@workflow
async def effects(count: int, gate: str) -> int:
    return sum(await gather(*[held(number, gate) for number in range(count)]))


@workflow
async def children(count: int) -> int:
    return sum(await gather(*[run_child(doubled, number) for number in range(count)]))


@workflow
async def events(count: int) -> int:
    return sum(await gather(*[wait_for("go", key=f"k{number}") for number in range(count)]))


@workflow
async def refusing(count: int, gate: str) -> int:
    return sum(await gather(*[picky(number, gate) for number in range(count)]))


CODE: dict[str, Any] = {"activities": [held, picky], "workflows": [effects, children, events, refusing, doubled]}


async def begin(runtime: ManagedRuntime, flow: Any, **inputs: Any) -> str:
    answer = await runtime.start(flow, {"count": WIDTH, **inputs})
    assert answer.result is not None
    return answer.result.instance_id


async def sleeps(runtime: ManagedRuntime, cluster: Cluster, identity: str) -> bool:
    """Whether branches sleep in the stored state."""
    state = (await runtime.row(identity)).state
    values = await runtime.store.load_values(cluster.tenant, identity, refers_to(state))
    return unpack_state(state, values).branches > 0


async def begun(gate: str) -> None:
    async with asyncio.timeout(60):
        await all_run[gate].wait()


async def end(runtime: ManagedRuntime, identity: str) -> Any:
    async with asyncio.timeout(60):
        return await runtime.wait_at_rest(identity)


async def test_effects_end_and_their_results_are_in_order(cluster: Cluster) -> None:
    gate = f"{cluster.tenant}-effects"
    node = await cluster.node(work=True, **CODE)
    identity = await begin(node, effects, gate=gate)
    await begun(gate)
    assert await sleeps(node, cluster, identity)
    await cluster.check(node, identity)
    gates[gate].set()

    ended = await end(node, identity)

    assert ended.outputs["result"] == sum(2 * number for number in range(WIDTH))
    assert sorted(ran[gate]) == list(range(WIDTH))
    await cluster.check(node, identity)


async def test_children_end(cluster: Cluster) -> None:
    node = await cluster.node(work=True, **CODE)
    identity = await begin(node, children)

    assert (await end(node, identity)).outputs["result"] == sum(2 * number for number in range(WIDTH))
    await cluster.check(node, identity)


async def test_events_find_branches_that_sleep_on_any_node(cluster: Cluster) -> None:
    first, second = await cluster.node("a", work=True, **CODE), await cluster.node("b", work=True, **CODE)
    identity = await begin(first, events)
    async with asyncio.timeout(60):
        await first.settled(identity)
    assert await sleeps(first, cluster, identity)
    for number in reversed(range(WIDTH)):
        sender = first if number % 3 else second
        await sender.stimuli.event("go", 1, key=f"k{number}")
        if number == WIDTH // 2:
            await cluster.check(second, identity)

    assert (await end(second, identity)).outputs["result"] == WIDTH
    await cluster.check(first, identity)


@pytest.mark.parametrize("terminate", [False, True])
async def test_a_cancel_from_another_node_reaches_all_branches(cluster: Cluster, terminate: bool) -> None:
    gate = f"{cluster.tenant}-cancel-{terminate}"
    first, second = await cluster.node("a", work=True, **CODE), await cluster.node("b", **CODE)
    identity = await begin(first, effects, gate=gate)
    await begun(gate)

    await second.cancel(identity, terminate=terminate)

    assert (await end(second, identity)).status is Status.CANCELED
    export = await second.store.export_instance(cluster.tenant, identity)
    assert export is not None
    assert (export.effects, export.bookmarks) == ((), ())
    await cluster.check(second, identity)


async def test_a_failure_keeps_the_other_results_for_the_retry(cluster: Cluster) -> None:
    gate = f"{cluster.tenant}-failure"
    node = await cluster.node(work=True, **CODE)
    identity = await begin(node, refusing, gate=gate)
    assert (await end(node, identity)).status is Status.FAULTED
    gates[gate].set()
    await node.retry(identity)

    assert (await end(node, identity)).outputs["result"] == sum(range(WIDTH))
    assert sorted(ran[gate]) == sorted([*range(WIDTH), 17])
    await cluster.check(node, identity)


async def test_another_node_takes_the_effects_over(cluster: Cluster) -> None:
    gate = f"{cluster.tenant}-takeover"
    first = await cluster.node("a", work=True, **CODE)
    identity = await begin(first, effects, gate=gate)
    await begun(gate)
    second = await cluster.node("b", work=True, **CODE)
    await cluster.died(first)
    gates[gate].set()
    await node_of(second).components.reaper.sweep()

    assert (await end(second, identity)).outputs["result"] == sum(2 * number for number in range(WIDTH))
