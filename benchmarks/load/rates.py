"""Starts and resumes: rate, latency, and the overhead of HTTP over the same work in process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.load.http_client import HttpClient
from benchmarks.load.server import TINY, Server
from holdfast.engine import Holdfast
from holdfast.model.requests import DispatchDefinition

AT_ONCE = 16
"""Connections."""
EXECUTE = "/api/definitions/tiny/execute"

Call = Callable[[HttpClient], Awaitable[None]]


async def pushed(server: Server, requests: int, call: Call) -> tuple[float, list[float]]:
    """Seconds for all requests, and milliseconds of each."""
    taken: list[float] = []
    numbers = iter(range(requests))
    clients = [await server.client() for _ in range(AT_ONCE)]

    async def work(client: HttpClient) -> None:
        for _ in numbers:
            began = perf_counter()
            await call(client)
            taken.append((perf_counter() - began) * 1000)

    began = perf_counter()
    await asyncio.gather(*map(work, clients))
    whole = perf_counter() - began
    for client in clients:
        await client.close()
    return whole, sorted(taken)


def share(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


async def starts(server: Server, requests: int, rounds: int) -> dict[str, float]:
    """The best of several rounds, because the machine is shared."""

    async def start(client: HttpClient) -> None:
        reply = await client.request("POST", EXECUTE, b'{"input":{"n":4}}')
        assert reply.status == 200, reply

    await pushed(server, max(requests // 10, AT_ONCE), start)
    best: dict[str, float] = {}
    least_cpu = float("inf")
    for _ in range(rounds):
        cpu = server.cpu_s()
        whole, taken = await pushed(server, requests, start)
        least_cpu = min(least_cpu, (server.cpu_s() - cpu) / requests)
        if requests / whole > best.get("rest.start_per_s", 0):
            best = {
                "rest.start_per_s": requests / whole,
                "rest.start_p50_ms": share(taken, 0.5),
                "rest.start_p99_ms": share(taken, 0.99),
            }
    alone = await in_process(requests, rounds)
    best["rest.cpu_us"] = least_cpu * 1_000_000
    best["rest.in_process_cpu_us"] = alone * 1_000_000
    best["rest.overhead_us"] = (least_cpu - alone) * 1_000_000
    return best


async def in_process(requests: int, rounds: int) -> float:
    """CPU seconds for one start by the same runtime, called directly."""
    least = float("inf")
    with TemporaryDirectory() as folder:
        async with Holdfast(store=f"sqlite:///{Path(folder) / 'alone.db'}") as engine:
            await engine.runtime.definitions.save_and_publish(TINY)
            for _ in range(rounds + 1):
                numbers: Iterator[int] = iter(range(requests))

                async def work(numbers: Iterator[int] = numbers) -> None:
                    for _ in numbers:
                        await engine.runtime.inline.dispatch(DispatchDefinition(definition_id="tiny", input={"n": 4}))

                began = process_time()
                await asyncio.gather(*(work() for _ in range(AT_ONCE)))
                least = min(least, (process_time() - began) / requests)
    return least


async def resumes(server: Server, requests: int) -> dict[str, float]:
    """Resume suspended instances one by one, by id."""
    client = await server.client()
    names: list[str] = []
    for _ in range(0, requests, 500):
        body = json.dumps({"requests": [{}] * min(500, requests - len(names))}).encode()
        reply = await client.request("POST", "/api/definitions/asleep/bulk-dispatch", body)
        names += [item["instance_ids"][0] for item in reply.data["results"]]
    pending = "/api/instances/counts?status=pending&status=running"
    while (await client.request("GET", pending)).data["total"]:  # noqa: ASYNC110 - the server cannot set our event
        await asyncio.sleep(0.2)
    await client.close()
    number = count()

    async def resume(client: HttpClient) -> None:
        reply = await client.request(
            "POST", f"/api/instances/{names[next(number)]}/resume", b'{"bookmark_id":"b1","payload":1}'
        )
        assert reply.status == 200, reply

    whole, _ = await pushed(server, len(names), resume)
    return {"rest.resume_per_s": len(names) / whole}
