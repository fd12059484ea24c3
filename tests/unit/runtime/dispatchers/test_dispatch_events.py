"""Events before and after each dispatch, and the wait for the burst."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, telemetry
from holdfast.activities import Event
from holdfast.errors import DefinitionNotFound
from holdfast.model.requests import DispatchDefinition, DispatchInstance
from holdfast.runtime.dispatchers.dispatch_events import AnnouncedDispatcher
from tests.support.memory_node import MemoryNode

waiting = Workflow(Event("go"), id="waits")
REQUEST = DispatchDefinition(definition_id="waits", instance_id="order")


@pytest.fixture
async def dispatcher(memory: MemoryNode) -> AnnouncedDispatcher:
    await memory.runtime.definitions.deploy(waiting)
    return AnnouncedDispatcher(memory.runtime, memory.runtime.inline)


async def test_each_request_has_two_events(dispatcher: AnnouncedDispatcher) -> None:
    emitted: list[tuple[str, dict[str, Any]]] = []
    names = ("request.dispatching", "request.dispatched")
    with telemetry.on(lambda name, fields: emitted.append((name, dict(fields))), *names):
        await dispatcher.dispatch(REQUEST)

    assert emitted == [
        ("request.dispatching", {"tenant": "", "request": "definition", "target": "waits"}),
        ("request.dispatched", {"tenant": "", "request": "definition", "target": "waits", "instance_ids": ("order",)}),
    ]


async def test_a_refused_request_has_only_the_first_event(dispatcher: AnnouncedDispatcher) -> None:
    emitted: list[str] = []
    events = telemetry.on(lambda name, fields: emitted.append(name), "request.dispatching", "request.dispatched")
    with events, pytest.raises(DefinitionNotFound):
        await dispatcher.dispatch(DispatchDefinition(definition_id="nothing"))

    assert emitted == ["request.dispatching"]


async def test_a_caller_that_waits_gets_the_status_after_the_burst(
    memory: MemoryNode, dispatcher: AnnouncedDispatcher
) -> None:
    queued = AnnouncedDispatcher(memory.runtime, memory.runtime.durable)
    begun = await queued.dispatch(REQUEST, wait=timedelta(seconds=20))
    assert begun.status == Status.SUSPENDED

    ended = await queued.dispatch(DispatchInstance(instance_id="order"), wait=timedelta(seconds=20))

    assert (ended.instance_ids, ended.status) == (("order",), Status.FINISHED)
