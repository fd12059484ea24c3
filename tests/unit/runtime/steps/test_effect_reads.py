"""Reads of open steps: shared by steps of one instance, and never older than the question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from holdfast.model.stored import InstanceKey
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.runtime.steps.effect_reads import EffectReads

KEY = InstanceKey("acme", "i1")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def effect(execution: int) -> EffectRow:
    return EffectRow("i1", execution, "charge", "Charge", NOW, queue="mail@acme", tenant="acme")


class SlowStore:
    """Answers with the effects that were stored when the read began, after the gate has opened."""

    def __init__(self, *effects: EffectRow) -> None:
        self.effects = effects
        self.reads = 0
        self.gate = asyncio.Event()

    async def effects_of(self, tenant: str, instance_id: str) -> Sequence[EffectRow]:
        self.reads += 1
        found = self.effects
        await self.gate.wait()
        return found


def reads_of(store: Any) -> EffectReads:
    return EffectReads(store)


def ref(execution: int) -> EffectRef:
    return EffectRef(execution, 1, NO_OWNER)


async def test_steps_that_are_taken_together_share_a_read() -> None:
    store = SlowStore(effect(1), effect(2))
    reads = reads_of(store)
    asked = [asyncio.create_task(reads.find(KEY, ref(number))) for number in (1, 2)]
    await asyncio.sleep(0)
    store.gate.set()

    assert (await asyncio.gather(*asked), store.reads) == ([effect(1), effect(2)], 1)


async def test_a_step_that_is_newer_than_the_read_is_read_again() -> None:
    store = SlowStore(effect(1))
    reads = reads_of(store)
    first = asyncio.create_task(reads.find(KEY, ref(1)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert store.reads == 1
    store.effects = (effect(1), effect(2))
    second = asyncio.create_task(reads.find(KEY, ref(2)))
    await asyncio.sleep(0)
    store.gate.set()

    assert [await first, await second] == [effect(1), effect(2)]


async def test_a_step_that_is_not_open_is_not_found() -> None:
    store = SlowStore(effect(1))
    store.gate.set()

    assert await reads_of(store).find(KEY, ref(7)) is None
