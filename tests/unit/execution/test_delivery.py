"""The time of an attempt is kept by whoever runs it: waiting for a worker, or for somebody's word, is no part of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast import Context, OnLost, Poll, Retry, Status, Workflow, activity
from holdfast.execution import delivery
from holdfast.execution.record import NewBookmark, Record
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.instance import BookmarkKind
from holdfast.testing.clock import VirtualClock

MINUTE = timedelta(minutes=1)


@activity
async def pay() -> str:
    return "paid"


class Payment(Poll):
    async def poll(self, context: Context) -> None:
        return None


def begun(engine: Any, workflow: Workflow) -> Any:
    live = delivery.start(engine.plan(workflow), id="i", now=engine.clock.now_ns, services=engine.services, inputs={})
    run_segment(live, Limits())
    return live


def timeouts(live: Any) -> list[Any]:
    return [mark for mark in live.bookmarks.values() if mark.kind is BookmarkKind.TIMEOUT]


def test_an_effect_that_nobody_runs_does_not_time_out(make_engine: Any, clock: VirtualClock) -> None:
    """On a queue, or held after a crash: a retry would pay a second time."""
    once_more = Retry(attempts=5, delay=timedelta(seconds=1))
    paying = Workflow(pay.bind(timeout=MINUTE, retry=once_more, on_lost=OnLost.HOLD, id="pay"), id="paying")
    live = begun(make_engine(), paying)
    (mark,) = timeouts(live)

    clock.advance(MINUTE)
    delivery.resume(live, mark.id)
    run_segment(live, Limits())

    (effect,) = live.effects.values()
    assert effect.attempt == 1
    assert not live.bookmarks
    assert live.incidents == []

    assert delivery.finish_effect(live, effect.execution_id, 1, Record(completed=True))
    run_segment(live, Limits())
    assert live.status is Status.FINISHED


def test_what_waits_after_its_effect_has_its_time_again(make_engine: Any, clock: VirtualClock) -> None:
    live = begun(make_engine(), Workflow(Payment(interval=timedelta(hours=1), timeout=MINUTE), id="polling"))
    (mark,) = timeouts(live)
    delivery.resume(live, mark.id)
    (effect,) = live.effects.values()

    waits = Record(bookmarks=[NewBookmark(name="later", due=clock.now() + timedelta(hours=1))])
    delivery.finish_effect(live, effect.execution_id, 1, waits)
    run_segment(live, Limits())
    (mark,) = timeouts(live)
    assert mark.due == clock.now() + MINUTE

    delivery.resume(live, mark.id)
    run_segment(live, Limits())
    assert live.status is Status.FAULTED
    assert live.incidents[0].type == "ActivityTimeout"
