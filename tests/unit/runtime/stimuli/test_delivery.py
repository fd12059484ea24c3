"""Delivery of one stimulus: the oldest bookmark that takes it, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from holdfast import Status, wait_for, workflow
from holdfast.errors import PayloadRefused
from holdfast.model import values
from holdfast.model.stored import InstanceKey
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


def delivery_of(memory: MemoryNode) -> StimulusDelivery:
    parts = memory.components
    return StimulusDelivery(
        memory.store, parts.lanes, parts.cache, parts.matcher, Declinations(), parts.stimulus_counts
    )


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

    assert await delivery_of(memory).deliver("", approval({"by": "Bob"}), frozenset())

    assert (await memory.runtime.read("first")).outputs == {"result": "Bob"}
    assert (await memory.runtime.read("second")).status is Status.SUSPENDED
    assert memory.components.stimulus_counts.by_outcome == {"delivered": 1}


async def test_a_bookmark_that_declines_it_is_passed_over(memory: MemoryNode) -> None:
    await waiting(memory, picky, "first")
    await waiting(memory, anyone, "second")

    assert await delivery_of(memory).deliver("", approval({"by": "Bob"}), frozenset())

    assert (await memory.runtime.read("first")).status is Status.SUSPENDED
    assert (await memory.runtime.read("second")).outputs == {"result": "Bob"}


async def test_without_a_fitting_bookmark_nothing_is_delivered(memory: MemoryNode) -> None:
    await waiting(memory, picky, "first")
    delivery = delivery_of(memory)

    assert not await delivery.deliver("", approval({"by": "Bob"}), frozenset())
    assert not await delivery.deliver("", approval({"by": "Ada"}), frozenset({"first"}))
    assert not await delivery.deliver("globex", approval({"by": "Ada"}), frozenset())
    assert memory.components.stimulus_counts.by_outcome == {}


async def test_a_payload_of_the_wrong_shape_is_refused_if_no_bookmark_takes_it(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")

    with pytest.raises(PayloadRefused):
        await delivery_of(memory).deliver("", approval({"of": 3}), frozenset())

    assert (await memory.runtime.read("first")).status is Status.SUSPENDED


async def test_a_guarded_stimulus_is_delivered_once(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")
    await waiting(memory, anyone, "second")
    delivery = delivery_of(memory)

    for _ in range(2):
        assert await delivery.deliver("", approval({"by": "Bob"}, guarded=True), frozenset())

    assert (await memory.runtime.read("second")).status is Status.SUSPENDED
    assert memory.components.stimulus_counts.by_outcome == {"delivered": 1}


# -- addressed to an instance ------------------------------------------------------------------------------------------


def addressed(payload: Any, instance_id: str, **more: Any) -> Stimulus:
    return msgspec.structs.replace(approval(payload, **more), instance_id=instance_id)


@pytest.mark.parametrize("cached", [True, False])
async def test_a_stimulus_for_an_instance_needs_one_query_before_its_commit(
    memory: MemoryNode, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await waiting(memory, anyone, "first")
    if not cached:
        memory.components.cache.forget(InstanceKey("", "first"))
    asked: list[str] = []
    for name in ("load", "has_mail", "find_bookmarks"):
        monkeypatch.setattr(memory.store, name, noting(asked, name, getattr(memory.store, name)))

    assert await delivery_of(memory).deliver_at_once("", addressed({"by": "Bob"}, "first"))

    assert asked == (["has_mail"] if cached else ["load"])
    assert (await memory.runtime.read("first")).outputs == {"result": "Bob"}


async def test_a_stimulus_by_key_needs_one_query_before_its_commit(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    await waiting(memory, anyone, "first")
    asked: list[str] = []
    for name in ("load", "has_mail", "find_bookmarks"):
        monkeypatch.setattr(memory.store, name, noting(asked, name, getattr(memory.store, name)))

    assert await delivery_of(memory).deliver_at_once("", approval({"by": "Bob"}))

    assert asked == ["find_bookmarks"]


async def test_a_stimulus_by_key_is_not_delivered_before_older_ones_of_its_address(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")
    await memory.store.put_inbox(memory.components.inbox.rows_for("", approval({"by": "Eve"})))

    assert not await delivery_of(memory).deliver_at_once("", approval({"by": "Bob"}))
    assert (await memory.runtime.read("first")).status is Status.SUSPENDED


def noting(calls: list[str], name: str, call: Any) -> Any:
    def noted(*values: Any) -> Any:
        calls.append(name)
        return call(*values)

    return noted


@pytest.mark.parametrize("cached", [True, False])
async def test_a_stimulus_is_not_delivered_before_older_ones_of_its_address(memory: MemoryNode, cached: bool) -> None:
    await waiting(memory, anyone, "first")
    if not cached:
        memory.components.cache.forget(InstanceKey("", "first"))
    found = addressed({"by": "Bob"}, "first")
    await memory.store.put_inbox(memory.components.inbox.rows_for("", addressed({"by": "Eve"}, "first")))

    assert not await delivery_of(memory).deliver_at_once("", found)
    assert (await memory.runtime.read("first")).status is Status.SUSPENDED


async def test_a_stimulus_for_an_instance_is_declined_or_refused_by_all_of_its_bookmarks(memory: MemoryNode) -> None:
    await waiting(memory, picky, "first")
    delivery = delivery_of(memory)

    assert not await delivery.deliver_at_once("", addressed({"by": "Bob"}, "first"))
    with pytest.raises(PayloadRefused):
        await delivery.deliver_at_once("", addressed({"of": 3}, "first"))
    assert await delivery.deliver_at_once("", addressed({"by": "Ada"}, "first"))
    assert memory.components.stimulus_counts.by_outcome == {"delivered": 1}


async def test_a_stimulus_for_an_instance_that_has_ended_or_never_was_is_not_delivered(memory: MemoryNode) -> None:
    await waiting(memory, anyone, "first")
    stale = memory.components.cache.get(InstanceKey("", "first"))
    assert stale is not None
    delivery = delivery_of(memory)
    assert await delivery.deliver_at_once("", addressed({"by": "Bob"}, "first"))

    assert not await delivery.deliver_at_once("", addressed({"by": "Bob"}, "first"))
    memory.components.cache.keep(InstanceKey("", "first"), stale)  # Another node ended it.
    assert not await delivery.deliver_at_once("", addressed({"by": "Bob"}, "first"))
    assert not await delivery.deliver_at_once("", addressed({"by": "Bob"}, "none"))
