"""Validation of requests: errors before anything is stored, and fingerprints of idempotency keys."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import DefinitionError, InstanceEnded, InvalidId, InvalidInput, KeyReused
from holdfast.model.guard import idempotency_key
from holdfast.model.requests import (
    DispatchDefinition,
    DispatchInstance,
    DispatchResume,
    DispatchStimulus,
    DispatchTrigger,
)
from holdfast.runtime.dispatchers import validation
from tests.support.memory_node import MemoryNode

orders = Workflow(Sequence(Event("go", id="go"), Event("end")), id="orders", inputs={"amount": int})
AMOUNT = {"amount": 3}


@pytest.fixture
async def memory(memory: MemoryNode) -> MemoryNode:
    await memory.runtime.definitions.deploy(orders)
    return memory


async def test_a_start_is_checked_before_it_is_stored(memory: MemoryNode) -> None:
    start = await validation.start_of(
        memory.runtime, DispatchDefinition(definition_id="orders", input=AMOUNT, instance_id="i", principal="ada")
    )

    assert (start.key.id, dict(start.complete or {}), start.principal) == ("i", AMOUNT, "ada")


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"input": {"amount": "many"}}, InvalidInput),
        ({"input": AMOUNT, "instance_id": "a b"}, InvalidId),
        ({"input": AMOUNT, "trigger_activity_id": "nothing"}, DefinitionError),
    ],
)
async def test_a_wrong_start_is_refused(memory: MemoryNode, given: dict[str, object], error: type[Exception]) -> None:
    request = DispatchDefinition(definition_id="orders", **given)  # type: ignore[arg-type]

    with pytest.raises(error):
        await validation.start_of(memory.runtime, request)


async def test_a_trigger_starts_every_definition_that_has_it(memory: MemoryNode) -> None:
    for name in ("first", "second"):
        await memory.runtime.definitions.deploy(Workflow(Event("placed", can_start=True), id=name))
    row, _ = await memory.runtime.triggers.list()

    found = await validation.triggered(memory.runtime, DispatchTrigger(activity_type=row.type, payload=row.payload))

    assert len({start.key.id for _, start in found}) == 2


def test_a_trigger_for_an_instance_is_a_resume() -> None:
    request = DispatchTrigger(activity_type="Event", payload={"name": "go"}, instance_id="i", idempotency_key="k")

    assert validation.resume_of(request) == DispatchResume(
        activity_type="Event", payload={"name": "go"}, instance_id="i", idempotency_key="k"
    )


async def test_an_ended_instance_does_not_continue(memory: MemoryNode) -> None:
    await memory.runtime.start(orders, AMOUNT, instance_id="i")
    await validation.check_instance(memory.runtime, DispatchInstance(instance_id="i"))
    await memory.runtime.cancel("i")

    with pytest.raises(InstanceEnded):
        await validation.check_instance(memory.runtime, DispatchInstance(instance_id="i"))


async def test_waiting_bookmarks_are_found_by_key_instance_and_correlation(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "PAGE", 2)
    for number in range(5):
        await memory.runtime.start(orders, AMOUNT, instance_id=f"i{number}", correlation_id=f"c{number % 2}")
    (mark,) = (await memory.runtime.read("i0")).bookmarks

    async def found(**address: str) -> list[str]:
        request = DispatchResume(activity_type=mark.name, payload=mark.payload, **address)  # type: ignore[arg-type]
        return [item.instance_id for item in await validation.waiting(memory.runtime, request)]

    assert await found() == ["i0", "i1", "i2", "i3", "i4"]
    assert await found(correlation_id="c1") == ["i1", "i3"]
    assert await found(instance_id="i2") == ["i2"]
    assert await found(instance_id="i2", correlation_id="c1") == []


def test_a_stimulus_carries_its_address() -> None:
    request = DispatchStimulus(type="Event", event_name="go", payload="hello", idempotency_key="k", key=7)

    found = validation.stimulus_of(request, "s1")

    assert (found.id, found.type, found.event_name, found.guarded) == ("s1", "Event", "go", True)
    assert found.payload is None  # An event is matched by its name.
    assert found.input is not None


def test_a_fingerprint_ignores_queue_priority_and_delay() -> None:
    first = DispatchDefinition(definition_id="orders", input=AMOUNT)
    same = DispatchDefinition(definition_id="orders", input=AMOUNT, priority=5, queue="mail", idempotency_key="k")
    other = DispatchDefinition(definition_id="orders", input={"amount": 4})

    assert validation.fingerprint(first) == validation.fingerprint(same) != validation.fingerprint(other)
    assert validation.key_for(first, "start", "orders") is None
    assert validation.key_for(same, "start", "orders") is not None


async def test_a_key_names_its_holder_and_refuses_another_request(memory: MemoryNode) -> None:
    await memory.runtime.start(orders, AMOUNT, instance_id="i", idempotency="k")
    mine = idempotency_key(operation="start", target="orders", key="k", fingerprint="another body")
    unused = idempotency_key(operation="start", target="orders", key="unused", fingerprint="x")

    assert await validation.holder_of(memory.runtime, unused) is None
    with pytest.raises(KeyReused):
        await validation.holder_of(memory.runtime, mine)
