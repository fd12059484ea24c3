"""A step that a node gave back, or returned to its queue before it died, is claimable at once on another node."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import Status, Workflow, activity
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.runtime.commits.placement import step_id
from holdfast.runtime.steps import sender
from tests.support.node import node_of
from tests.support.probe import probe


@activity
async def pay() -> str:
    probe.calls.append("pay")
    probe.begun.set()
    if len(probe.calls) == 1:  # The first attempt is the one that hangs.
        await probe.gate.wait()
    return "paid"


paying = Workflow(pay.bind(queue="default"), id="paying")


async def begun_on(node: Any) -> EffectRow:
    """A step that runs on this node."""
    started = await node.start(paying)
    await probe.begun.wait()
    row: EffectRow
    (row,) = await node.store.effects_of(node.tenant, started.result.instance_id)
    assert row.owner == node.membership.owner
    return row


async def test_a_step_that_is_given_back_survives_the_deletion_of_its_first_ticket(cluster: Any) -> None:
    """Two nodes claimed the first ticket. The one that came too late deletes it after the other has given the step back."""
    a, b = await cluster.node("a", work=True), await cluster.node("b", activities=[pay])
    row = await begun_on(a)

    await node_of(a).stop()
    await node_of(b).components.spent.delete(row.tenant, step_id(row.instance_id, row.execution, row.attempt))
    (given,) = await b.store.effects_of(row.tenant, row.instance_id)
    node_of(b).take_work()

    assert (given.owner, given.attempt) == (NO_OWNER, 1)
    async with asyncio.timeout(20):
        assert (await b.wait_at_rest(row.instance_id)).status is Status.FINISHED
    assert probe.calls == ["pay", "pay"]


async def test_a_step_without_a_ticket_is_sent_again_by_the_next_sweeps(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that takes a step over returns it to its queue and dies before it has written the ticket."""
    moment = [0.0]
    monkeypatch.setattr(sender, "monotonic", lambda: moment[0])
    a, b = await cluster.node("a", work=True), await cluster.node("b", activities=[pay])
    row = await begun_on(a)
    await cluster.died(a)
    returned = EffectRef(row.execution, 2, NO_OWNER)
    assert await b.store.move_effect(row.tenant, row.instance_id, row.ref, returned) is not None

    for _ in range(2):
        await node_of(b).components.reaper.sweep()
        moment[0] += sender.TICKET_PAUSE.total_seconds()
    node_of(b).take_work()

    async with asyncio.timeout(20):
        assert (await b.wait_at_rest(row.instance_id)).status is Status.FINISHED
    assert probe.calls == ["pay", "pay"]
    await cluster.check(b, row.instance_id)
