"""Expressions that never end: their child process is ended, the node and its other instances go on."""

from __future__ import annotations

import asyncio
from typing import Any

from holdfast import Status, Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable, WriteLine
from holdfast.api import DispatchDefinition
from holdfast.model.writer import write_definition
from tests.support.node import node_of

ENDLESS = "Array.prototype.reverse.call({length: 2 ** 53 - 1})"
BOMB = Workflow(SetVariable("x", expr(ENDLESS, "javascript")), id="bomb", variables={"x": 0})
BOMB_AFTER_EVENT = Workflow(
    Sequence(Event("go"), SetVariable("x", expr(ENDLESS, "javascript"))), id="later-bomb", variables={"x": 0}
)
QUICK = Workflow(WriteLine("hello"), id="quick")


async def suspended(node: Any) -> None:
    """Wait until a burst of the node is suspended."""
    for _ in range(1_000_000):
        if node_of(node).components.in_hand.claimed:
            return
        await asyncio.sleep(0)
    raise AssertionError("no burst was suspended")


async def test_others_end_while_an_expression_runs_without_end(cluster: Any) -> None:
    node = await cluster.node()
    order: list[str] = []

    async def start(workflow: Workflow) -> Any:
        found = (await node.start(workflow)).result
        order.append(workflow.definition.id)
        return found

    bomb, *others = await asyncio.gather(start(BOMB), *(start(QUICK) for _ in range(20)))

    assert order == ["quick"] * 20 + ["bomb"]
    assert all(other.status is Status.FINISHED for other in others)
    assert bomb.status is Status.FAULTED
    assert "processor time" in bomb.incidents[0].message
    await cluster.check(node, bomb.instance_id)


async def test_the_event_loop_turns_while_an_expression_runs(cluster: Any) -> None:
    node = await cluster.node()
    bomb = asyncio.ensure_future(node.start(BOMB))
    turns = 0
    while not bomb.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert bomb.result().result.status is Status.FAULTED
    assert turns > 20  # One turn per limit of blocking would be far fewer.


async def test_jobs_of_the_same_instance_wait_for_the_suspended_burst(cluster: Any) -> None:
    node = await cluster.node()
    instance = (await node.start(BOMB_AFTER_EVENT)).result
    mark = instance.bookmarks[0].id
    resumed = asyncio.ensure_future(node.resume(instance.instance_id, mark))
    await suspended(node)
    canceled = asyncio.ensure_future(node.cancel(instance.instance_id))
    assert (await resumed).status is Status.FAULTED
    await asyncio.wait([canceled])
    assert not node_of(node).components.in_hand.claimed
    await cluster.check(node, instance.instance_id)


async def test_a_dispatched_bomb_faults_once_on_two_nodes_and_its_row_is_consumed(cluster: Any) -> None:
    nodes = [await cluster.node(name, work=True) for name in "ab"]
    await nodes[0].definitions.save_and_publish(write_definition(BOMB.definition))
    answer = await nodes[0].dispatcher.dispatch(DispatchDefinition(definition_id="bomb"))
    ended = await nodes[1].wait_at_rest(answer.instance_ids[0])
    assert ended.status is Status.FAULTED
    assert len(ended.incidents) == 1
    await cluster.check(nodes[0], ended.instance_id)


async def test_a_node_stops_while_an_expression_runs(cluster: Any) -> None:
    node = await cluster.node()
    bomb = asyncio.ensure_future(node.start(BOMB))
    await suspended(node)
    await node_of(node).stop()
    await asyncio.wait([bomb])
    assert not node_of(node).components.in_hand.claimed
