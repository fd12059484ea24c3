"""The heartbeat in a thread of its own: a busy loop loses nothing, a loop that stands still does (rule H13)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.cluster import NodeState
from holdfast.model.work import Owner
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.cluster import heartbeat as heart_module
from holdfast.runtime.cluster.heartbeat import Heartbeat
from tests.support.node import node_of

WITHIN = 20.0


class Pulse:
    """The second handle of a store: notes who beats, and when."""

    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.beat_now = threading.Semaphore(0)
        self.answer = True
        self.closed = False

    async def open(self, *, migrate: bool = True) -> None:
        assert not migrate

    async def close(self) -> None:
        self.closed = True

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        self.threads.add(threading.get_ident())
        self.beat_now.release()
        return self.answer


@pytest.fixture
async def beating() -> AsyncIterator[tuple[ManagedRuntime, Pulse]]:
    pulse: Any = Pulse()
    engine = Holdfast(entry_points=False)
    runtime = engine.runtime_on(MemoryStore(), node="n")
    node = node_of(runtime)
    parts, liveness = node.components, runtime.liveness
    liveness.beat_every = timedelta(milliseconds=5)
    node.heartbeat = Heartbeat(
        parts.store, parts.clock, parts.membership, liveness, parts.running, parts.log, second_handle=lambda: pulse
    )
    async with runtime:
        yield runtime, pulse
    assert pulse.closed
    engine.close()


async def test_it_beats_beside_a_loop_that_is_busy(beating: tuple[ManagedRuntime, Pulse]) -> None:
    runtime, pulse = beating
    for _ in range(3):  # The loop does nothing else meanwhile, and cannot.
        assert pulse.beat_now.acquire(timeout=WITHIN)

    assert threading.get_ident() not in pulse.threads
    assert runtime.liveness.may_start_effects


async def test_it_stops_when_the_loop_stands_still(
    beating: tuple[ManagedRuntime, Pulse], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, pulse = beating
    assert await asyncio.to_thread(pulse.beat_now.acquire, timeout=WITHIN)
    monkeypatch.setattr(heart_module, "LOOP_STUCK_AFTER", timedelta(0))
    while pulse.beat_now.acquire(timeout=0.2):  # The beats under way; then there are no more, as the loop is held here.
        pass

    monkeypatch.setattr(heart_module, "LOOP_STUCK_AFTER", timedelta(minutes=1))
    assert await asyncio.to_thread(pulse.beat_now.acquire, timeout=WITHIN)
    assert not runtime.liveness.fenced


async def test_a_later_life_of_the_node_ends_this_one(beating: tuple[ManagedRuntime, Pulse]) -> None:
    runtime, pulse = beating
    pulse.answer = False
    async with asyncio.timeout(WITHIN):
        while True:
            if runtime.liveness.fenced:
                break
            await asyncio.sleep(0.005)

    assert not runtime.liveness.may_start_effects


async def test_a_node_that_could_not_renew_for_long_starts_no_effects(beating: tuple[ManagedRuntime, Pulse]) -> None:
    runtime, _ = beating
    await node_of(runtime).heartbeat.stop()
    assert runtime.liveness.may_start_effects
    runtime.liveness.renewed_at -= 20.5  # of 30 seconds
    assert not runtime.liveness.may_start_effects


class Silent(MemoryStore):
    """A store that does not answer the first heartbeat."""

    def __init__(self) -> None:
        super().__init__()
        self.beats = 0
        self.answered = asyncio.Event()

    async def beat(self, owner: Owner, state: NodeState = NodeState.LIVE) -> bool:
        self.beats += 1
        if self.beats == 1:
            await asyncio.Event().wait()
        self.answered.set()
        return await super().beat(owner, state)


async def test_a_heartbeat_without_an_answer_is_given_up_for_the_next_one() -> None:
    store = Silent()
    engine = Holdfast(entry_points=False)
    runtime = engine.runtime_on(store, node="n")
    runtime.liveness.time_to_live = timedelta(milliseconds=60)

    async with runtime, asyncio.timeout(WITHIN):
        await store.answered.wait()

    engine.close()
