"""Effects that end their process: counted, isolated once, then buried with a dead letter."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Workflow, activity
from holdfast.model.instance import Status
from holdfast.model.work import EffectRow
from holdfast.runtime.effects.poison import LOST_MAX, UNJOURNALED_FACTOR, PoisonEffects
from tests.support.memory_node import MemoryNode


class FakeReceipts:
    def __init__(self, begun: int, *, isolated: bool) -> None:
        self.answer = begun, isolated
        self.queried: list[tuple[int, int]] = []

    async def begun_since(self, row: EffectRow, first: int) -> tuple[int, bool]:
        self.queried.append((row.attempt, first))
        return self.answer


@activity
async def charge() -> str:
    return "charged"


charging = Workflow(charge.bind(queue="default"), id="charges")


async def recorded(memory: MemoryNode, attempt: int) -> EffectRow:
    """A step whose stored state holds the first attempt."""
    await memory.runtime.start(charging, instance_id="order")
    (row,) = await memory.store.effects_of("", "order")
    return replace(row, attempt=attempt)


def poison_of(memory: MemoryNode, receipts: FakeReceipts) -> PoisonEffects:
    parts, pretended = memory.components, receipts
    given: Any = pretended
    return PoisonEffects(parts.store, parts.reader, given, parts.lanes)


async def test_the_first_losses_are_no_reason_for_isolation(memory: MemoryNode) -> None:
    receipts = FakeReceipts(LOST_MAX, isolated=False)
    row = await recorded(memory, LOST_MAX)

    assert not await poison_of(memory, receipts).needs_isolation(row)
    assert receipts.queried == []


@pytest.mark.parametrize(
    ("begun", "isolated", "needed"),
    [(LOST_MAX, False, True), (LOST_MAX, True, False), (LOST_MAX - 1, False, False)],
)
async def test_the_attempt_before_the_burial_is_isolated(
    memory: MemoryNode, begun: int, isolated: bool, needed: bool
) -> None:
    receipts = FakeReceipts(begun, isolated=isolated)
    row = await recorded(memory, LOST_MAX + 1)

    assert await poison_of(memory, receipts).needs_isolation(row) is needed
    assert receipts.queried == [(LOST_MAX + 2, 1)]


async def test_an_effect_that_has_ended_needs_no_isolation(memory: MemoryNode) -> None:
    row = replace(await recorded(memory, LOST_MAX + 1), execution=99)

    assert not await poison_of(memory, FakeReceipts(9, isolated=False)).needs_isolation(row)


@pytest.mark.parametrize(
    ("lost", "begun", "isolated", "buried"),
    [
        (LOST_MAX, 9, True, False),
        (LOST_MAX + 1, LOST_MAX + 1, True, True),
        (LOST_MAX + 1, LOST_MAX + 1, False, False),
        (LOST_MAX + 1, LOST_MAX, True, False),
        (LOST_MAX * UNJOURNALED_FACTOR + 1, 0, False, True),
    ],
)
async def test_an_effect_is_buried_after_an_isolated_loss(
    memory: MemoryNode, lost: int, begun: int, isolated: bool, buried: bool
) -> None:
    receipts = FakeReceipts(begun, isolated=isolated)
    row = await recorded(memory, lost + 1)
    moved = await memory.store.move_effect("", "order", replace(row, attempt=1).ref, row.ref)
    assert moved is not None

    assert await poison_of(memory, receipts).bury_if_poison(row, lost) is buried
    result = await memory.runtime.settle("order")

    letters = await memory.store.list_dead_letters("")
    assert [item.reason for item in letters] == (["process-died"] if buried else [])
    assert (result.status is Status.FAULTED) is buried
