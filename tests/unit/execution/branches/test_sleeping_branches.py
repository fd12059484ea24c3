"""Sleeping branches: an instance whose branches sleep does what one does that is always whole."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import Holdfast, Workflow, activity, first, gather, parallel, run_child, wait_for, workflow
from holdfast.activities import Event, ParallelForEach, Sequence, SetVariable
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectFailure, Returned
from holdfast.model.instance import Status
from holdfast.testing.clock import VirtualClock
from tests.support.stored_instance import StoredInstance, all_branches_sleep
from tests.support.tracked_heap import small_pages


@activity
async def charge(number: int) -> int:
    return 2 * number


@activity
async def ship(order: dict[str, Any]) -> dict[str, Any]:
    return {**order, "shipped": True}


@workflow
async def child(number: int) -> int:
    return number


@workflow
async def scalars(count: int) -> list[int]:
    return await gather(*[charge(number) for number in range(count)])


@workflow
async def records(count: int) -> list[Any]:
    orders = [{"id": number, "lines": [number]} for number in range(count)]
    found = await gather(*[ship(order) for order in orders])
    return [orders, found]


@workflow
async def few_at_a_time(count: int) -> list[int]:
    async with parallel(limit=5) as calls:
        for number in range(count):
            calls.start(charge(number))
    return calls.results


@workflow
async def race(count: int) -> int:
    return await first(*[charge(number) for number in range(count)])


@workflow
async def children(count: int) -> list[int]:
    return await gather(*[run_child(child, number) for number in range(count)])


@workflow
async def events(count: int) -> list[Any]:
    return await gather(*[wait_for("go", key=number) for number in range(count)])


@workflow
async def nested(count: int) -> list[Any]:
    total = []
    for _ in range(2):
        total += await gather(*[charge(number) for number in range(count)])
    return total


def each() -> Workflow:
    body = Sequence(SetVariable("seen", 1), Event("go"), charge.bind(number=1))
    return Workflow(ParallelForEach(list(range(12)), body), id="each", variables={"seen": 0})


FLOWS: dict[str, Any] = {
    item.id: item for item in (scalars, records, few_at_a_time, race, children, events, nested)
} | {"each": None}


@pytest.fixture
def engine() -> Iterator[Holdfast]:
    made = Holdfast(clock=VirtualClock(), entry_points=False, activities=[charge, ship], workflows=[child])
    yield made
    made.close()


def stored(engine: Holdfast, name: str, count: int) -> StoredInstance:
    flow = each() if name == "each" else FLOWS[name]
    return StoredInstance(engine, engine.plan(flow), {} if name == "each" else {"count": count})


def answer(kind: str, key: Any) -> Any:
    """An act on the bookmark or effect with this key."""

    def act(live: LiveInstance) -> None:
        if kind == "bookmark":
            delivery.resume(live, key, {"result": 1, "status": "finished", "outputs": {"result": 1}})
            return
        attempt = live.effects[key].attempt
        result = EffectFailure(type="ValueError", message="no") if kind == "failure" else Returned({"of": key})
        delivery.finish_effect(live, key, attempt, result)

    return act


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", FLOWS)
def test_it_does_what_its_twin_does(engine: Holdfast, name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    with all_branches_sleep(), small_pages():
        instance = stored(engine, name, 12)
        for _ in range(200):
            twin = instance.twin
            waits = [("bookmark", key) for key in twin.bookmarks] + [("effect", key) for key in twin.effects]
            if not waits or twin.status.at_rest:
                break
            kind, key = rng.choice(waits)
            if kind == "effect" and rng.random() < 0.05:
                kind = "failure"
            instance.burst(answer(kind, key), cold=rng.random() < 0.3)
            instance.check()
        assert twin.status.at_rest or twin.incidents


@pytest.mark.parametrize("name", ["scalars", "records", "events", "each"])
@pytest.mark.parametrize("act", ["cancel", "terminate", "retry"])
def test_acts_on_the_whole_instance_reach_branches_that_sleep(engine: Holdfast, name: str, act: str) -> None:
    with all_branches_sleep(), small_pages():
        instance = stored(engine, name, 12)
        if act == "retry":
            kind = "failure" if instance.twin.effects else "bookmark"
            instance.burst(answer(kind, next(iter(instance.twin.effects or instance.twin.bookmarks))))
            if instance.twin.incidents:
                instance.burst(delivery.retry)
        else:
            instance.burst(lambda live: delivery.cancel(live, finalize=act == "cancel"))
            assert instance.twin.status in (Status.CANCELED, Status.CANCELING)
        instance.check()


@pytest.mark.parametrize("name", ["scalars", "records", "children", "events"])
def test_a_burst_wakes_what_it_uses(engine: Holdfast, name: str) -> None:
    with all_branches_sleep(), small_pages():
        instance = stored(engine, name, 50)
        kind = "effect" if instance.twin.effects else "bookmark"
        for key in list(instance.twin.effects or instance.twin.bookmarks)[5:20]:
            instance.burst(answer(kind, key))
            assert instance.woken == 1
        instance.check()


def test_a_small_container_does_not_sleep(engine: Holdfast) -> None:
    instance = stored(engine, "scalars", 150)
    live = instance.burst(answer("effect", next(iter(instance.twin.effects))))

    assert live.asleep is None
    instance.check()
