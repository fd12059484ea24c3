"""Health of a process: the reasons why its nodes take no work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.errors import StateUnreadable, StoreUnavailable
from holdfast.management.health import missing_code_warnings, why_unready
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


async def test_work_that_no_worker_can_run_is_a_warning(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await missing_code_warnings([memory.runtime]) == []
    memory.components.plans.obstacles.met("", StateUnreadable("i1", "gone", type_name="shop:Item", content="c1"))
    await memory.node.missing_code.check()

    (warning,) = await missing_code_warnings([memory.runtime])
    assert "holdfast doctor" in warning
    assert "shop:Item" not in warning  # A probe is open to everyone.
    assert await why_unready([memory.runtime]) == []

    async def away(*_: object) -> None:
        raise StoreUnavailable("connection refused")

    monkeypatch.setattr(memory.store, "list_records", away)
    assert await missing_code_warnings([memory.runtime]) == []
    monkeypatch.undo()
