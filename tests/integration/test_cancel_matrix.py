"""Cancel, terminate and timeout at every moment of a saga, from the owner of its effects, from another node, and from a
process without a worker (rule M1).

Each case stops a saga at a moment, acts on it, lets everything continue and compares the log of the saga with the promises.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from msgspec import Struct

from holdfast import Status, Workflow
from holdfast.errors import InstanceEnded
from holdfast.model.instance import BookmarkKind
from holdfast.model.work import NO_OWNER
from holdfast.runtime.commits.jobs.resume import ResumeJob
from tests.support import saga_stage as sagas
from tests.support.node import node_of
from tests.support.saga_stage import MOMENTS, UNDOS, Moment, check, entries, stage

SOON = timedelta(seconds=1)


class Nodes(Struct):
    same: Any
    other: Any
    idle: Any
    """Takes no work."""


@pytest.fixture
async def nodes(cluster: Any) -> AsyncIterator[Nodes]:
    known = {"activities": sagas.ACTIVITIES, "definitions": [sagas.child_saga()]}
    yield Nodes(
        await cluster.node("same", work=True, **known),
        await cluster.node("other", work=True, **known),
        await cluster.node("idle", **known),
    )
    for event in stage.release.values():
        event.set()


@pytest.fixture(autouse=True)
def _stage() -> None:
    stage.renew()


@pytest.mark.parametrize("by", ["same", "other", "idle"])
@pytest.mark.parametrize("act", ["cancel", "terminate", "timeout"])
async def test_a_saga_keeps_its_promises_at_every_moment(cluster: Any, nodes: Nodes, act: str, by: str) -> None:
    for name, moment in MOMENTS.items():
        if moment.canceled and act == "timeout":
            continue  # A canceled instance has no timeout any more.
        identity = f"{cluster.tenant}-{name.replace(' ', '-')}"
        await reach(nodes, identity, moment)
        before = len(stage.log[identity])
        await perform(getattr(nodes, by), identity, act)
        if moment.stop is not None and act != "terminate":
            status = (await nodes.same.read(identity)).status
            assert status is (Status.CANCELING if act == "cancel" else Status.RUNNING), name
            assert stage.log[identity][before:] in ([], [f"!{moment.stop}"]), name
        await finish(nodes, identity)
        check(name, moment, act, stage.log[identity], before)
        await check_end(cluster, nodes, identity, act)


async def reach(nodes: Nodes, identity: str, moment: Moment) -> None:
    """Run the saga up to the moment."""
    for name, chosen in ((moment.stop, stage.stops), (moment.fails, stage.fails)):
        if name is not None:
            chosen[identity].add(name)
    await nodes.same.start(sagas.saga(asks=moment.asks), instance_id=identity)
    if moment.goes or moment.canceled:
        await waits_at(nodes.same, identity, "go")
        await (answer(nodes.same, identity, "go") if moment.goes else nodes.same.cancel(identity))
    if moment.stop is not None:
        await stage.reached(identity, f"+{moment.stop}")
    else:
        await waits_at(nodes.same, identity, str(moment.waits))


async def waits_at(node: Any, identity: str, event: str) -> None:
    seen = -1
    while event not in await open_events(node, identity):
        seen = await node.store.wait_for_change(seen, SOON)


async def open_events(node: Any, identity: str) -> dict[str, str]:
    """Ids of the bookmarks that wait for an event, by the name of the event."""
    found = (await node.read(identity))._live.bookmarks.values()
    return {item.payload["event_name"]: item.id for item in found if item.kind is BookmarkKind.ACTIVITY}


async def answer(node: Any, identity: str, event: str) -> None:
    await node.resume(identity, (await open_events(node, identity))[event])


async def perform(node: Any, identity: str, act: str) -> None:
    if act != "timeout":
        await node.operators.cancel(identity, terminate=act == "terminate", who="ann")
        if act == "cancel":  # A second cancel changes nothing.
            version = (await node.row(identity)).version
            again = await node.operators.cancel(identity, who="ann")
            assert not again.changed or version != (await node.row(identity)).version
        return
    marks = (await node.read(identity))._live.bookmarks.values()
    (timer,) = [item.id for item in marks if item.kind is BookmarkKind.TIMEOUT and item.execution_id == 1]
    await node.ask(ResumeJob(node.key(identity), timer))


async def finish(nodes: Nodes, identity: str) -> None:
    """Let everything go on, answer every question, and wait until the saga has ended and nothing runs any more."""
    stage.release[identity].set()
    seen = -1
    while not (await nodes.same.read(identity)).status.at_rest:
        for event in await open_events(nodes.other, identity):
            await answer(nodes.other, identity, event)
        seen = await nodes.same.store.wait_for_change(seen, SOON)
    for node in (nodes.same, nodes.other, nodes.idle):
        await node.settled(identity)


async def check_end(cluster: Any, nodes: Nodes, identity: str, act: str) -> None:
    ended = await nodes.idle.read(identity)
    assert ended.status is (Status.FAULTED if act == "timeout" else Status.CANCELED)
    if act == "timeout":
        assert [item.type for item in ended.incidents] == ["ActivityTimeout"]
    store, seen = nodes.same.store, -1
    while (export := await store.export_instance(cluster.tenant, identity)) is not None and export.work:
        seen = await store.wait_for_change(seen, SOON)  # The end of a child is on its way.
    assert export is not None
    assert (export.effects, export.bookmarks) == ((), ())
    await cluster.check(nodes.same, identity)


# -- other kinds of work -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["same", "other", "idle"])
@pytest.mark.parametrize("act", ["cancel", "terminate", "timeout"])
async def test_a_child_is_canceled_with_its_parent(cluster: Any, nodes: Nodes, act: str, by: str) -> None:
    identity = f"{cluster.tenant}-parent"
    stage.release[identity].set()
    stage.stops_of_all.add("work")
    await nodes.same.start(sagas.parent_saga(), instance_id=identity)
    (child,) = await children_of(nodes.same, identity)
    await stage.reached(child, "+work")

    await perform(getattr(nodes, by), identity, act)
    await stage.reached(child, "!work")
    stage.release[child].set()
    await stage.reached(child, "-work")
    await finish(nodes, identity)
    ended = await nodes.idle.wait_at_rest(child)

    assert ended.status is Status.CANCELED
    tidied = [] if act == "terminate" else ["+close", "-close"]
    assert stage.log[child] == ["+work", "!work", "-work", *tidied]
    await check_end(cluster, nodes, identity, act)
    await check_end(cluster, nodes, child, "cancel")


async def children_of(node: Any, identity: str) -> list[str]:
    seen = -1
    while True:
        marks = (await node.read(identity))._live.bookmarks.values()
        if found := [item.payload["child"] for item in marks if item.kind is BookmarkKind.CHILD]:
            return found
        seen = await node.store.wait_for_change(seen, SOON)


SITUATIONS = {
    "unclaimed step": sagas.step_saga,
    "delayed retry": sagas.retrying_saga,
    "delayed step": lambda: sagas.retrying_saga(queue="default"),
    "held": sagas.held_saga,
    "lost": sagas.saga,
}


@pytest.mark.parametrize("by", ["other", "idle"])
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("act", ["cancel", "terminate", "timeout"])
async def test_effects_that_no_node_runs_end_at_once(
    cluster: Any, nodes: Nodes, act: str, situation: str, by: str
) -> None:
    identity, workflow = f"{cluster.tenant}-i", SITUATIONS[situation]()
    await place(cluster, nodes, identity, situation, workflow)
    assert "-pay" in stage.log[identity] or "+pay" not in stage.log[identity] or situation in ("held", "lost")

    await perform(getattr(nodes, by), identity, act)
    stage.release[identity].set()
    ended = await nodes.idle.wait_at_rest(identity)

    assert ended.status is (Status.FAULTED if act == "timeout" else Status.CANCELED)
    begun = entries(stage.log[identity], "+")
    assert [word for word in begun if word in UNDOS] == (UNDOS if act == "cancel" else [])
    assert begun.count("tidy") == (act != "terminate")
    await check_end(cluster, Nodes(nodes.other, nodes.other, nodes.idle), identity, act)


async def place(cluster: Any, nodes: Nodes, identity: str, situation: str, workflow: Workflow) -> None:
    """Bring the saga into a situation in which no living node runs `pay`."""
    if situation in ("held", "lost"):
        stage.stops[identity].add("pay")
    elif situation.startswith("delayed"):
        stage.fails[identity].add("pay")
    await nodes.same.start(workflow, instance_id=identity)
    store = nodes.same.store
    if situation == "unclaimed step":
        seen = -1
        while not any(row.queue for row in await store.effects_of(cluster.tenant, identity)):
            seen = await store.wait_for_change(seen, SOON)
        return
    await stage.reached(identity, "+pay")
    if situation in ("held", "lost"):
        for node in (nodes.same, nodes.other):
            await node_of(node).components.reaper.stop()
        await cluster.died(nodes.same)
        return
    seen = -1
    while True:
        marks = (await nodes.same.read(identity))._live.bookmarks.values()
        rows = await store.effects_of(cluster.tenant, identity)
        if any(item.kind is BookmarkKind.RETRY for item in marks) or any(row.attempt == 2 for row in rows):
            return
        seen = await store.wait_for_change(seen, SOON)


@pytest.mark.parametrize("act", ["cancel", "terminate", "timeout"])
async def test_the_owner_of_a_step_is_told(cluster: Any, nodes: Nodes, act: str) -> None:
    worker = await cluster.node("worker", work=True, queues=(sagas.STEP_QUEUE,), activities=sagas.ACTIVITIES)
    identity = f"{cluster.tenant}-step"
    stage.stops[identity].add("pay")
    await nodes.same.start(sagas.step_saga(), instance_id=identity)
    await stage.reached(identity, "+pay")
    (row,) = await worker.store.effects_of(cluster.tenant, identity)
    assert row.owner == worker.membership.owner != NO_OWNER
    before = len(stage.log[identity])

    await perform(nodes.other, identity, act)
    async with asyncio.timeout(30):
        await stage.reached(identity, "!pay")
    assert stage.log[identity][before:] == ["!pay"]
    await finish(nodes, identity)
    await worker.settled(identity)

    check("step", Moment(stop="pay"), act, stage.log[identity], before)
    await check_end(cluster, nodes, identity, act)


async def test_events_for_a_canceling_instance_reach_its_finally_part_or_are_kept(cluster: Any, nodes: Nodes) -> None:
    """An event for a wait that the cancel dropped is not delivered; it is journaled as unread at the end."""
    identity = f"{cluster.tenant}-events"
    stage.stops[identity].add("pay")
    await nodes.same.start(sagas.saga(asks=True), instance_id=identity)
    await stage.reached(identity, "+pay")
    await nodes.other.cancel(identity)

    await nodes.idle.stimuli.event("go", {}, instance_id=identity)
    await nodes.idle.stimuli.event("may-tidy", {}, instance_id=identity)
    assert (await nodes.same.read(identity)).status is Status.CANCELING
    stage.release[identity].set()
    await waits_at(nodes.same, identity, "may-undo-b")  # `may-tidy` came early and was taken.
    await nodes.other.stimuli.event("may-undo-b", {}, instance_id=identity)
    ended = await nodes.idle.wait_at_rest(identity)

    assert ended.status is Status.CANCELED
    assert entries(stage.log[identity], "+")[-5:] == ["tidy", "swept", "undo c", "undo b", "undo a"]
    with pytest.raises(InstanceEnded):
        await nodes.other.stimuli.event("go", {}, instance_id=identity)
