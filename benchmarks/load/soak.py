"""A long run of mixed requests: memory must not grow with them."""

from __future__ import annotations

import gc
from itertools import count

from benchmarks.load.http_client import HttpClient
from benchmarks.load.rates import EXECUTE, pushed
from benchmarks.load.server import Server

PATHS = (
    "/api/definitions/tiny",
    "/api/instances?limit=5",
    "/api/instances/{}",
    "/api/instances/{}/journal",
    "/api/definitions?limit=5",
    "/health",
)


async def soak(server: Server, requests: int) -> dict[str, float]:
    """One start, then typical reads of it; compares the memory after a tenth of all requests with the memory at the end."""
    numbers = count()
    last = ""

    async def mixed(client: HttpClient) -> None:
        nonlocal last
        number = next(numbers)
        if number % 4 == 0 or not last:
            reply = await client.request("POST", EXECUTE, b'{"input":{"n":4}}')
            last = reply.data["instance_id"]
        else:
            reply = await client.request("GET", PATHS[number % len(PATHS)].format(last))
        assert reply.status == 200, reply

    first = requests // 10
    await pushed(server, first, mixed)
    before = server.rss_mb()
    whole, taken = await pushed(server, requests - first, mixed)
    del taken
    gc.collect()
    return {
        "soak.requests": requests,
        "soak.per_s": (requests - first) / whole,
        "soak.rss_growth_mb": server.rss_mb() - before,
        "soak.rss_mb": server.rss_mb(),
    }
