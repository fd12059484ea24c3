"""Health of a process: the reasons why its nodes take no work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.management.health import why_unready
from holdfast.model.cluster import NodeState
from tests.support.memory_node import MemoryNode


async def test_a_started_node_is_ready(memory: MemoryNode) -> None:
    assert await why_unready([memory.runtime]) == []


async def test_a_draining_node_is_named_before_its_next_heartbeat(memory: MemoryNode) -> None:
    memory.runtime.liveness.state = NodeState.DRAINING

    assert await why_unready([memory.runtime]) == ["This node is draining: it takes no new work."]


async def test_an_old_heartbeat_is_named_once_for_all_runtimes(memory: MemoryNode) -> None:
    memory.clock.advance(timedelta(minutes=1))

    assert await why_unready([memory.runtime, memory.runtime]) == [
        "This node is not registered, or its heartbeat is too old."
    ]


async def test_a_store_that_does_not_answer_is_the_reason(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away() -> None:
        raise StoreUnavailable("connection refused")

    monkeypatch.setattr(memory.store, "list_nodes", away)

    (reason,) = await why_unready([memory.runtime])
    assert reason.startswith("The store does not answer")
    monkeypatch.undo()
