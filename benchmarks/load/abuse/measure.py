"""Figures of the abuse: requests, unexpected answers, the worst stall of another client, and the growth of memory."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from time import perf_counter
from typing import Any

from benchmarks.load.abuse.attack import SLOW
from benchmarks.load.http_client import HttpClient
from benchmarks.load.server import Server, running
from benchmarks.results import warn

SEED = 20_261_118
PAUSE = 0.002
OPEN: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "open",
    "root": {
        "type": "HttpEndpoint",
        "id": "open",
        "inputs": {"path": "open", "supported_methods": ["POST"]},
        "options": {"can_start": True},
    },
}


async def abuse(requests: int) -> dict[str, float]:
    """The server trusts no proxy here, so that connections of every address are limited."""
    async with running("--trust-proxy", "192.0.2.1", "--no-studio") as server:
        await _publish(server)
        first = max(requests // 10, 1)
        unexpected = Counter(await _attack(server, SEED, first))
        before = server.rss_mb()
        stop = asyncio.Event()
        watching = asyncio.create_task(_worst_stall(server, stop))
        unexpected.update(await _attack(server, SEED + 1, requests - first))
        stop.set()
        worst = await watching
        for what, count in unexpected.items():
            warn(f"unexpected: {what} ({count} times)")
        return {
            "abuse.requests": requests + 2 * SLOW,
            "abuse.unexpected": sum(unexpected.values()),
            "abuse.worst_stall_ms": worst * 1_000,
            "abuse.rss_growth_mb": server.rss_mb() - before,
        }


async def _publish(server: Server) -> None:
    client = await server.client()
    made = await client.request("POST", "/api/definitions", json.dumps(OPEN).encode())
    published = await client.request("POST", "/api/definitions/open/publish")
    assert (made.status, published.status) == (201, 200), (made, published)
    await client.close()


async def _attack(server: Server, seed: int, count: int) -> dict[str, int]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "benchmarks.load.abuse.attack",
        *(str(server.port), str(seed), str(count)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate(f"{server.token}\n".encode())
    assert process.returncode == 0, "the attacking process failed"
    found: dict[str, int] = json.loads(output)
    return found


async def _worst_stall(server: Server, stop: asyncio.Event) -> float:
    """The longest time in seconds that a request of another client took."""
    client: HttpClient = await server.client()
    worst = 0.0
    while not stop.is_set():
        began = perf_counter()
        reply = await client.request("GET", "/health")
        worst = max(worst, perf_counter() - began)
        assert reply.status == 200, reply
        await asyncio.sleep(PAUSE)
    await client.close()
    return worst
