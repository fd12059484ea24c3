"""How an activity is to be run may stand above it: what the decorator says holds wherever the activity is used."""

from __future__ import annotations

import pytest

from holdfast import Holdfast, OnLost, Retry, Workflow, activity, workflow
from holdfast.activities import Sequence
from holdfast.model.work import EffectRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.placement import step_priority


@activity(queue="mail", on_lost=OnLost.HOLD, priority=3, retry=Retry(attempts=2))
async def send(to: str) -> str:
    return to


@workflow
async def telling(to: str) -> str:
    return await send(to)


@workflow
async def telling_otherwise(to: str) -> str:
    return await send.options(queue="letters", on_lost=OnLost.FAIL, priority=1)(to)


bound = Workflow(Sequence(send.bind("ann")), id="bound")


async def effect_of(flow: Workflow, inputs: dict[str, str]) -> tuple[EffectRow, int]:
    """Nobody serves the queue, so it waits there."""
    store = MemoryStore()
    async with Holdfast(entry_points=False).runtime_on(store) as runtime:
        started = await runtime.start(flow, inputs)
        assert started.result is not None
        (row,) = await store.effects_of("", started.result.instance_id)
        plan = await runtime.plans.plan((await runtime.row(row.instance_id)).content)
        return row, step_priority(plan, row)


@pytest.mark.parametrize(("flow", "inputs"), [(telling, {"to": "ann"}), (bound, {})], ids=["function", "objects"])
async def test_the_decorator_says_how(flow: Workflow, inputs: dict[str, str]) -> None:
    row, priority = await effect_of(flow, inputs)

    assert (row.queue.partition("@")[0], row.on_lost, priority) == ("mail", "hold", 3)


async def test_the_call_goes_before_the_decorator() -> None:
    row, priority = await effect_of(telling_otherwise, {"to": "ann"})

    assert (row.queue.partition("@")[0], row.on_lost, priority) == ("letters", "fail", 1)
