"""Workflow middleware on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.api import MiddlewarePlacement
from tests.integration.conftest import Cluster


class Watch:
    broken = False

    def __init__(self) -> None:
        self.seen: list[str] = []

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        if self.broken:
            raise ValueError("not ready")
        proceed()
        self.seen.append(context.status)


@pytest.mark.parametrize("by_operator", [False, True])
async def test_it_runs_around_segments_and_its_error_can_be_retried(cluster: Cluster, by_operator: bool) -> None:
    watch = Watch()
    runtime = await cluster.node(work=True, middleware=[MiddlewarePlacement(name="watch", middleware=watch)])
    flow = Workflow(Sequence(WriteLine("a"), Event("go"), WriteLine("b")), id="watched")
    answer = await runtime.start(flow)
    assert answer.result is not None
    identity = answer.result.instance_id
    watch.broken = True
    await runtime.stimuli.event("go", instance_id=identity)
    async with asyncio.timeout(20):
        failed = await runtime.wait_at_rest(identity)
    assert (failed.status, failed.incidents[0].type) == (Status.FAULTED, "middleware")

    watch.broken = False
    if by_operator:
        assert (await runtime.operators.retry(identity, who="ada")).changed
    else:
        await runtime.retry(identity)
    async with asyncio.timeout(20):
        assert (await runtime.wait_at_rest(identity)).status is Status.FINISHED
    assert set(watch.seen) == {"suspended", "finished"}
    assert (await runtime.read(identity)).incidents == []
    await cluster.check(runtime, identity)
