"""Benchmark scenarios for a store and a transport: latencies, timers, and two workers against one.

`holdfast bench` and the benchmarks of this repository use them. Each scenario is a coroutine that returns figures by
name. It works in a tenant of its own and leaves its instances there.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Self
from uuid import uuid4

from msgspec import Struct

from holdfast import telemetry
from holdfast.activities.control.sequence import Sequence as InOrder
from holdfast.activities.events import Event
from holdfast.activities.scheduling import StartAt
from holdfast.authoring.activity import Activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.fields import expr
from holdfast.authoring.function import activity
from holdfast.authoring.primitives import wait_for
from holdfast.authoring.workflow import Workflow
from holdfast.engine import Holdfast
from holdfast.engine.garbage_collector import tune_garbage_collector
from holdfast.errors import HoldfastError
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEvent
from holdfast.model.requests import DispatchDefinition
from holdfast.ports import Context
from holdfast.testing.worker_process import WorkerProcess

QUEUE = "bench"
WARM_UP = 20
WAITS_PER_S = 500
SCENARIO_TIMEOUT_S = 120.0
"""Seconds to wait for the last instance of a scenario."""


@activity(name="BenchStep")
async def step(number: int) -> int:
    """A step without work, delivered by a queue."""
    return number


class BenchBurn(Activity, pure=True):
    """Uses one millisecond of CPU time inside a burst."""

    def execute(self, context: Context) -> None:
        end = time.thread_time_ns() + 1_000_000
        while time.thread_time_ns() < end:
            pass


@workflow(id="bench_wait")
async def waiting(at: datetime) -> str:
    """Wait for an event whose timeout is due when the event arrives."""
    answer: str = await wait_for("bench", timeout=at, default="late")
    return answer


stepping = Workflow(step.bind(number=1, queue=QUEUE), id="bench_step")
resuming = Workflow(InOrder(Event("bench"), step.bind(number=1, queue=QUEUE)), id="bench_resume")
alarm = Workflow(StartAt(expr("at")), inputs={"at": datetime}, id="bench_alarm")
burning = Workflow(BenchBurn(), id="bench_burn")


class Place(Struct, frozen=True, kw_only=True):
    """Store, transport and tenant to measure."""

    store: str
    transport: str = "database"
    tenant: str = ""


def place(store: str, transport: str = "database") -> Place:
    return Place(store=store, transport=transport, tenant=f"bench-{uuid4().hex[:8]}")


@asynccontextmanager
async def opened(where: Place, *, worker: bool = True) -> AsyncIterator[ManagedRuntime]:
    engine = Holdfast(
        store=where.store,
        transport=where.transport,
        tenant=where.tenant,
        node=f"{where.tenant}-node",
        activities=[step, BenchBurn],
        workflows=[stepping, resuming, alarm, burning, waiting],
        queues=f"default,{QUEUE}",
        worker=worker,
    )
    async with engine as app:
        tune_garbage_collector()  # same as `holdfast serve` and `holdfast worker`
        yield app.runtime


class Ends:
    """Records when instances finish on this node."""

    def __init__(self) -> None:
        self.ended: dict[str, float] = {}
        self._waiting: dict[str, asyncio.Event] = {}
        self._all: tuple[int, asyncio.Event] | None = None
        self._stop: Callable[[], None]

    def __enter__(self) -> Self:
        self._stop = telemetry.subscribe(self._on_finished, "instance.finished")
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()

    def _on_finished(self, name: str, fields: object) -> None:
        identity: str = fields["instance_id"]  # type: ignore[index]  # a mapping of the event's fields
        self.ended[identity] = time.perf_counter()
        if identity in self._waiting:
            self._waiting.pop(identity).set()
        if self._all is not None and len(self.ended) >= self._all[0]:
            self._all[1].set()

    async def of(self, identity: str) -> float:
        if identity not in self.ended:
            event = self._waiting.setdefault(identity, asyncio.Event())
            async with asyncio.timeout(SCENARIO_TIMEOUT_S):
                await event.wait()
        return self.ended[identity]

    async def count(self, number: int) -> None:
        self._all = (number, asyncio.Event())
        if len(self.ended) < number:
            async with asyncio.timeout(SCENARIO_TIMEOUT_S):
                await self._all[1].wait()


# -- scenarios ---------------------------------------------------------------------------------------------------------


async def dispatching(where: Place, count: int = 200) -> dict[str, float]:
    """Latency of one request at a time: a dispatched start, and an event, each until the following step has ended."""
    async with opened(where) as runtime:
        with Ends() as ends:
            starts = [await _start(runtime, ends, f"s{number}") for number in range(count + WARM_UP)]
            resumes = [await _resume(runtime, ends, f"r{number}") for number in range(count + WARM_UP)]
    starts, resumes = starts[WARM_UP:], sorted(resumes[WARM_UP:])
    return {
        "start_p50_ms": _ms(median(starts)),
        "resume_p50_ms": _ms(median(resumes)),
        "resume_p99_ms": _ms(resumes[int(len(resumes) * 0.99)]),
    }


async def _start(runtime: ManagedRuntime, ends: Ends, name: str) -> float:
    begun = time.perf_counter()
    await runtime.dispatcher.dispatch(DispatchDefinition(definition_id="bench_step", instance_id=name))
    return await ends.of(name) - begun


async def _resume(runtime: ManagedRuntime, ends: Ends, name: str) -> float:
    await runtime.start(resuming, instance_id=name)
    begun = time.perf_counter()
    await runtime.stimuli.event("bench", instance_id=name)
    return await ends.of(name) - begun


async def timers(where: Place, count: int = 5_000) -> dict[str, float]:
    """Time from a common due moment until the last of many timers has ended, and the number of duplicate resumptions."""
    async with opened(where, worker=False) as runtime:
        at = await runtime.store.now() + timedelta(seconds=3 + count / 500)
        names = [f"a{number}" for number in range(count)]
        for first in range(0, count, 500):
            await asyncio.gather(
                *(runtime.start(alarm, {"at": at}, instance_id=name) for name in names[first : first + 500])
            )
        with Ends() as ends:
            runtime.take_work()
            left = (at - await runtime.store.now()).total_seconds()
            if left < 0:
                raise RuntimeError(f"{count} instances could not be started before their alarm; try fewer")
            await asyncio.sleep(left)
            begun = time.perf_counter()
            await ends.count(count)
            taken = time.perf_counter() - begun
        duplicates = 0
        for name in names:
            events = [entry.event for entry in await runtime.journal(name)]
            duplicates += events.count(JournalEvent.RESUMED) - 1
    return {"ms": _ms(taken), "duplicates": float(duplicates)}


async def waits(where: Place, count: int = 5_000) -> dict[str, float]:
    """Delay of waits whose event and timeout arrive together, at a fixed rate, until each wait has ended once."""
    async with opened(where, worker=False) as runtime:
        first = await runtime.store.now() + timedelta(seconds=3 + count / 300)
        due = {f"w{number}": first + timedelta(seconds=number / WAITS_PER_S) for number in range(count)}
        names = list(due)
        for begin in range(0, count, 500):
            await asyncio.gather(
                *(runtime.start(waiting, {"at": due[name]}, instance_id=name) for name in names[begin : begin + 500])
            )
        with Ends() as ends:
            runtime.take_work()
            left = (first - await runtime.store.now()).total_seconds()
            if left < 0:
                raise RuntimeError(f"{count} instances could not be started before their moment; try fewer")
            begun = time.perf_counter() + left
            await asyncio.gather(*(_meet(runtime, name, begun + (due[name] - first).total_seconds()) for name in names))
            await ends.count(count)
        late = sorted(ends.ended[name] - begun - (due[name] - first).total_seconds() for name in names)
    return {"p50_ms": _ms(median(late)), "p99_ms": _ms(late[int(count * 0.99)]), "max_ms": _ms(late[-1])}


async def _meet(runtime: ManagedRuntime, name: str, at: float) -> None:
    """Send the event when the timeout is due. The timeout may win."""
    await asyncio.sleep(at - time.perf_counter())
    with suppress(HoldfastError):
        await runtime.stimuli.event("bench", "in time", instance_id=name)


async def speedup(where: Place, count: int = 2_000) -> dict[str, float]:
    """Throughput of starts with one millisecond of CPU time each: two worker processes against one."""
    rates = [await _rate(place(where.store, where.transport), count, workers) for workers in (1, 2)]
    return {"one_per_s": rates[0], "two_per_s": rates[1], "speedup_1ms": rates[1] / rates[0]}


async def _rate(where: Place, count: int, workers: int) -> float:
    async with opened(where, worker=False) as runtime:
        runtime.intake.paused = True
        for first in range(0, count, 200):
            await asyncio.gather(
                *(
                    runtime.dispatcher.dispatch(
                        DispatchDefinition(definition_id="bench_burn", instance_id=f"b{number}")
                    )
                    for number in range(first, min(first + 200, count))
                )
            )
        found = [_worker(where, number) for number in range(workers)]
        try:
            await asyncio.gather(*(worker.start() for worker in found))
            before = await _finished(runtime)
            begun = time.perf_counter()
            async with asyncio.timeout(SCENARIO_TIMEOUT_S):
                while True:
                    done = await _finished(runtime)
                    if done >= count:
                        break
                    await asyncio.sleep(0.02)
            return (count - before) / (time.perf_counter() - begun)
        finally:
            for worker in found:
                await worker.close()


def _worker(where: Place, number: int) -> WorkerProcess:
    return WorkerProcess(
        f"{where.tenant}-{number}",
        store=where.store,
        modules=["holdfast.testing.bench"],
        folder=Path(os.curdir),
        arguments=("--tenants", where.tenant, "--transport", where.transport, "--no-publish"),
    )


async def _finished(runtime: ManagedRuntime) -> int:
    stats = await runtime.store.stats(runtime.tenant)
    return stats.instances.get("finished", 0)


def _ms(seconds: float) -> float:
    return seconds * 1_000


Scenario = Callable[[Place], Awaitable[dict[str, float]]]

SCENARIOS: Sequence[tuple[str, Scenario, str]] = (
    ("dispatch", dispatching, "latency of a start and of an event until the next step has ended"),
    ("timers", timers, "5,000 timers that are due at the same moment"),
    ("waits", waits, "5,000 waits whose event and timeout arrive together"),
    ("cluster", speedup, "two workers against one, 1 ms of CPU time per burst"),
)
