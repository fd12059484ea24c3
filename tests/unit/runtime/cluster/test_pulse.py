"""The pulse of a node: one question for all services, and no pulse storms."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.model.changes import DEFINITIONS, NO_TOPIC, UNKNOWN, Change, of_topic
from holdfast.model.pulse import Pulse
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.cluster.pulse import NodePulse
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.queue_watch import QueueWatch

HOUR = timedelta(hours=1)


class Bench:
    def __init__(self) -> None:
        self.store = MemoryStore()
        self.membership = Membership("n")
        self.pulses: asyncio.Queue[Pulse] = asyncio.Queue()
        self.changes: list[Change] = []
        self.watch = QueueWatch(self.store, SystemClock())
        self.pulse = NodePulse(
            self.store,
            self.membership,
            self.watch,
            OutageLog("n"),
            lambda: HOUR,
            on_pulse=[self.pulses.put_nowait],
            on_change=[self.changes.append],
        )

    async def start(self) -> None:
        self.membership.join(await self.store.register_node("n", time_to_live=HOUR), lambda: 0)
        self.pulse.start()

    async def next(self) -> Pulse:
        async with asyncio.timeout(10):
            return await self.pulses.get()


async def test_a_node_asks_when_it_starts_and_then_once_per_interval() -> None:
    bench = Bench()
    await bench.start()

    assert [node.id for node in (await bench.next()).nodes] == ["n"]
    for _ in range(20):
        await asyncio.sleep(0)
    assert bench.pulses.empty()
    await bench.pulse.stop()


async def test_services_hear_changes_with_a_topic() -> None:
    bench = Bench()
    await bench.start()
    bench.store._changed(NO_TOPIC)
    bench.store._changed(UNKNOWN)
    await bench.pulse.stop()
    bench.store._changed(UNKNOWN)

    assert bench.changes == [UNKNOWN]


async def test_changes_in_quick_succession_share_a_pulse() -> None:
    bench = Bench()
    await bench.start()
    await bench.next()
    for _ in range(10):
        bench.store._changed(of_topic(DEFINITIONS))

    await bench.next()
    for _ in range(20):
        await asyncio.sleep(0)
    assert bench.pulses.empty()
    await bench.pulse.stop()
    bench.pulse.ask()
    assert bench.pulse._asking is None
