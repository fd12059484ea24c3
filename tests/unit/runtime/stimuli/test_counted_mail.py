"""Kept stimuli in quarantine: one counted work row each, in order, and a dead letter after three attempts (rule H15)."""

from __future__ import annotations

from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow
from holdfast.runtime.work_queue.quarantine import ATTEMPTS_MAX
from tests.support.memory_node import MemoryNode
from tests.unit.runtime.stimuli.test_mail_drain import kept, reads

ONE = InstanceKey("", "one")


async def rows(memory: MemoryNode) -> list[WorkRow]:
    async with memory.store.claim(["default"], 100) as claim:
        return list(claim.rows)


async def test_a_drain_in_quarantine_adds_the_row_of_the_first_stimulus_and_delivers_nothing(
    memory: MemoryNode,
) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 2}, instance_id="one")
    await kept(memory, range(2))
    memory.components.intake.start_quarantine()

    for _ in range(2):
        await memory.components.inbox._drain.drain(ONE)

    (row,) = await rows(memory)
    assert (row.kind, row.id, row.instance_id) == (WorkKind.MAIL, "s000>one", "one")
    assert (await memory.store.stats("")).inbox == 2


async def test_rows_are_run_one_by_one_in_order(memory: MemoryNode) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 9}, instance_id="one")
    await kept(memory, range(9))
    memory.components.intake.start_quarantine()
    await memory.components.inbox._drain.drain(ONE)

    taken = 0
    while await memory.components.quarantine.take_one():
        taken += 1

    assert taken == 9
    assert (await memory.runtime.read("one")).outputs == {"result": list(range(9))}
    assert await rows(memory) == []


async def test_after_three_attempts_without_an_answer_the_stimulus_is_a_dead_letter_and_the_next_one_is_offered(
    memory: MemoryNode,
) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 2}, instance_id="one")
    await kept(memory, range(2))
    memory.components.intake.start_quarantine()
    await memory.components.inbox._drain.drain(ONE)
    (row,) = await rows(memory)
    await memory.store.move_work(row, attempts=ATTEMPTS_MAX, due=None)

    await memory.components.quarantine.take_one()

    (letter,) = await memory.store.list_dead_letters("")
    assert (letter.reason, letter.work.kind, letter.work.id) == ("process-died", WorkKind.STIMULUS, "s000")
    assert [item.type for item in (await memory.runtime.read("one")).incidents] == ["process-died"]
    assert [item.id for item in await rows(memory)] == ["s001>one"]
    assert (await memory.store.stats("")).inbox == 1


async def test_a_row_whose_stimulus_was_consumed_elsewhere_is_deleted(memory: MemoryNode) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 1}, instance_id="one")
    await kept(memory, range(1))
    await memory.components.counted_mail.offer(ONE)
    await memory.components.inbox._drain.drain(ONE)
    (row,) = await rows(memory)
    memory.components.intake.start_quarantine()

    assert not await memory.components.counted_mail.bury(row, "it ended processes")

    assert await rows(memory) == []
    assert await memory.store.list_dead_letters("") == []


async def test_outside_of_quarantine_the_row_drains_the_inbox(memory: MemoryNode) -> None:
    await memory.runtime.start(reads, {"number": "k", "count": 5}, instance_id="one")
    await kept(memory, range(5))
    await memory.components.counted_mail.offer(ONE)

    await memory.components.poller.take_due()
    await memory.runtime.wait_at_rest("one")

    assert (await memory.runtime.read("one")).outputs == {"result": list(range(5))}
