"""The launcher: the normal path of an effect, without the code for effects that end processes or dead nodes."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Status, Workflow, activity
from holdfast.activities import Parallel, Sequence
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import EffectRef, EffectRow
from holdfast.runtime.commits.large_values import StateMoved
from holdfast.runtime.effects.launcher import EffectLauncher
from holdfast.runtime.effects.poison import PoisonEffects
from holdfast.runtime.effects.reaper import Reaper
from tests.support.memory_node import MemoryNode
from tests.support.probe import probe


@activity
async def charge() -> str:
    probe.calls.append("charge")
    return "charged"


charging = Workflow(Sequence(charge.bind(result="said", queue="default")), id="charges", variables={"said": ""})


class FakeRunning:
    """Records launched effects instead of running them."""

    def __init__(self) -> None:
        self.launched: list[tuple[InstanceKey, int, int]] = []
        self.ended: list[EffectRef] = []

    def has(self, key: Any) -> bool:
        return key in {(instance, execution) for instance, execution, _ in self.launched}

    def run(self, key: InstanceKey, live: Any, request: Any) -> None:
        self.launched.append((key, request.execution_id, request.attempt))

    def end_unstarted(self, key: InstanceKey, ref: EffectRef, cause: str) -> None:
        self.ended.append(ref)


async def recorded(memory: MemoryNode) -> EffectRow:
    """The row of a step that waits in its queue."""
    await memory.runtime.start(charging, instance_id="order")
    (row,) = await memory.store.effects_of("", "order")
    return row


def launcher_of(memory: MemoryNode, running: FakeRunning, buried: list[int], *, is_poison: bool = False) -> Any:
    async def bury(row: EffectRow, lost: int) -> bool:
        buried.append(lost)
        return is_poison

    pretended: Any = running
    return EffectLauncher(memory.components.cache, memory.components.reader, pretended, bury)


async def test_a_recorded_attempt_runs_once_and_is_never_checked_for_poison(memory: MemoryNode) -> None:
    row, running, buried = await recorded(memory), FakeRunning(), list[int]()
    launcher = launcher_of(memory, running, buried)

    for _ in range(2):
        await launcher.launch(row)

    assert running.launched == [(InstanceKey("", "order"), row.execution, 1)]
    assert buried == []


async def test_without_a_cached_state_the_stored_state_is_used(memory: MemoryNode) -> None:
    row, running = await recorded(memory), FakeRunning()
    memory.runtime.forget("order")

    await launcher_of(memory, running, []).launch(row)

    assert [attempt for _, _, attempt in running.launched] == [1]


async def test_the_stored_state_is_used_if_pages_of_the_cached_one_are_gone(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, running, cache = await recorded(memory), FakeRunning(), memory.components.cache
    cached, values_of = cache.get(InstanceKey("", "order")), cache.values_of
    assert cached is not None

    async def values(key: InstanceKey, found: InstanceRow, *, pages: bool = True) -> Any:
        if found is cached:
            raise StateMoved(key.id)
        return await values_of(key, found, pages=pages)

    async def stored(key: InstanceKey) -> InstanceRow:
        return replace(cached)

    monkeypatch.setattr(cache, "values_of", values)
    monkeypatch.setattr(cache, "row", stored)
    await launcher_of(memory, running, []).launch(row)

    assert len(running.launched) == 1


async def test_a_later_attempt_counts_the_lost_ones(memory: MemoryNode) -> None:
    row, running, buried = await recorded(memory), FakeRunning(), list[int]()
    later = EffectRow(row.instance_id, row.execution, row.activity_id, row.type, row.created, attempt=3)

    await launcher_of(memory, running, buried).launch(later)

    assert buried == [2]
    assert [attempt for _, _, attempt in running.launched] == [3]


async def test_a_buried_effect_does_not_run(memory: MemoryNode) -> None:
    row, running = await recorded(memory), FakeRunning()
    later = EffectRow(row.instance_id, row.execution, row.activity_id, row.type, row.created, attempt=5)

    await launcher_of(memory, running, [], is_poison=True).launch(later)

    assert running.launched == []


async def test_an_effect_that_was_canceled_does_not_run(memory: MemoryNode) -> None:
    row, running = await recorded(memory), FakeRunning()
    memory.components.running.on_canceled_elsewhere = lambda key: None
    await memory.runtime.cancel("order")
    (marked,) = await memory.store.effects_of("", "order")
    launcher = launcher_of(memory, running, [])

    await launcher.launch(row)  # Read before the cancel: the state says it.
    await launcher.launch(marked)

    assert running.launched == []
    assert running.ended == [row.ref, row.ref]


async def test_a_step_runs_without_poison_checks_and_without_the_reaper(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*given: object, **more: object) -> None:
        raise AssertionError("the normal path of a step called the recovery path")

    with monkeypatch.context() as patched:
        for recovery in (PoisonEffects, Reaper):
            for name in [name for name, value in vars(recovery).items() if callable(value) and name != "__init__"]:
                patched.setattr(recovery, name, forbidden)
        memory = MemoryNode()  # Made now: its launcher holds a method of the patched class.
        async with memory:
            memory.components.steps.start()
            await memory.runtime.start(charging, instance_id="order")
            async with asyncio.timeout(20):
                result = await memory.runtime.wait_at_rest("order")
            patched.undo()  # The end of the node stops the reaper.

    assert (result.status, result.variables["said"], probe.calls) == (Status.FINISHED, "charged", ["charge"])


fan_out = Workflow(Sequence(Parallel(*(charge.bind(queue="default") for _ in range(5)))), id="fan-out")


async def test_the_steps_of_a_fan_out_decode_the_state_once(
    memory: MemoryNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.runtime.start(fan_out, instance_id="order")
    rows = await memory.store.effects_of("", "order")
    running, decoded = FakeRunning(), list[int]()
    launcher, decode = launcher_of(memory, running, []), memory.components.reader.decode_state

    def count(*arguments: Any) -> Any:
        decoded.append(1)
        return decode(*arguments)

    monkeypatch.setattr(memory.components.reader, "decode_state", count)
    for row in rows:
        await launcher.launch(row)

    assert len(rows) == len(running.launched) == 5
    assert len(decoded) == 1


async def test_a_state_of_another_instance_with_the_same_id_is_not_used(memory: MemoryNode) -> None:
    row, running = await recorded(memory), FakeRunning()
    launcher = launcher_of(memory, running, [])
    await launcher.launch(row)
    stored, live = launcher._decoded[InstanceKey("", "order")]
    running.launched.clear()
    launcher._decoded[InstanceKey("", "order")] = (replace(stored, created=stored.created - timedelta(days=1)), live)

    assert not launcher._run_decoded(InstanceKey("", "order"), row, stored)
    await launcher.launch(row)

    assert len(running.launched) == 1
    assert launcher._decoded[InstanceKey("", "order")][0].created == stored.created
