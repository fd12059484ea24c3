"""Instances in a store: two nodes start, resume, cancel and retry the same ones, and nothing is lost in between."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Retry, Status, Workflow, activity, expr
from holdfast.activities import (
    Correlate,
    Delay,
    Event,
    Fault,
    For,
    If,
    Parallel,
    PublishEvent,
    Sequence,
    SetOutput,
    SetVariable,
    Try,
    WriteLine,
)
from holdfast.errors import AlreadyStored, BookmarkNotFound, InstanceAtRest, InstanceNotFound
from holdfast.model.instance import JournalEvent
from holdfast.model.policy import JournalRule
from holdfast.model.work import WorkRow, queue_of
from tests.support.node import node_of

EVENTS = (JournalEvent.INSTANCE_STARTED, JournalEvent.INSTANCE_SUSPENDED, JournalEvent.INSTANCE_FINISHED)


def greeting() -> Workflow:
    return Workflow(
        Sequence(
            SetVariable("count", expr("count + 1")),
            Event("first", result="answer"),
            SetVariable("count", expr("count + 1")),
            Event("second"),
            WriteLine(expr("answer")),
            SetOutput("count", expr("count")),
        ),
        variables={"count": 0, "answer": None},
        outputs={"count": int},
        id="greeting",
    )


async def test_nodes_take_turns_with_one_instance(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    lines: list[str] = []

    started = (await a.start(greeting(), name="Hello", correlation_id="order-1")).result
    assert started is not None
    identity = started.instance_id
    assert started.status is Status.SUSPENDED

    moved = await b.resume(identity, payload={"from": "b"})
    assert [mark.activity_id for mark in moved.bookmarks] == ["Event2"]
    assert moved.variables["count"] == 2
    assert moved.correlation_id == "order-1"

    ended = await a.resume(identity, on_line=lines.append)
    assert ended.status is Status.FINISHED
    assert ended.outputs == {"count": 2}
    assert lines == ['{"from":"b"}']
    assert (await b.read(identity)).status is Status.FINISHED
    assert (await b.row(identity)).version == 3
    await cluster.check(b, identity)
    told = [entry.event for entry in await b.journal(identity) if entry.event in EVENTS]
    assert told == [EVENTS[0], EVENTS[1], EVENTS[1], EVENTS[2]]


async def test_a_bookmark_is_used_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    identity = (await a.start(greeting())).result.instance_id
    await b.resume(identity, "b1")

    with pytest.raises(BookmarkNotFound):
        await a.resume(identity, "b1")
    with pytest.raises(InstanceNotFound):
        await a.resume("nobody", "b1")
    await a.resume(identity, "b2")
    with pytest.raises(InstanceAtRest):
        await b.resume(identity, "b2")
    await cluster.check(a, identity)


async def test_cancel_runs_what_must_run(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(Try(Event("never"), finally_=WriteLine("tidied")))
    identity = (await a.start(workflow)).result.instance_id
    lines: list[str] = []
    b.listen(identity, lines.append)

    assert (await b.cancel(identity)).status is Status.CANCELED
    assert lines == ["tidied"]
    with pytest.raises(InstanceAtRest):
        await a.cancel(identity)
    await cluster.check(a, identity)


async def test_a_retry_finds_the_branches_that_waited(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(
        Parallel(
            Event("other"), Sequence(Event("go"), If(expr("ready"), Sequence(), Fault("not ready")), Event("late"))
        ),
        variables={"ready": False},
    )
    started = (await a.start(workflow)).result
    identity = started.instance_id
    faulted = await b.resume(identity, started.bookmark("Event2").id)
    assert faulted.status is Status.FAULTED
    assert not await b.store.bookmarks_of(cluster.tenant, identity)
    assert len(await a.store.list_incidents(cluster.tenant, instance_id=identity)) == 1

    again = await a.retry(identity)

    assert again.status is Status.FAULTED  # It is still not ready; but what waited, waits.
    await cluster.check(b, identity)
    await b.cancel(identity)
    await cluster.check(a, identity)
    assert not await a.store.list_incidents(cluster.tenant, instance_id=identity) or faulted.incidents


async def test_a_key_starts_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(Event("go"), inputs={"x": int}, id="keyed")
    first = await a.start(workflow, {"x": 1}, idempotency="k")
    assert first.result is not None

    assert (await b.start(workflow, {"x": 1}, idempotency="k")).existing == first.result.instance_id
    with pytest.raises(AlreadyStored, match="another request"):
        await b.start(workflow, {"x": 2}, idempotency="k")
    other = await b.start(workflow, {"x": 2}, idempotency="k2")
    assert other.existing is None


async def test_a_key_resumes_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(
        Sequence(For(0, 3, body=Sequence(Event("go"), SetVariable("count", expr("count + 1"))))),
        variables={"count": 0},
    )
    identity = (await a.start(workflow)).result.instance_id
    await a.resume(identity, "b1", idempotency="k")
    told = await b.resume(identity, "b1", idempotency="k")
    assert told.variables["count"] == 1
    with pytest.raises(AlreadyStored):
        await b.resume(identity, "b2", idempotency="k")


async def test_a_cut_segment_goes_on(cluster: Any) -> None:
    a = await cluster.node("a", segment_activities=100)
    workflow = Workflow(
        Sequence(For(1, 1000, body=SetVariable("count", expr("count + 1"))), Event("go")), variables={"count": 0}
    )
    answer = await a.start(workflow)
    settled = await a.settle(answer.result.instance_id)
    assert settled.status is Status.SUSPENDED
    assert settled.variables["count"] == 1000
    assert settled.commits > 5
    await cluster.check(a, settled.instance_id)
    assert (await a.store.stats(cluster.tenant)).work_ready == 0


async def test_a_cut_segment_is_gone_on_with_elsewhere(cluster: Any) -> None:
    a = await cluster.node("a", segment_activities=100)
    node_of(a).components.poller._does_own = False  # It dies after its first commit.
    workflow = Workflow(For(1, 500, body=SetVariable("count", expr("count + 1"))), variables={"count": 0})
    answer = await a.start(workflow)
    assert answer.result.status is Status.RUNNING

    b = await cluster.node("b", work=True, segment_activities=100)

    ended = await b.wait_at_rest(answer.result.instance_id)
    assert ended.variables["count"] == 500
    await cluster.check(b, ended.instance_id)


async def test_timers_fire_once_with_two_nodes(cluster: Any) -> None:
    a, b = await cluster.node("a", work=True), await cluster.node("b", work=True)
    workflow = Workflow(
        Sequence(Delay(timedelta(milliseconds=10)), SetVariable("count", expr("count + 1")), Event("end")),
        variables={"count": 0},
    )
    ids = [(await node.start(workflow)).result.instance_id for node in (a, b) for _ in range(10)]
    seen = 0
    for identity in ids:
        while (await a.read(identity)).variables["count"] == 0:
            seen = await a.store.wait_for_change(seen, timedelta(seconds=1))
    for identity in ids:
        result = await b.resume(identity)
        assert result.status is Status.FINISHED
        assert result.variables["count"] == 1
        await cluster.check(a, identity)
    assert (await a.store.stats(cluster.tenant)).work_ready == 0


async def test_correlate_moves_the_bookmarks(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(Parallel(Event("wait"), Sequence(Event("go"), Correlate(expr("'order-7'")), Event("more"))))
    started = (await a.start(workflow)).result
    before = {mark.correlation for mark in await a.store.bookmarks_of(cluster.tenant, started.instance_id)}
    await b.resume(started.instance_id, started.bookmark("Event2").id)
    after = {mark.correlation for mark in await a.store.bookmarks_of(cluster.tenant, started.instance_id)}
    assert before == {0}
    assert len(after) == 1
    assert after != before
    await cluster.check(b, started.instance_id)


async def test_published_events_reach_those_who_wait(cluster: Any) -> None:
    a, b = await cluster.node("a", work=True), await cluster.node("b", work=True)
    waiting = Workflow(
        Sequence(Event("news", result="got"), SetOutput("got", expr("got"))), id="w", variables={"got": 0}
    )
    ids = [(await node.start(waiting)).result.instance_id for node in (a, b) for _ in range(60)]
    await a.start(Workflow(PublishEvent("news", payload={"n": 1})))
    results = [await b.wait_at_rest(identity) for identity in ids]
    assert {str(result.outputs) for result in results} == {"{'got': {'n': 1}}"}


async def test_a_local_event_stays_inside(cluster: Any) -> None:
    a = await cluster.node("a")
    other = (await a.start(Workflow(Event("mine")))).result.instance_id
    workflow = Workflow(Parallel(Event("mine"), PublishEvent("mine", local=True)))
    assert (await a.start(workflow)).result.status is Status.FINISHED
    assert (await a.settle(other)).status is Status.SUSPENDED


async def test_transient_workflows_leave_nothing_unless_they_wait(cluster: Any) -> None:
    a = await cluster.node("a")
    document = {
        "id": "quick",
        "root": {"type": "WriteLine", "inputs": {"text": "hello"}},
        "options": {"transient": True},
    }
    lines: list[str] = []
    answer = await a.start(document, on_line=lines.append)
    assert answer.result.status is Status.FINISHED
    assert lines == ["hello"]
    with pytest.raises(InstanceNotFound):
        await a.read(answer.result.instance_id)


async def test_export_and_import(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(greeting())).result.instance_id
    await a.resume(identity)
    export = await a.store.export_instance(cluster.tenant, identity)
    content = await a.store.load_content(cluster.tenant, export.instance.content)
    await a.cancel(identity)
    await a.store.delete_instances(cluster.tenant, [identity])
    with pytest.raises(InstanceNotFound):
        await a.read(identity)

    await a.store.import_instance(export)

    assert content is not None
    b = await cluster.node("b")
    ended = await b.resume(identity)
    assert ended.outputs == {"count": 2}
    await cluster.check(b, identity)


attempts: list[int] = []


@activity(retry=Retry(attempts=3, delay=timedelta(milliseconds=1), jitter=0.0))
async def unlucky() -> str:
    attempts.append(1)
    if len(attempts) < 3:
        raise ConnectionError("not yet")
    return "at last"


async def test_retries_wait_in_the_store(cluster: Any) -> None:
    attempts.clear()
    a = await cluster.node("a")
    b = await cluster.node("b", work=True, activities=[unlucky])
    identity = (await a.start(Workflow(unlucky.bind(result="said"), variables={"said": ""}))).result.instance_id
    ended = await b.wait_at_rest(identity)
    assert ended.variables["said"] == "at last"
    assert len(attempts) == 3
    await cluster.check(b, identity)


async def test_the_stored_journal_keeps_only_what_it_may(cluster: Any) -> None:
    node = await cluster.node("a")
    secret, hidden = JournalRule(default="exclude"), JournalRule(default="off")
    root = Sequence(
        SetVariable("x", 4711, id="open"),
        SetVariable("x", 4712, id="secret", journal=secret),
        SetVariable("x", 4713, id="hidden", journal=hidden),
    )

    answer = await node.start(Workflow(root, variables={"x": 0}))

    found = {entry.activity_id: entry.data for entry in await node.journal(answer.result.instance_id)}
    assert found["open"] == 4711
    assert found["secret"] is None
    assert "hidden" not in found


async def test_who_gives_up_waiting_cancels_nothing(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(greeting())).result.instance_id
    asked = asyncio.ensure_future(a.resume(identity, "b1"))
    await asyncio.sleep(0)
    asked.cancel()
    settled = await a.settle(identity)
    assert [mark.activity_id for mark in settled.bookmarks] == ["Event2"]


async def test_the_backlog_of_another_tenant_is_in_nobodys_way(cluster: Any) -> None:
    a = await cluster.node("a", work=True)
    now = a.clock.now()
    others = [
        WorkRow(tenant="crowd", id=f"{cluster.tenant}.{n}", kind="start", queue=queue_of("crowd"), created=now)
        for n in range(300)
    ]
    await a.store.enqueue(others)
    workflow = Workflow(Sequence(Delay(timedelta(milliseconds=1)), SetVariable("count", 1)), variables={"count": 0})
    identity = (await a.start(workflow)).result.instance_id
    seen = 0
    while not (await a.read(identity)).status.at_rest:
        seen = await a.store.wait_for_change(seen, timedelta(seconds=1))
    assert (await a.read(identity)).variables == {"count": 1}


async def test_who_waits_for_the_end_is_told_by_the_commit_that_ended_it(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was just written need not be asked for; what may go on elsewhere is read."""
    here, asked = await cluster.node("a"), list[str]()
    cache, settling = node_of(here).components.cache, asyncio.Event()
    row = cache.row

    async def read(key: Any) -> Any:
        asked.append(key.id)
        return await row(key)

    @activity(name="until_somebody_waits")
    async def until_somebody_waits(fails: bool) -> int:
        await settling.wait()
        if fails:
            raise ValueError("no")
        return 7

    async def ended(*, fails: bool) -> Any:
        settling.clear()
        root = Sequence(until_somebody_waits.bind(fails, result="x"), SetOutput("x", expr("x")))
        started = (await here.start(Workflow(root, variables={"x": 0}, outputs={"x": int}))).result
        waiting = asyncio.ensure_future(here.settle(started.instance_id))
        await asyncio.sleep(0)
        settling.set()
        return await waiting

    monkeypatch.setattr(cache, "row", read)
    finished = await ended(fails=False)
    assert (finished.status, finished.outputs, asked) == (Status.FINISHED, {"x": 7}, [])
    faulted = await ended(fails=True)
    assert (faulted.status, asked) == (Status.FAULTED, [faulted.instance_id])


async def test_cancel_resolves_the_incidents_of_an_instance(cluster: Any) -> None:
    """An incident of a canceled instance stayed open for ever: nothing could retry it."""
    node = await cluster.node("a")
    identity = (await node.start(Workflow(Fault("on purpose"), id="faults"))).result.instance_id
    assert len(await node.store.list_incidents(cluster.tenant, instance_id=identity)) == 1

    await node.cancel(identity)

    assert (await node.read(identity)).status is Status.CANCELED
    assert not await node.store.list_incidents(cluster.tenant, instance_id=identity)
    assert len(await node.store.list_incidents(cluster.tenant, instance_id=identity, only_open=False)) == 1
    await cluster.check(node, identity)
