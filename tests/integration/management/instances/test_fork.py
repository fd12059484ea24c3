"""A copy of an instance goes its own way; the original does not notice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, expr, wait_for, workflow
from holdfast.activities import Event, ExecuteWorkflow, HumanTask, Sequence, SetOutput, SetVariable
from holdfast.api import ActivationStrategy
from holdfast.errors import ExecutionError, InstanceAtRest
from holdfast.model.instance import JournalEvent


def waiting(**options: Any) -> Workflow:
    root = Sequence(Event("go", result="got"), SetOutput("got", expr("got")))
    return Workflow(root, id="waiting", variables={"got": None}, outputs={"got": int}, **options)


async def test_both_go_on_by_themselves(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    identity = (await a.start(waiting(), correlation_id="c")).result.instance_id

    copy = await b.fork(identity, who="ann", why="to try")
    await a.resume(copy, payload=1)
    await b.resume(identity, payload=2)

    assert (await a.read(copy)).outputs == {"got": 1}
    assert (await a.read(identity)).outputs == {"got": 2}
    assert (await a.read(copy)).correlation_id == "c"
    acts = {
        one: [entry.data for entry in await a.journal(one) if entry.event is JournalEvent.OPERATED]
        for one in (identity, copy)
    }
    assert acts[copy] == [{"verb": "fork", "who": "ann", "why": "to try", "of": identity, "version": 1}]
    assert acts[identity] == [{"verb": "fork", "who": "ann", "why": "to try", "to": copy, "version": 1}]
    await cluster.check(a, copy)
    await cluster.check(a, identity)


@workflow
async def approving() -> Any:
    return await wait_for("approval")


async def test_what_is_sent_to_one_does_not_reach_the_other(cluster: Any) -> None:
    a = await cluster.node("a", work=True)
    identity = (await a.start(approving)).result.instance_id
    copy = await a.fork(identity, who="ann")

    await a.stimuli.send("Event", "yes", name="approval", instance_id=copy)

    assert (await a.wait_at_rest(copy)).outputs == {"result": "yes"}
    assert (await a.read(identity)).status is Status.SUSPENDED


async def test_the_copy_has_a_task_of_its_own(cluster: Any) -> None:
    a = await cluster.node("a")
    root = Workflow(HumanTask("Look", assignee="ann"), id="looking")
    identity = (await a.start(root)).result.instance_id

    copy = await a.fork(identity, who="ann")
    (task,) = (await a.tasks.list(instance_id=copy)).items
    await a.tasks.complete(task.id, "ann")

    assert (await a.read(copy)).status is Status.FINISHED
    assert (await a.read(identity)).status is Status.SUSPENDED
    assert (await a.tasks.list()).total == 1


async def test_what_is_under_way_is_not_forked(cluster: Any) -> None:
    gate = asyncio.Event()

    @activity
    async def slow() -> None:
        await gate.wait()

    a = await cluster.node("a", definitions=[waiting()])
    running = (await a.start(Workflow(slow.bind(), id="slow"))).result.instance_id
    parent = (await a.start(Workflow(ExecuteWorkflow("waiting", wait=True), id="parent"))).result.instance_id
    ended = (await a.start(Workflow(SetOutput("x", 1), id="ended", outputs={"x": int}))).result.instance_id

    for identity in (running, parent):
        with pytest.raises(ExecutionError, match="under way"):
            await a.fork(identity, who="ann")
    with pytest.raises(InstanceAtRest):
        await a.fork(ended, who="ann")
    gate.set()


async def test_there_is_one_place_where_there_is_one(cluster: Any) -> None:
    a = await cluster.node("a")
    only = (await a.start(waiting(activation=ActivationStrategy.SINGLETON))).result.instance_id

    with pytest.raises(InstanceAtRest, match="one at a time"):
        await a.fork(only, who="ann")


def counting() -> Workflow:
    steps = [Event("go", result="got"), SetVariable("sum", expr("sum + got"))]
    return Workflow(
        Sequence(*steps, *[Event("go", result="got"), SetVariable("sum", expr("sum + got"))], Event("end")),
        id="counting",
        variables={"sum": 0, "got": 0, "large": "x" * 10_000},
    )


async def test_with_snapshots_a_copy_begins_at_any_moment(cluster: Any) -> None:
    a = await cluster.node("a", history="snapshots")
    identity = (await a.start(counting())).result.instance_id
    await a.resume(identity, payload=1)
    await a.resume(identity, payload=10)

    moments = await a.moments(identity)
    assert [moment.version for moment in moments] == [1, 2, 3]
    assert [(await a.read_at(identity, moment.version)).variables["sum"] for moment in moments] == [0, 1, 11]

    copy = await a.fork(identity, version=2, who="ann")
    await a.resume(copy, payload=100)

    assert (await a.read(copy)).variables["sum"] == 101
    assert (await a.read(copy)).variables["large"] == "x" * 10_000
    assert (await a.read(identity)).variables["sum"] == 11
    await cluster.check(a, copy)


async def test_without_snapshots_there_is_no_moment_to_go_back_to(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(counting())).result.instance_id
    await a.resume(identity, payload=1)

    assert await a.moments(identity) == []
    with pytest.raises(ExecutionError, match="history = snapshots"):
        await a.fork(identity, version=1, who="ann")
