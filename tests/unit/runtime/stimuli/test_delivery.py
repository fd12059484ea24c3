"""Delivery of one stimulus: the oldest bookmark that takes it, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Status, wait_for, workflow
from holdfast.errors import PayloadRefused
from holdfast.model import values
from holdfast.runtime.cluster.wiring import Components
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.delivery import StimulusDelivery
from tests.support.memory_node import MemoryNode


@dataclass
class Approval:
    by: str


@workflow
async def anyone(number: str) -> str:
    return (await wait_for(Approval, key=number)).by


@workflow
async def picky(number: str) -> str:
    return (await wait_for(Approval, key=number, where=lambda found: found.by == "Ada")).by


def delivery_of(parts: Components) -> StimulusDelivery:
    return StimulusDelivery(parts.lanes, parts.cache, parts.matcher, Declinations(), parts.stimulus_counts)


def approval(payload: Any, **more: Any) -> Stimulus:
    return Stimulus(
        id="s1", type="Event", event_name="Approval", key=values.encode("7"), input=values.encode(payload), **more
    )


async def waiting(memory: MemoryNode, workflow: Any, name: str) -> None:
    answer = await memory.runtime.start(workflow, {"number": "7"}, instance_id=name)
    assert answer.result is not None
    assert answer.result.status is Status.SUSPENDED


async def test_the_oldest_bookmark_receives_it(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")
    await waiting(memory, anyone, "second")

    assert await delivery_of(memory.components).deliver("", approval({"by": "Bob"}), frozenset())

    assert (await memory.runtime.read("first")).outputs == {"result": "Bob"}
    assert (await memory.runtime.read("second")).status is Status.SUSPENDED
    assert memory.components.stimulus_counts.by_outcome == {"delivered": 1}


async def test_a_bookmark_that_declines_it_is_passed_over(memory: MemoryNode) -> None:
    await waiting(memory, picky, "first")
    await waiting(memory, anyone, "second")

    assert await delivery_of(memory.components).deliver("", approval({"by": "Bob"}), frozenset())

    assert (await memory.runtime.read("first")).status is Status.SUSPENDED
    assert (await memory.runtime.read("second")).outputs == {"result": "Bob"}


async def test_without_a_fitting_bookmark_nothing_is_delivered(memory: MemoryNode) -> None:
    await waiting(memory, picky, "first")
    delivery = delivery_of(memory.components)

    assert not await delivery.deliver("", approval({"by": "Bob"}), frozenset())
    assert not await delivery.deliver("", approval({"by": "Ada"}), frozenset({"first"}))
    assert not await delivery.deliver("globex", approval({"by": "Ada"}), frozenset())
    assert memory.components.stimulus_counts.by_outcome == {}


async def test_a_payload_of_the_wrong_shape_is_refused_if_no_bookmark_takes_it(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")

    with pytest.raises(PayloadRefused):
        await delivery_of(memory.components).deliver("", approval({"of": 3}), frozenset())

    assert (await memory.runtime.read("first")).status is Status.SUSPENDED


async def test_a_guarded_stimulus_is_delivered_once(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")
    await waiting(memory, anyone, "second")
    delivery = delivery_of(memory.components)

    for _ in range(2):
        assert await delivery.deliver("", approval({"by": "Bob"}, guarded=True), frozenset())

    assert (await memory.runtime.read("second")).status is Status.SUSPENDED
    assert memory.components.stimulus_counts.by_outcome == {"delivered": 1}
