"""Handles of instances: results, timeouts with the place that waits, and starts by options."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, wait_for, workflow
from holdfast.activities import Event, SetOutput
from holdfast.errors import AlreadyStarted, DefinitionError, HoldfastError, InstanceFaulted, InstanceNotFound, NoResult
from holdfast.runtime import handles
from holdfast.runtime.handles import Handle
from tests.support.memory_node import MemoryNode

AT_ONCE = timedelta(milliseconds=1)


@workflow
async def doubled(amount: int) -> int:
    return amount * 2


@workflow
async def patient() -> str:
    return str(await wait_for("go"))


@activity
async def fail() -> None:
    raise ValueError("no money")


broken = Workflow(fail.bind(), id="broken")
objects = Workflow(SetOutput("said", "hello"), id="objects", outputs={"said": str}, inputs={"amount": int})
single = Workflow(Event("go"), id="single", activation="singleton")


async def started(memory: MemoryNode, target: Any, *args: Any, **kwargs: Any) -> Handle[Any]:
    return await handles.start(memory.runtime, target, args, kwargs)


async def test_a_function_returns_its_result_and_objects_their_outputs(memory: MemoryNode) -> None:
    assert await (await started(memory, doubled, 4)).result() == 8
    assert await (await started(memory, objects, amount=1)).result() == {"said": "hello"}


async def test_a_fault_is_raised_with_its_type(memory: MemoryNode) -> None:
    handle = await started(memory, broken)

    with pytest.raises(InstanceFaulted, match="no money"):
        await handle.result()


async def test_a_timeout_names_the_place_and_the_instance_continues(memory: MemoryNode) -> None:
    handle = await started(memory, patient)
    with pytest.raises(NoResult, match="it waits at"):
        await handle.result(timeout=AT_ONCE)
    assert await handle.status() is Status.SUSPENDED

    await handle.send("go", "now")

    assert await handle.result(timeout=timedelta(seconds=20)) == "now"


async def test_a_canceled_instance_has_no_result(memory: MemoryNode) -> None:
    handle = await started(memory, patient)
    await handle.cancel()

    with pytest.raises(NoResult, match="it was canceled"):
        await handle.result()


async def test_an_unknown_instance_has_no_status(memory: MemoryNode) -> None:
    handle: Handle[None] = Handle(memory.runtime, "nothing")

    with pytest.raises(InstanceNotFound):
        await handle.status()


async def test_a_taken_slot_is_an_error_but_a_used_key_is_not(memory: MemoryNode) -> None:
    first = await started(memory, single)
    with pytest.raises(AlreadyStarted):
        await started(memory, single)

    keyed = [await started(memory, patient.options(idempotency_key="k")) for _ in range(2)]
    assert keyed[0].id == keyed[1].id != first.id


async def test_wrong_calls_are_refused(memory: MemoryNode) -> None:
    with pytest.raises(DefinitionError, match="is not a workflow"):
        await started(memory, "doubled")
    with pytest.raises(DefinitionError, match="by name"):
        await started(memory, objects, 3)
    with pytest.raises(HoldfastError, match="same database"):
        handles.work_tables(memory.runtime)
