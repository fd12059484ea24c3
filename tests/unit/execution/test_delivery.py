"""The time of an attempt is kept by whoever runs it: waiting for a worker, or for somebody's word, is no part of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Context, OnLost, Poll, Retry, Status, Workflow, activity
from holdfast.activities import Compensable, Sequence
from holdfast.execution import delivery, snapshot
from holdfast.execution.record import EffectFailure, NewBookmark, Record
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


@pytest.mark.parametrize(
    ("result", "undone"),
    [
        (Record(outputs={"result": "r"}, completed=True), ["refund", "unreserve"]),
        (EffectFailure(type="Canceled", message="", cause="canceled"), ["unreserve"]),
    ],
    ids=["finished", "canceled"],
)
def test_a_late_result_that_completes_a_compensable_is_undone_first(
    make_engine: Any, result: Any, undone: list[str]
) -> None:
    works = [
        Compensable(body=pay.bind(id=work), compensation=pay.bind(id=undo))
        for work, undo in (("reserve", "unreserve"), ("charge", "refund"))
    ]
    engine = make_engine()
    live = begun(engine, Workflow(Sequence(*works), id="saga"))
    (reserve,) = live.effects.values()
    assert delivery.finish_effect(live, reserve.execution_id, 1, Record(outputs={"result": "r"}, completed=True))
    run_segment(live, Limits())
    (charge,) = live.effects.values()
    live.new_effects = []  # Committed: it runs.

    assert delivery.cancel(live)
    run_segment(live, Limits())
    assert (live.effects, list(live.ending)) == ({}, [charge.execution_id])
    live = snapshot.load(snapshot.dump(live), live.plan, now=engine.clock.now_ns, services=engine.services)
    assert delivery.finish_effect(live, charge.execution_id, 1, result)

    begun_undos = []
    while run_segment(live, Limits()) and live.effects:
        (effect,) = live.effects.values()
        begun_undos.append(effect.activity_id)
        delivery.finish_effect(live, effect.execution_id, 1, Record(outputs={"result": "r"}, completed=True))
    assert (begun_undos, live.status) == (undone, Status.CANCELED)
