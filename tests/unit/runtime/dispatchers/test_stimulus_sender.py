"""The sender of stimuli: requests from classes, names and types, and the explanation of an effect."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest
from msgspec import Struct

from holdfast import Status, Workflow
from holdfast.activities import Event, Sequence
from holdfast.model.requests import EVENT
from holdfast.runtime.dispatchers.stimulus_sender import StimulusSender, plain
from tests.support.memory_node import MemoryNode

WITHIN = timedelta(seconds=20)
waiting = Workflow(Event("go"), id="waits")
triggered = Workflow(Sequence(Event("placed", id="placed", can_start=True), Event("go")), id="starts")


@dataclass
class Address:
    street: str


@dataclass
class Approval:
    by: str
    at: Address


class Shipped(Struct):
    number: int


def test_an_event_is_named_by_its_class() -> None:
    request = StimulusSender.request(Approval("Ada", Address("Main")), key=7)

    assert (request.type, request.event_name, request.key) == (EVENT, "Approval", 7)
    assert request.payload == {"by": "Ada", "at": {"street": "Main"}}


def test_a_class_with_a_payload_and_a_type_by_name() -> None:
    by_class = StimulusSender.request(Shipped, {"number": 3})
    by_type = StimulusSender.request("MyTrigger", {"path": "/orders"}, input=Shipped(number=4))

    assert (by_class.event_name, by_class.payload) == ("Shipped", {"number": 3})
    assert (by_type.type, by_type.event_name, by_type.input) == ("MyTrigger", None, {"number": 4})


def test_plain_values_stay_as_they_are() -> None:
    assert [plain(value) for value in (None, 3, "x", [Shipped], Shipped)] == [None, 3, "x", [Shipped], Shipped]
    assert plain(Shipped(number=1)) == {"number": 1}


async def test_a_sent_event_resumes_a_waiting_instance(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")

    await memory.runtime.stimuli.event("go", wait=WITHIN)

    assert (await memory.runtime.settle("order")).status is Status.FINISHED
    assert memory.runtime.stimuli.counts == {"delivered": 1}


async def test_an_explanation_sends_nothing(memory: MemoryNode) -> None:
    await memory.runtime.start(waiting, instance_id="order")
    await memory.runtime.definitions.deploy(triggered)
    explain = memory.runtime.stimuli.explain

    everyone = await explain(EVENT, name="go")
    assert (everyone.broadcast, everyone.starts, everyone.resumes) == (True, (), ("order#b1",))
    assert (await explain(EVENT, name="placed")).starts == ("starts",)
    assert (await memory.runtime.read("order")).status is Status.SUSPENDED
    assert memory.runtime.stimuli.counts == {}


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ({"instance_id": "order"}, "while the instance lives"),
        ({"correlation_id": "c"}, "24 h"),
        ({}, None),
    ],
)
async def test_an_explanation_names_the_retention(
    memory: MemoryNode, address: dict[str, str], kept: str | None
) -> None:
    explained = await memory.runtime.stimuli.explain(EVENT, name="nothing", **address)

    assert (explained.resumes, explained.kept) == ((), kept)


async def test_a_broadcast_is_kept_if_a_published_definition_may_wait_for_it(memory: MemoryNode) -> None:
    await memory.runtime.definitions.deploy(triggered)

    assert (await memory.runtime.stimuli.explain(EVENT, name="go")).kept == "10 min"
