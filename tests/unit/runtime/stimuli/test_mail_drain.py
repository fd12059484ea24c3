"""The drain: kept stimuli reach an instance in order, in pages, and only if no other instance waits longer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast import wait_for, workflow
from holdfast.model import values
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.mail_drain import PAGE_FIRST, TWIN, row_ids
from tests.support.memory_node import MemoryNode


@workflow
async def reads(number: str, count: int) -> list[int]:
    got: list[int] = []
    while len(got) < count:
        message = await wait_for("message", key=number)
        got.append(message)
    return got


def message(number: int, **more: Any) -> Stimulus:
    return Stimulus(
        id=f"s{number:03}", event_name="message", key=values.encode("k"), input=values.encode(number), **more
    )


async def kept(memory: MemoryNode, numbers: range) -> None:
    for number in numbers:
        await memory.store.put_inbox(memory.components.inbox.rows_for("", message(number)))


async def test_a_backlog_is_taken_in_few_commits(memory: MemoryNode) -> None:
    count = PAGE_FIRST * 20
    await memory.runtime.start(reads, {"number": "k", "count": count}, instance_id="one")
    await kept(memory, range(count))

    await memory.components.inbox._drain.drain(InstanceKey("", "one"))

    assert (await memory.runtime.read("one")).outputs == {"result": list(range(count))}
    assert (await memory.runtime.row("one")).version < count / 2
    assert (await memory.store.stats("")).inbox == 0


async def test_each_goes_to_the_instance_that_waits_longest(memory: MemoryNode) -> None:
    for name in ("first", "second"):
        await memory.runtime.start(reads, {"number": "k", "count": 2}, instance_id=name)
        memory.clock.advance(timedelta(seconds=1))
    await kept(memory, range(4))

    await memory.components.inbox._drain.drain(InstanceKey("", "first"))

    results = [(await memory.runtime.wait_at_rest(name)).outputs["result"] for name in ("first", "second")]
    assert results == [[0, 2], [1, 3]]


async def test_nothing_is_done_without_mail(memory: MemoryNode) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 1}, instance_id="one")

    await memory.components.inbox._drain.drain(InstanceKey("", "one"))

    assert (await memory.runtime.row("one")).version == 1


def test_an_event_for_two_kinds_of_waits_has_two_rows() -> None:
    assert row_ids(message(1)) == ("s001",)
    assert row_ids(Stimulus(id="s", event_name="e", instance_id="i")) == ("s", f"s{TWIN}")
    assert row_ids(Stimulus(id="s", event_name="e", broadcast=True, instance_id="i")) == ("s",)
