"""Activities that ask again until something is so."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast import Context, Holdfast, Poll, Status, Workflow
from holdfast.testing.clock import START, VirtualClock


class Arrived(Poll):
    """Answers the third question."""

    order: str

    async def poll(self, context: Context) -> Any:
        seen.append((self.order, context.execution_id))
        return {"order": self.order} if len(seen) >= 3 else None


class Never(Poll):
    async def poll(self, context: Context) -> Any:
        seen.append(context.now)


seen: list[Any] = []


async def test_it_asks_until_there_is_an_answer_and_waits_in_between() -> None:
    seen.clear()
    clock = VirtualClock()
    runner = Holdfast(entry_points=False, clock=clock).runner
    workflow = Workflow(
        Arrived(order="7", interval=timedelta(minutes=5), result="found"), variables={"found": None}, id="polling"
    )
    result = await runner.run(workflow, wait=True)

    assert result.status is Status.FINISHED
    assert result.variables["found"] == {"order": "7"}
    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert clock.now() - START == timedelta(minutes=10)


async def test_it_gives_up_after_a_while() -> None:
    seen.clear()
    clock = VirtualClock()
    runner = Holdfast(entry_points=False, clock=clock).runner
    flow = Workflow(Never(interval=timedelta(minutes=1), give_up_after=timedelta(minutes=3)), id="patient")
    result = await runner.run(flow, wait=True)

    assert result.status is Status.FAULTED
    assert result.incidents[0].type == "ActivityTimeout"
    assert [moment - START for moment in seen] == [timedelta(minutes=number) for number in range(4)]
