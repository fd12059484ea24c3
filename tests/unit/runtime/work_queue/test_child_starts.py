"""Starts by work rows: the job of a start, and the refusal that a waiting parent receives."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import msgpack

from holdfast import Workflow
from holdfast.activities import Event
from holdfast.errors import DefinitionError, HoldfastError, InvalidInput
from holdfast.model import values
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.commits.work_rows import StartRequest
from holdfast.runtime.work_queue.child_starts import ChildStarts, refusal_of
from holdfast.testing.store_rows import work
from tests.support.memory_node import MemoryNode

single = Workflow(Event("go"), id="single", inputs={"amount": int}, activation="singleton")


def start_row(reference: str = "single", **given: Any) -> WorkRow:
    fields: dict[str, Any] = {
        "reference": reference,
        "input": values.encode({"amount": 3}),
        "wait": True,
        "correlation_id": "c",
        "instance_id": "child",
        "parent_id": "parent#b2",
        "principal": "ada",
    }
    request = StartRequest(**(fields | given))
    return work("", id="child.start", kind=WorkKind.START, instance_id="child", payload=msgpack.encode(request))


def starts_of(memory: MemoryNode) -> ChildStarts:
    return ChildStarts(memory.store, memory.components.plans)


@pytest.fixture
async def known(memory: MemoryNode) -> MemoryNode:
    """A node that knows the definition and has run it once."""
    await memory.runtime.definitions.deploy(single)
    return memory


async def test_the_job_starts_the_child_and_consumes_the_row(known: MemoryNode) -> None:
    made: Any = await starts_of(known).job_of(start_row())

    start = made.start
    assert (made.key, made.consumes_work, made.answer) == (InstanceKey("", "child"), "child.start", None)
    assert (start.parent_id, start.correlation_id, start.principal) == ("parent#b2", "c", "ada")
    assert dict(start.complete) == {"amount": 3}


async def test_a_start_with_wrong_inputs_is_refused(known: MemoryNode) -> None:
    with pytest.raises(InvalidInput):
        await starts_of(known).job_of(start_row(input=values.encode({"amount": "many"})))


async def test_an_unknown_definition_is_refused_with_the_remedy(known: MemoryNode) -> None:
    with pytest.raises(DefinitionError, match="Import it into the store"):
        await starts_of(known).job_of(start_row("nothing"))


async def test_a_taken_slot_refuses_another_instance_but_not_its_holder(known: MemoryNode) -> None:
    await known.runtime.start(single, {"amount": 1}, instance_id="child")
    assert await starts_of(known).job_of(start_row()) is not None

    with pytest.raises(HoldfastError, match="Instance child is running"):
        await starts_of(known).job_of(start_row(instance_id="second"))


def test_a_waiting_parent_learns_why_its_child_does_not_start() -> None:
    made: Any = refusal_of(start_row(), HoldfastError("no room"))

    assert (made.key, made.bookmark_id, made.consumes_work) == (InstanceKey("", "parent"), "b2", "child.start")
    assert made.payload == {"refused": "no room", "instance_id": "child"}


def test_a_start_without_a_parent_has_no_refusal() -> None:
    assert refusal_of(start_row(parent_id=""), HoldfastError("no room")) is None
