"""Nodes of the cluster: the registry, and pause and drain of this node"""

from __future__ import annotations

from datetime import timedelta

from tests.support.memory_node import MemoryNode
from tests.support.node import node_of


async def test_the_registry_lists_live_dead_and_left_nodes(memory: MemoryNode) -> None:
    dead, left = await memory.other("dead"), await memory.other("left")
    await node_of(left).stop()
    await memory.declare_dead(dead)

    states = {item.id: (item.state, item.alive, item.this) for item in await memory.runtime.nodes.list()}

    assert states == {"n": ("live", True, True), "dead": ("dead", False, False), "left": ("left", False, False)}
    await node_of(dead).stop()


async def test_this_node_reports_its_intake(memory: MemoryNode) -> None:
    nodes = memory.runtime.nodes
    assert not (await nodes.this()).paused

    nodes.pause_intake()
    memory.runtime.intake.start_quarantine()
    this = await nodes.this()
    assert (this.id, this.paused, this.careful, this.details.queues) == ("n", True, True, ("default",))

    nodes.resume_intake()
    assert not (await nodes.this()).paused


async def test_an_idle_node_is_drained_at_once(memory: MemoryNode) -> None:
    assert await memory.runtime.nodes.drain(timedelta(seconds=5))
    assert (await memory.runtime.nodes.this()).state == "draining"
