"""Receipts of takeovers in the journal."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast import Workflow, activity
from holdfast.model.instance import JournalEvent
from holdfast.model.work import EffectRow
from holdfast.runtime.effects.takeover_receipts import ITS_QUEUE, TakeoverReceipts
from tests.support.memory_node import MemoryNode


@activity
async def charge() -> str:
    return "charged"


charging = Workflow(charge.bind(queue="default"), id="charges")


async def recorded(memory: MemoryNode) -> EffectRow:
    await memory.runtime.start(charging, instance_id="order")
    (row,) = await memory.store.effects_of("", "order")
    return row


def receipts_of(memory: MemoryNode) -> TakeoverReceipts:
    parts = memory.components
    return TakeoverReceipts(parts.store, parts.reader, parts.lanes)


async def written(memory: MemoryNode) -> list[dict[str, Any]]:
    journal = await memory.runtime.journal("order")
    return [dict(entry.data) for entry in journal if entry.event is JournalEvent.TAKEN_OVER]


async def test_a_receipt_names_both_nodes_and_the_attempt(memory: MemoryNode) -> None:
    row = replace(await recorded(memory), attempt=2)

    await receipts_of(memory).write(row, died="dead", by="n")

    (receipt,) = await written(memory)
    assert (receipt["attempt"], receipt["node"], receipt["by"]) == (2, "dead", "n")


async def test_a_missing_receipt_is_written_once(memory: MemoryNode) -> None:
    row, receipts = await recorded(memory), receipts_of(memory)
    await receipts.complete(row)
    assert await written(memory) == []  # The first attempt began with the effect.

    for _ in range(2):
        await receipts.complete(replace(row, attempt=2))

    (receipt,) = await written(memory)
    assert (receipt["attempt"], receipt["by"]) == (2, ITS_QUEUE)


async def test_attempts_begun_by_takeovers_are_counted(memory: MemoryNode) -> None:
    row, receipts = await recorded(memory), receipts_of(memory)
    for attempt in (2, 3):
        await receipts.write(replace(row, attempt=attempt), died="dead", by="n", alone=attempt == 3)

    assert await receipts.begun_since(replace(row, attempt=3), 1) == (2, False)  # Isolation of this attempt is open.
    assert await receipts.begun_since(replace(row, attempt=4), 1) == (2, True)
    assert await receipts.begun_since(replace(row, attempt=4), 2) == (1, True)
    assert await receipts.begun_since(replace(row, execution=99, attempt=4), 1) == (0, False)


async def test_an_effect_of_a_deleted_instance_has_no_receipt_and_no_error(memory: MemoryNode) -> None:
    row = replace(await recorded(memory), instance_id="gone", attempt=2)

    await receipts_of(memory).write(row, died="dead", by="n")

    assert await written(memory) == []


async def test_two_receipts_of_one_attempt_count_once(memory: MemoryNode) -> None:
    row, receipts = replace(await recorded(memory), attempt=2), receipts_of(memory)
    for died in ("dead", ""):
        await receipts.write(row, died=died, by=ITS_QUEUE)

    assert await receipts.begun_since(replace(row, attempt=3), 1) == (1, False)
