"""The inline dispatcher: each request is executed at once, and its answer comes after the commit."""

from __future__ import annotations

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import Event, Sequence, SetOutput
from holdfast.errors import DefinitionNotFound, InstanceNotFound, KeyReused
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResume,
    DispatchTrigger,
)
from tests.support.memory_node import MemoryNode

waiting = Workflow(
    Sequence(Event("go", result="found"), SetOutput("said", expr("found"))),
    id="waits",
    variables={"found": None},
    outputs={"said": object},
)
triggered = Workflow(Sequence(Event("placed", id="placed", can_start=True), Event("go")), id="starts")


@pytest.fixture
async def memory(memory: MemoryNode) -> MemoryNode:
    for definition in (waiting, triggered):
        await memory.runtime.definitions.deploy(definition)
    return memory


async def dispatch(memory: MemoryNode, request: DispatchRequest) -> Dispatched:
    answer = await memory.runtime.inline.dispatch(request)
    assert isinstance(answer, Dispatched)
    return answer


async def test_a_start_answers_after_its_first_burst(memory: MemoryNode) -> None:
    answer = await dispatch(memory, DispatchDefinition(definition_id="waits", instance_id="order"))

    assert (answer.instance_ids, answer.status) == (("order",), Status.SUSPENDED)


async def test_a_key_starts_one_instance(memory: MemoryNode) -> None:
    request = DispatchDefinition(definition_id="waits", idempotency_key="k", correlation_id="c")
    first, second = await dispatch(memory, request), await dispatch(memory, request)

    assert (second.instance_ids, second.existing) == ((), first.instance_ids)
    with pytest.raises(KeyReused):
        await dispatch(memory, DispatchDefinition(definition_id="waits", idempotency_key="k", correlation_id="d"))


async def test_an_instance_continues_at_its_only_bookmark(memory: MemoryNode) -> None:
    await dispatch(memory, DispatchDefinition(definition_id="waits", instance_id="order"))

    answer = await dispatch(memory, DispatchInstance(instance_id="order"))

    assert (answer.instance_ids, answer.status) == (("order",), Status.FINISHED)


async def test_a_key_continues_an_instance_once(memory: MemoryNode) -> None:
    await dispatch(memory, DispatchDefinition(definition_id="waits", instance_id="order"))
    request = DispatchInstance(instance_id="order", idempotency_key="k")
    await dispatch(memory, request)

    answer = await dispatch(memory, request)

    assert (answer.instance_ids, answer.existing) == ((), ("order",))


async def test_a_trigger_starts_each_matching_definition(memory: MemoryNode) -> None:
    (row,) = await memory.runtime.triggers.list("starts")

    answer = await dispatch(memory, DispatchTrigger(activity_type=row.type, payload=row.payload))

    assert [(await memory.runtime.row(name)).definition_id for name in answer.instance_ids] == ["starts"]
    assert (await dispatch(memory, DispatchTrigger(activity_type=row.type, payload={"name": "x"}))).instance_ids == ()


async def test_a_trigger_for_an_instance_resumes_it_and_starts_nothing(memory: MemoryNode) -> None:
    for name in ("a", "b"):
        await dispatch(memory, DispatchDefinition(definition_id="waits", instance_id=name))
    (mark,) = (await memory.runtime.read("a")).bookmarks

    answer = await dispatch(memory, DispatchTrigger(activity_type=mark.name, payload=mark.payload, instance_id="b"))

    assert answer.instance_ids == ("b",)
    assert [(await memory.runtime.read(name)).status for name in "ab"] == [Status.SUSPENDED, Status.FINISHED]


async def test_a_resume_reaches_all_waiting_instances(memory: MemoryNode) -> None:
    for name in ("a", "b"):
        await dispatch(memory, DispatchDefinition(definition_id="waits", instance_id=name))
    (mark,) = (await memory.runtime.read("a")).bookmarks

    answer = await dispatch(memory, DispatchResume(activity_type=mark.name, payload=mark.payload, input="hello"))

    assert sorted(answer.instance_ids) == ["a", "b"]
    assert (await memory.runtime.read("b")).outputs == {"said": "hello"}


async def test_unknown_targets_are_refused(memory: MemoryNode) -> None:
    with pytest.raises(DefinitionNotFound):
        await dispatch(memory, DispatchDefinition(definition_id="nothing"))
    with pytest.raises(InstanceNotFound):
        await dispatch(memory, DispatchInstance(instance_id="nothing"))
