"""The client of one instance."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast import Status, Workflow
from holdfast.activities import Event
from holdfast.errors import DefinitionError, InstanceNotFound, InvalidInput
from tests.support.memory_node import MemoryNode

waiting = Workflow(Event("go"), id="waits", inputs={"amount": int})
AMOUNT = {"amount": 3}


@pytest.fixture
async def memory(memory: MemoryNode) -> MemoryNode:
    await memory.runtime.definitions.deploy(waiting)
    return memory


async def test_a_created_instance_begins_with_run(memory: MemoryNode) -> None:
    client = memory.runtime.client("order")
    await client.create("waits", input=AMOUNT)
    assert (await client.state()).status is Status.PENDING

    assert (await client.run()).status is Status.SUSPENDED
    assert (await client.run()).status is Status.FINISHED
    assert await memory.store.until_due(["default"]) is None


async def test_an_existing_instance_is_returned(memory: MemoryNode) -> None:
    client = memory.runtime.client("order")
    first = await client.create_and_run("waits", input=AMOUNT)

    second = await client.create_and_run("waits", input={"amount": 4})

    assert (second.instance_id, second.commits) == (first.instance_id, 1)
    with pytest.raises(InvalidInput):
        await memory.runtime.client("other").create_and_run("waits", input={})


async def test_an_ended_instance_is_deleted(memory: MemoryNode) -> None:
    client = memory.runtime.client("order")
    await client.create_and_run("waits", input=AMOUNT)
    assert (await client.cancel()).status is Status.CANCELED

    assert await client.delete()
    assert not await client.delete()
    with pytest.raises(InstanceNotFound):
        await client.state()


async def test_an_instance_moves_by_export_and_import(memory: MemoryNode) -> None:
    client = memory.runtime.client("order")
    await client.create_and_run("waits", input=AMOUNT)
    export = await client.export()
    journal = await client.journal()
    await client.cancel()
    await client.delete()

    await client.import_(export)

    assert ((await client.state()).status, await client.journal()) == (Status.SUSPENDED, journal)


async def test_an_import_needs_its_id_and_its_definition(memory: MemoryNode) -> None:
    client = memory.runtime.client("order")
    await client.create_and_run("waits", input=AMOUNT)
    export = await client.export()

    with pytest.raises(InstanceNotFound):
        await memory.runtime.client("other").import_(export)
    with pytest.raises(DefinitionError, match="Import the definition first"):
        await client.import_(replace(export, instance=replace(export.instance, content="unknown")))
    with pytest.raises(InstanceNotFound):
        await memory.runtime.client("nothing").export()
