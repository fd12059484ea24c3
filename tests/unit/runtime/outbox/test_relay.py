"""The relay: rows of the outbox reach their outlet, failures wait longer each time, foreign rows are left to other nodes."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from holdfast.persistence.memory import MemoryStore
from holdfast.ports import LifecycleEvent
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.outbox.relay import LEASE, FunctionOutlet, Relay
from holdfast.testing.clock import VirtualClock
from holdfast.testing.store_rows import AT, message, settlement


class Outlet:
    """Collects events; fails while `error` is set."""

    name = "orders"
    events: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.delivered: list[str] = []
        self.calls = 0
        self.error: Exception | None = None
        self.closed = False

    async def deliver(self, event: LifecycleEvent) -> None:
        self.calls += 1
        if self.error is not None:
            raise self.error
        self.delivered.append(event.id)

    async def close(self) -> None:
        self.closed = True


class Bench:
    def __init__(self) -> None:
        self.clock = VirtualClock(jump=False)
        self.store = MemoryStore(now=self.clock.now)
        self.outlet = Outlet()
        self.relay = Relay(self.store, [self.outlet], ("acme",), OutageLog("n"))

    async def add(self, *names: str, tenant: str = "acme", topic: str = "orders") -> None:
        rows = [message(tenant, id=name, topic=topic, payload=msgspec.json.encode(event(name))) for name in names]
        await self.store.commit([settlement(tenant, outbox_added=tuple(rows))])


def event(name: str) -> LifecycleEvent:
    return LifecycleEvent(
        id=name,
        event="instance.started",
        at=AT,
        tenant="acme",
        instance_id="i",
        definition_id="d",
        definition_version=1,
        status="running",
        version=1,
    )


async def test_events_are_delivered_and_deleted() -> None:
    bench = Bench()
    await bench.add("e1", "e2")

    assert await bench.relay.deliver() == 2

    assert sorted(bench.outlet.delivered) == ["e1", "e2"]
    bench.clock.advance(2 * LEASE)
    assert await bench.relay.deliver() == 0


async def test_a_failed_delivery_is_repeated_after_a_growing_pause() -> None:
    bench = Bench()
    await bench.add("e1")
    bench.outlet.error = OSError("refused")
    attempts: list[int] = []
    for second in range(16):
        before = bench.outlet.calls
        await bench.relay.deliver()
        if bench.outlet.calls > before:
            attempts.append(second)
        bench.clock.advance(timedelta(seconds=1))

    assert attempts == [0, 2, 6, 14]
    bench.outlet.error = None
    bench.clock.advance(timedelta(seconds=14))
    assert await bench.relay.deliver() == 1
    assert bench.outlet.delivered == ["e1"]


async def test_rows_of_other_outlets_and_tenants_wait_for_another_node() -> None:
    bench = Bench()
    await bench.add("e1", topic="elsewhere")
    await bench.add("e2", tenant="globex")

    assert await bench.relay.deliver() == 0

    other = Outlet()
    foreign = Relay(bench.store, [other], ("globex",), OutageLog("m"))
    bench.clock.advance(LEASE)
    assert await foreign.deliver() == 1
    assert (bench.outlet.delivered, other.delivered) == ([], ["e2"])


async def test_the_stop_closes_the_outlets() -> None:
    bench = Bench()
    bench.relay.start()

    await bench.relay.stop()

    assert bench.outlet.closed


async def test_a_function_is_an_outlet() -> None:
    found: list[str] = []

    async def deliver(event: LifecycleEvent) -> None:
        found.append(event.id)

    outlet = FunctionOutlet("mine", deliver, events=["instance.started"])
    await outlet.deliver(event("e1"))

    assert (outlet.name, outlet.events, found) == ("mine", frozenset({"instance.started"}), ["e1"])
