"""Schedules: started once by the whole cluster, moved on in the same commit, paused, resumed, run by hand (rule M20)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Cron, Event, Sequence, StartAt, Timer, WriteLine
from holdfast.errors import InvalidCron, PlaceTaken, ScheduleNotFound
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.definition import ActivationStrategy
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.schedule import Rule, encode_rule, instance_id, schedule_id
from holdfast.model.work import ScheduleRow
from tests.integration.conftest import Cluster
from tests.support.node import node_of

TICK = timedelta(milliseconds=20)


def ticking(interval: timedelta = TICK, **options: Any) -> Workflow:
    return Workflow(Sequence(Timer(interval, id="tick", can_start=True), WriteLine("tick")), id="ticking", **options)


async def publish(runtime: ManagedRuntime, workflow: Workflow) -> None:
    await runtime.definitions.deploy(workflow)


async def instances(runtime: ManagedRuntime, definition_id: str = "ticking") -> list[str]:
    query = InstanceQuery(tenant=runtime.tenant, filter=InstanceFilter(definition_ids=(definition_id,)), limit=1000)
    return [item.id for item in (await runtime.store.search(query)).items]


async def until(runtime: ManagedRuntime, count: int) -> list[str]:
    async with asyncio.timeout(20):
        while True:
            if len(found := await instances(runtime)) >= count:
                return found
            await asyncio.sleep(0.01)


async def test_a_cluster_fires_each_due_time_once_and_without_a_gap(cluster: Cluster) -> None:
    nodes = [await cluster.node(name) for name in "abc"]
    await publish(nodes[0], ticking())
    (before,) = await nodes[0].schedules.list()
    for runtime in nodes:
        node_of(runtime).take_work()

    await until(nodes[1], 5)
    paused = await nodes[2].schedules.pause(before.id)
    async with asyncio.timeout(10):
        await asyncio.gather(*(node_of(runtime).components.scheduler.stop() for runtime in nodes))
    found = await instances(nodes[0])

    assert before.due is not None
    assert paused.fired is not None
    fired = [before.due + TICK * number for number in range(len(found))]
    assert set(found) == {instance_id(before.id, due) for due in fired}
    states = [(await nodes[0].read(name)).status for name in found]
    assert set(states) == {Status.FINISHED}


async def test_a_paused_schedule_stays_paused_over_a_publish_and_goes_on_when_resumed(cluster: Cluster) -> None:
    runtime = await cluster.node()
    await publish(runtime, ticking())
    (row,) = await runtime.schedules.list()
    await runtime.schedules.pause(row.id)

    await runtime.schedules.put("ticking", [("Timer", "tick", {"interval": TICK}), ("Event", "other", {})])
    (again,) = await runtime.schedules.list()
    assert (again.paused, again.due) == (True, None)
    assert await runtime.schedules.next_times(row.id) == []
    node_of(runtime).take_work()
    assert await node_of(runtime).components.scheduler.fire_due() == 0

    resumed = await runtime.schedules.resume(row.id)
    assert not resumed.paused
    assert resumed.due is not None
    await until(runtime, 2)


async def test_publishing_the_same_rule_again_keeps_the_due_time_and_another_rule_does_not(cluster: Cluster) -> None:
    runtime = await cluster.node()
    hour = ("Timer", "tick", {"interval": timedelta(hours=1)})
    await runtime.schedules.put("ticking", [hour])
    (first,) = await runtime.schedules.list()
    await runtime.schedules.put("ticking", [hour])
    (same,) = await runtime.schedules.list()
    await runtime.schedules.put("ticking", [("Timer", "tick", {"interval": timedelta(hours=2)})])
    (other,) = await runtime.schedules.list()

    assert same.due == first.due
    assert other.due is not None
    assert first.due is not None
    assert other.due > first.due
    await runtime.schedules.put("ticking", [])
    assert await runtime.schedules.list() == []


async def late(runtime: ManagedRuntime, misfire: str, *, limit: int = 10) -> tuple[ScheduleRow, datetime]:
    """An hourly schedule that nobody fired for three hours and a half."""
    await publish(runtime, ticking(timedelta(hours=1)))
    now = await runtime.store.now()
    due = now.replace(microsecond=0) - timedelta(hours=3, minutes=30)
    rule = Rule(type="Timer", activity_id="tick", interval=timedelta(hours=1), misfire=misfire, catch_up_max=limit)  # type: ignore[arg-type]
    row = ScheduleRow(
        tenant=runtime.tenant,
        id=schedule_id("ticking", "tick"),
        definition_id="ticking",
        due=due,
        payload=encode_rule(rule),
    )
    await runtime.store.put_schedules(runtime.tenant, "ticking", [row])
    while await node_of(runtime).components.scheduler.fire_due():
        pass
    return row, due


@pytest.mark.parametrize(
    ("misfire", "limit", "hours"),
    [("fire_once", 10, [0]), ("skip", 10, []), ("catch_up", 10, [0, 1, 2, 3]), ("catch_up", 2, [2, 3])],
)
async def test_missed_firings_follow_the_policy(cluster: Cluster, misfire: str, limit: int, hours: list[int]) -> None:
    runtime = await cluster.node()
    row, due = await late(runtime, misfire, limit=limit)

    assert set(await instances(runtime)) == {instance_id(row.id, due + timedelta(hours=hour)) for hour in hours}
    (schedule,) = await runtime.schedules.list()
    assert schedule.due == due + timedelta(hours=4)


async def test_run_now_starts_one_and_leaves_the_schedule_alone(cluster: Cluster) -> None:
    runtime = await cluster.node()
    await publish(runtime, ticking(timedelta(hours=1)))
    (before,) = await runtime.schedules.list()

    started = await runtime.schedules.run_now(before.id)

    assert (await runtime.read(started)).status is Status.FINISHED
    assert await runtime.schedules.list() == [before]
    with pytest.raises(ScheduleNotFound, match="nobody"):
        await runtime.schedules.run_now("nobody")


async def test_a_place_that_is_taken_skips_the_firing_and_the_schedule_goes_on(cluster: Cluster) -> None:
    runtime = await cluster.node()
    single = Workflow(
        Sequence(Timer(timedelta(hours=1), id="tick", can_start=True), Event("go")),
        id="ticking",
        activation=ActivationStrategy.SINGLETON,
    )
    await publish(runtime, single)
    (row,) = await runtime.schedules.list()
    holder = await runtime.schedules.run_now(row.id)

    with pytest.raises(PlaceTaken, match=holder):
        await runtime.schedules.run_now(row.id)
    stored = (await runtime.store.list_schedules(runtime.tenant))[0]
    now = await runtime.store.now()
    due = now - timedelta(seconds=5)
    moved = ScheduleRow(
        tenant=stored.tenant,
        id=stored.id,
        definition_id="ticking",
        due=due,
        payload=encode_rule(Rule(type="Timer", activity_id="tick", interval=timedelta(hours=2))),
    )
    await runtime.store.put_schedules(stored.tenant, "ticking", [moved])
    await node_of(runtime).components.scheduler.fire_due()

    assert await instances(runtime) == [holder]
    (after,) = await runtime.schedules.list()
    assert after.due == due + timedelta(hours=2)


async def test_next_times_and_previews_are_by_the_zone(cluster: Cluster) -> None:
    runtime = await cluster.node()
    daily = Workflow(
        Sequence(Cron("30 2 * * *", "Europe/Berlin", id="night", can_start=True), WriteLine("night")), id="nightly"
    )
    await publish(runtime, daily)
    (row,) = await runtime.schedules.list()

    times = await runtime.schedules.next_times(row.id, 400)
    local = {(item - times[0]) for item in times}
    assert len(local) == 400
    assert times == await runtime.schedules.preview("30 2 * * *", "Europe/Berlin", 400)
    assert (row.rule, row.zone) == ("30 2 * * *", "Europe/Berlin")
    with pytest.raises(InvalidCron):
        await runtime.schedules.preview("every day")


async def test_a_moment_starts_once_and_one_that_has_passed_never(cluster: Cluster) -> None:
    runtime = await cluster.node()
    at = await runtime.store.now() + timedelta(seconds=2)  # It must be published before, also on a busy machine.
    past = datetime(2020, 1, 1, tzinfo=UTC)
    both = Workflow(
        Sequence(StartAt(at, id="soon", can_start=True), StartAt(past, id="gone", can_start=True)), id="ticking"
    )
    await publish(runtime, both)
    node_of(runtime).take_work()

    (only,) = await until(runtime, 1)

    assert only == instance_id(schedule_id("ticking", "soon"), at)
    assert [item.due for item in await runtime.schedules.list()] == [None, None]
