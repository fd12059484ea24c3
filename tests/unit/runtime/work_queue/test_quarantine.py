"""Quarantine counts only attempts of processes that ended during the run (rule H15)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import CodeMissing, HoldfastError, StateUnreadable
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.commits import dead_letters
from holdfast.runtime.work_queue.quarantine import ATTEMPTS_MAX
from tests.support.memory_node import MemoryNode


async def stimulus(memory: MemoryNode, **more: Any) -> WorkRow:
    row = WorkRow(id="s1", kind=WorkKind.STIMULUS, created=memory.clock.now(), **more)
    await memory.store.enqueue([row])
    return row


async def stored(memory: MemoryNode) -> list[WorkRow]:
    memory.clock.advance(timedelta(hours=1))
    async with memory.store.claim(["default"], 10) as claim:
        return list(claim.rows)


def answering(memory: MemoryNode, error: Exception | None) -> None:
    async def handle(row: WorkRow) -> None:
        if error is not None:
            raise error

    poller: Any = memory.components.poller
    poller._handlers = {**poller._handlers, WorkKind.STIMULUS: handle}


@pytest.mark.parametrize(
    "error",
    [
        CodeMissing("order", "'pack' is gone", content="c1"),
        StateUnreadable("i1", "gone", type_name="shop:Item", content="c1"),
    ],
)
async def test_a_row_whose_code_is_missing_is_parked_and_not_counted(memory: MemoryNode, error: Exception) -> None:
    answering(memory, error)
    row = await stimulus(memory)

    for _ in range(ATTEMPTS_MAX + 2):
        await memory.components.quarantine.take_one()

    (found,) = await stored(memory)
    assert (found.attempts, found.due) == (row.attempts, row.due)
    assert found.content.startswith("c1")
    assert await memory.store.list_dead_letters("") == []
    assert await memory.components.quarantine.take_one() == 0  # It is not tried again in this process.


async def test_an_answer_takes_the_attempt_back(memory: MemoryNode) -> None:
    answering(memory, None)
    row = await stimulus(memory)

    assert await memory.components.quarantine.take_one() == 1

    assert await stored(memory) == [row]


async def test_an_error_counts_once(memory: MemoryNode) -> None:
    answering(memory, HoldfastError("broken"))
    await stimulus(memory)

    await memory.components.quarantine.take_one()

    (found,) = await stored(memory)
    assert found.attempts == 1


async def test_a_row_that_ended_its_processes_is_a_dead_letter(memory: MemoryNode) -> None:
    answering(memory, None)
    await stimulus(memory, attempts=ATTEMPTS_MAX)

    await memory.components.quarantine.take_one()

    assert [item.reason for item in await memory.store.list_dead_letters("")] == [dead_letters.PROCESS_DIED]
