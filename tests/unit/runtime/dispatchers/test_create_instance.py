"""Creation of pending instances: they wait until a caller runs them, and keep their slot and id."""

from __future__ import annotations

from holdfast import Status, Workflow
from holdfast.activities import Event
from holdfast.model.requests import DispatchDefinition, Dispatched
from holdfast.runtime.dispatchers import validation
from holdfast.runtime.dispatchers.create_instance import PENDING_DELAY, create
from tests.support.memory_node import MemoryNode

single = Workflow(Event("go"), id="single", activation="singleton")
many = Workflow(Event("go"), id="many")


async def created(memory: MemoryNode, definition: Workflow, name: str) -> Dispatched:
    await memory.runtime.definitions.deploy(definition)
    request = DispatchDefinition(definition_id=definition.definition.id, instance_id=name)
    return await create(memory.runtime, await validation.start_of(memory.runtime, request))


async def test_a_created_instance_is_pending_and_never_due(memory: MemoryNode) -> None:
    answer = await created(memory, many, "order")

    assert (answer.instance_ids, answer.existing) == (("order",), ())
    assert (await memory.runtime.row("order")).status == Status.PENDING
    assert await memory.components.poller.take_due() == 0
    assert await memory.store.until_due(["default"]) == PENDING_DELAY


async def test_an_id_is_created_once(memory: MemoryNode) -> None:
    await created(memory, many, "order")

    answer = await created(memory, many, "order")

    assert (answer.instance_ids, answer.existing, answer.status) == ((), ("order",), Status.PENDING)


async def test_a_taken_slot_names_its_holder(memory: MemoryNode) -> None:
    await created(memory, single, "first")

    answer = await created(memory, single, "second")

    assert (answer.instance_ids, answer.existing) == ((), ("first",))
    assert await memory.runtime.find("second") is None
