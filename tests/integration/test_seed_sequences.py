"""The ordered sequences that the dispatcher promises, each read from lifecycle events, the store and the journal.

The steps are numbered as in the description of the dispatcher: what is validated, what is written, what is queued, who takes it
up, what is executed, what is kept, what is answered.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Workflow, expr, telemetry
from holdfast.activities import Event, Sequence, SetOutput
from holdfast.errors import DefinitionNotFound, DefinitionNotPublished, InstanceEnded, InstanceNotFound
from holdfast.model.instance import JournalEvent
from holdfast.model.requests import (
    DispatchDefinition,
    DispatchInstance,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
)
from tests.support.node import node_of

SOON = timedelta(seconds=20)
LIFE = ("request.", "instance.", "segment.")


def order() -> Workflow:
    return Workflow(
        Sequence(
            Event("placed", id="placed", can_start=True, result="placed"),
            Event("paid", id="paid", result="paid"),
            SetOutput("total", expr("amount + (paid or 0)")),
        ),
        id="order",
        inputs={"amount": int},
        outputs={"total": int},
        variables={"placed": None, "paid": None},
    )


@asynccontextmanager
async def heard() -> AsyncIterator[list[tuple[str, Mapping[str, Any]]]]:
    events: list[tuple[str, Mapping[str, Any]]] = []
    with telemetry.on(lambda name, fields: events.append((name, fields))):
        yield events


def names(events: list[tuple[str, Mapping[str, Any]]], instance_id: str | None = None) -> list[str]:
    return [
        name
        for name, fields in events
        if name.startswith(LIFE) and (instance_id is None or fields.get("instance_id", instance_id) == instance_id)
    ]


async def burst(runtime: Any, instance_id: str, above: int = 0) -> str:
    """Wait until it was through its burst, and told of it."""
    status = await runtime.wait_burst(instance_id, SOON, above=above)
    await runtime.settled(instance_id)
    return str(status)


async def journal(runtime: Any, instance_id: str) -> list[tuple[str, str | None]]:
    wanted = {
        JournalEvent.INSTANCE_STARTED,
        JournalEvent.INSTANCE_SUSPENDED,
        JournalEvent.INSTANCE_FINISHED,
        JournalEvent.SUSPENDED,
        JournalEvent.RESUMED,
        JournalEvent.COMPLETED,
    }
    found = await runtime.journal(instance_id)
    return [(entry.event.value, entry.activity_id) for entry in found if entry.event in wanted]


async def test_starting_a_new_workflow(cluster: Any) -> None:
    asking, working = await cluster.node("asks"), await cluster.node("works")
    # 1 the definition exists and is published
    with pytest.raises(DefinitionNotFound):
        await asking.dispatcher.dispatch(DispatchDefinition(definition_id="order"))
    await asking.definitions.save_draft(order().definition)
    with pytest.raises(DefinitionNotPublished):
        await asking.dispatcher.dispatch(DispatchDefinition(definition_id="order"))
    await asking.definitions.publish("order")
    asking.intake.paused = True

    async with heard() as events:
        answer = await asking.dispatcher.dispatch(
            DispatchDefinition(definition_id="order", input={"amount": 40}, correlation_id="c-1")
        )
        # 2 to 5 instance, input, correlation id and queue row are one commit, before anything has run
        pending = await asking.read(answer.instance_id)
        assert (pending.status, pending.correlation_id, pending.commits) == ("pending", "c-1", 1)
        assert (await asking.store.stats(cluster.tenant)).work_ready == 1
        assert names(events) == ["request.dispatching", "request.dispatched"]
        # 6 to 11 a worker takes it up, builds the plan, runs from the root, keeps the state, stops at the bookmark
        assert await node_of(working).components.poller.take_due() == 1
        assert await burst(working, answer.instance_id) == "suspended"

    assert names(events) == [
        "request.dispatching",
        "request.dispatched",
        "instance.started",
        "segment.committed",
        "instance.suspended",
    ]
    assert await journal(asking, answer.instance_id) == [
        ("instance_started", None),
        ("suspended", "placed"),
        ("instance_suspended", None),
    ]
    assert (await asking.store.stats(cluster.tenant)).work_ready == 0
    # 12 the answer had the id; its state is read with it
    assert (await asking.read(answer.instance_id)).commits == 2


async def test_resuming_an_existing_workflow(cluster: Any) -> None:
    asking, working = await cluster.node("asks"), await cluster.node("works")
    await asking.definitions.deploy(order())
    # 1 the instance exists and can be resumed
    with pytest.raises(InstanceNotFound):
        await asking.dispatcher.dispatch(DispatchInstance(instance_id="nobody"))
    name = (await asking.inline.dispatch(DispatchDefinition(definition_id="order", input={"amount": 1}))).instance_id
    asking.intake.paused = True

    async with heard() as events:
        # 2 to 4 its state is read, the request with its input queued
        answer = await asking.dispatcher.dispatch(DispatchInstance(instance_id=name, input={"amount": 40}))
        assert answer.instance_ids == (name,)
        assert names(events) == ["request.dispatching", "request.dispatched"]
        assert (await asking.read(name)).commits == 1
        # 5 to 9 a worker takes it up, rebuilds the state, merges the input, goes on where it waited
        await node_of(working).components.poller.take_due()
        assert await burst(working, name, above=1) == "suspended"
        await asking.dispatcher.dispatch(DispatchInstance(instance_id=name, activity_id="paid"))
        await node_of(working).components.poller.take_due()
        assert await burst(working, name, above=2) == "finished"
        result = await working.read(name)

    # 10 and the state is there for whoever asks
    assert result.outputs == {"total": 40}
    assert names(events) == [
        "request.dispatching",
        "request.dispatched",
        "segment.committed",
        "instance.suspended",
        "request.dispatching",
        "request.dispatched",
        "segment.committed",
        "instance.finished",
    ]
    with pytest.raises(InstanceEnded):
        await asking.dispatcher.dispatch(DispatchInstance(instance_id=name))
    assert (await journal(asking, name))[3:5] == [("resumed", "placed"), ("completed", "placed")]


async def test_triggering_workflows(cluster: Any) -> None:
    asking, working = await cluster.node("asks"), await cluster.node("works")
    await asking.definitions.deploy(order())
    await asking.definitions.deploy(Workflow(Sequence(Event("other", can_start=True)), id="other"))
    asking.intake.paused = True

    async with heard() as events:
        # 1 to 3 triggers of that type and payload; 4 to 6 an instance of each, with the correlation id, and its row
        answer = await asking.dispatcher.dispatch(
            DispatchTrigger(
                activity_type="Event", payload={"event_name": "placed"}, input={"amount": 7}, correlation_id="c-1"
            )
        )
        (name,) = answer.instance_ids
        pending = await asking.read(name)
        assert (pending.definition.id, pending.status, pending.correlation_id) == ("order", "pending", "c-1")
        assert names(events) == ["request.dispatching", "request.dispatched"]
        # 7 to 9 a worker takes it up and starts at the trigger, which takes the stimulus
        await node_of(working).components.poller.take_due()
        await burst(working, name)

    assert names(events)[2:] == ["instance.started", "segment.committed", "instance.suspended"]
    assert await journal(asking, name) == [
        ("instance_started", None),
        ("completed", "placed"),
        ("suspended", "paid"),
        ("instance_suspended", None),
    ]
    assert (await asking.read(name)).variables["placed"] == {"amount": 7}


async def test_resuming_on_a_bookmark(cluster: Any) -> None:
    asking, working = await cluster.node("asks"), await cluster.node("works")
    await asking.definitions.deploy(order())
    ids = []
    for correlation in ("c-1", "c-1", "c-2"):
        start = DispatchDefinition(
            definition_id="order", input={"amount": 1}, correlation_id=correlation, trigger_activity_id="placed"
        )
        ids.append((await asking.inline.dispatch(start)).instance_id)
    asking.intake.paused = True
    request = DispatchResume(activity_type="Event", payload={"event_name": "paid"}, input=2, correlation_id="c-1")

    async with heard() as events:
        # 1 to 5 bookmarks by type, payload and correlation id; a row for each
        answer = await asking.dispatcher.dispatch(request)
        assert sorted(answer.instance_ids) == sorted(ids[:2])
        assert names(events) == ["request.dispatching", "request.dispatched"]
        # One of them is resumed by somebody else before its row is taken up: the worker drops what is no longer so.
        assert (await working.resume(ids[0], payload=5)).outputs == {"total": 6}
        # 6 to 10 a worker takes them up, resumes and burns the bookmark, goes on, keeps the state
        await node_of(working).components.poller.take_due()
        assert await burst(working, ids[1], above=1) == "finished"
        assert (await working.read(ids[1])).outputs == {"total": 3}

    assert names(events, ids[1])[-3:] == ["instance.resumed", "segment.committed", "instance.finished"]
    assert not await asking.store.bookmarks_of(cluster.tenant, ids[1])
    assert (await asking.read(ids[0])).outputs == {"total": 6}
    assert (await asking.read(ids[2])).status == "suspended"
    # 11 a second time nobody matches
    assert (await asking.dispatcher.dispatch(request)).instance_ids == ()


async def test_a_stimulus(cluster: Any) -> None:
    """Answered with a receipt, matched by the worker: it starts by trigger and resumes by bookmark."""
    asking, working = await cluster.node("asks"), await cluster.node("works")
    await asking.definitions.deploy(order())
    waiting = (await asking.inline.dispatch(DispatchDefinition(definition_id="order", input={"amount": 1}))).instance_id
    asking.intake.paused = True

    async with heard() as events:
        receipt = await asking.dispatcher.dispatch(DispatchStimulus(event_name="placed", payload={"amount": 3}))
        assert names(events) == ["request.dispatching", "request.dispatched"]
        await node_of(working).components.poller.take_due()
        assert await working.wait_settled(receipt.stimulus_id, SOON)
        assert await burst(working, waiting, above=1) == "suspended"

    started = [fields["instance_id"] for name, fields in events if name == "instance.started"]
    assert len(started) == 1
    for name in (*started, waiting):
        assert (await asking.read(name)).bookmark("paid")
