"""Workflows that start workflows: rows in commits, never one instance inside another's burst."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import Event, ExecuteWorkflow, Fault, Parallel, Sequence, SetOutput, SetVariable
from holdfast.api import ActivationStrategy
from holdfast.model.instance import JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, queue_of
from tests.support.node import node_of


def child(**options: Any) -> Workflow:
    return Workflow(
        Sequence(Event("go", result="got"), SetOutput("double", expr("x * 2"))),
        inputs={"x": int},
        outputs={"double": int},
        variables={"got": None},
        id="child",
        **options,
    )


def parent(*, wait: bool = True, workflow: str = "child") -> Workflow:
    return Workflow(
        Sequence(
            ExecuteWorkflow(workflow, input=expr("{'x': 21}"), wait=wait, result="answer"),
            SetOutput("answer", expr("answer")),
        ),
        variables={"answer": None},
        outputs={"answer": dict},
        id="parent",
    )


async def settled(runtime: Any, identity: str, status: Status) -> Any:
    """Wait until the instance has this status, wherever it runs."""
    seen = 0
    while (result := await runtime.read(identity)).status is not status:
        seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))
    return result


async def test_a_parent_waits_for_its_child(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()])
    b = await cluster.node("b", definitions=[child()])
    identity = (await a.start(parent())).result.instance_id
    waiting = await a.settle(identity)
    assert waiting.status is Status.SUSPENDED
    child_id = child_of(waiting)
    assert (await a.settle(child_id)).status is Status.SUSPENDED

    ended = await b.resume(child_id)
    assert ended.status is Status.FINISHED

    done = await settled(a, identity, Status.FINISHED)
    assert done.outputs["answer"]["outputs"] == {"double": 42}
    assert (await a.row(child_id)).parent_id == identity
    assert (await a.store.stats(cluster.tenant)).work_ready == 0
    for one in (identity, child_id):
        await cluster.check(b, one)


def child_of(result: Any) -> str:
    found: str = next(iter(result._live.bookmarks.values())).payload["child"]
    return found


async def test_a_parent_that_does_not_wait_goes_on(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()], work=True)
    identity = (await a.start(parent(wait=False))).result.instance_id
    ended = await a.wait_at_rest(identity)
    answer = ended.outputs["answer"]
    assert answer["status"] == "suspended"
    assert (await a.read(answer["instance_id"])).status is Status.SUSPENDED
    await a.resume(answer["instance_id"])
    assert (await a.wait_at_rest(answer["instance_id"])).outputs == {"double": 42}
    await cluster.check(a, identity)


async def test_another_node_starts_the_child_of_one_that_died(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()])
    node_of(a).components.poller._does_own = False  # It dies after the commit.
    waiting = (await a.start(parent())).result
    b = await cluster.node("b", definitions=[child()], work=True)
    child_id = child_of(waiting)
    store, seen = b.store, 0
    while child_id not in {mark.instance_id for mark in await store.bookmarks_of(cluster.tenant, child_id)}:
        seen = await store.wait_for_change(seen, timedelta(seconds=1))
    await b.resume(child_id)
    ended = await b.wait_at_rest(waiting.instance_id)
    assert ended.outputs["answer"]["outputs"] == {"double": 42}
    await cluster.check(b, waiting.instance_id)


async def test_canceling_a_parent_cancels_its_child(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()])
    waiting = (await a.start(parent())).result
    await a.settle(child_of(waiting))
    b = await cluster.node("b", definitions=[child()], work=True)
    assert (await b.cancel(waiting.instance_id)).status is Status.CANCELED
    canceled = await b.wait_at_rest(child_of(waiting))
    assert canceled.status is Status.CANCELED
    await cluster.check(b, canceled.instance_id)


async def test_a_parent_canceled_at_once_starts_no_child(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()])
    node_of(a).components.poller._does_own = False
    waiting = (await a.start(parent())).result
    await a.cancel(waiting.instance_id)
    b = await cluster.node("b", definitions=[child()], work=True)
    store, seen = b.store, 0
    while (await store.stats(cluster.tenant)).work_ready:
        seen = await store.wait_for_change(seen, timedelta(seconds=1))
    with pytest.raises(LookupError):
        await b.read(child_of(waiting))


async def test_a_faulted_child_faults_or_tells_its_parent(cluster: Any) -> None:
    bad = Workflow(Fault("no"), id="bad", inputs={"x": int})
    a = await cluster.node("a", definitions=[bad], work=True)
    identity = (await a.start(parent(workflow="bad"))).result.instance_id
    ended = await a.wait_at_rest(identity)
    assert ended.outputs["answer"]["status"] == "faulted"


async def test_a_child_that_cannot_start_faults_its_parent(cluster: Any) -> None:
    a = await cluster.node("a", work=True)
    identity = (await a.start(parent(workflow="nowhere"))).result.instance_id
    ended = await a.wait_at_rest(identity)
    assert ended.status is Status.FAULTED
    assert "nowhere" in ended.incidents[0].message
    assert (await a.store.stats(cluster.tenant)).work_ready == 0


async def test_a_child_whose_place_is_taken_faults_its_parent(cluster: Any) -> None:
    alone = child(activation=ActivationStrategy.SINGLETON)
    a = await cluster.node("a", definitions=[alone], work=True)
    holder = (await a.start(alone, {"x": 1})).result.instance_id
    identity = (await a.start(parent())).result.instance_id
    ended = await a.wait_at_rest(identity)
    assert ended.status is Status.FAULTED
    assert holder in ended.incidents[0].message


async def test_many_children_of_one_parent(cluster: Any) -> None:
    quick = Workflow(SetOutput("double", expr("x * 2")), inputs={"x": int}, outputs={"double": int}, id="quick")
    nodes = [await cluster.node(name, definitions=[quick], work=True) for name in "ab"]
    many = Workflow(
        Sequence(
            Parallel(
                *(
                    Sequence(
                        ExecuteWorkflow("quick", input=expr("{'x': 1}"), wait=True),
                        SetVariable("count", expr("count + 1")),
                    )
                    for _ in range(50)
                )
            ),
            SetOutput("count", expr("count")),
        ),
        variables={"count": 0},
        outputs={"count": int},
    )
    identity = (await nodes[0].start(many)).result.instance_id
    ended = await nodes[1].wait_at_rest(identity)
    assert ended.outputs == {"count": 50}
    assert (await nodes[0].row(identity)).version <= 51
    await cluster.check(nodes[0], identity)


async def test_a_cancel_that_comes_before_its_child_is_not_lost(cluster: Any) -> None:
    """Somebody has the start row in hand while the parent is canceled: the child is started, and canceled then."""
    a = await cluster.node("a", definitions=[child()])
    node_of(a).components.poller._does_own = False
    waiting = (await a.start(parent())).result
    child_id = child_of(waiting)
    export = await a.store.export_instance(cluster.tenant, child_id)
    assert export is None
    async with a.store.claim([queue_of(cluster.tenant)], 10) as claim:
        (start,) = claim.rows
    await a.cancel(waiting.instance_id)
    await a.store.enqueue([start])  # It could not be dropped.
    async with a.store.claim([queue_of(cluster.tenant)], 10) as claim:
        cancel = next(row for row in claim.rows if row.kind == WorkKind.CANCEL)

    node_of(a).components.poller.take([cancel])
    node_of(a).components.poller.take([start])
    node_of(a).take_work()

    seen = 0
    while await a.store.versions_of([InstanceKey(cluster.tenant, child_id)]) == {}:
        seen = await a.store.wait_for_change(seen, timedelta(seconds=1))
    assert (await a.wait_at_rest(child_id)).status is Status.CANCELED


async def test_terminating_a_parent_terminates_its_child(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[child()], work=True)
    waiting = (await a.start(parent())).result
    await a.settle(child_of(waiting))

    await a.cancel(waiting.instance_id, terminate=True)

    ended = await a.wait_at_rest(child_of(waiting))
    causes = [
        entry.data["cause"]
        for entry in await a.journal(ended.instance_id)
        if entry.event is JournalEvent.INSTANCE_CANCELED
    ]
    assert (ended.status, causes) == (Status.CANCELED, ["terminated"])
