"""Many subscribers of one instance: time from the response until the last subscriber is notified."""

from __future__ import annotations

import asyncio
import json
from time import perf_counter

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.load.server import Server


async def followers(server: Server, subscribers: int) -> dict[str, float]:
    client = await server.client()
    started = await client.request("POST", "/api/definitions/asleep/execute", b"{}")
    name = started.data["instance_id"]
    sockets: list[ClientConnection] = []
    try:
        for _ in range(0, subscribers, 50):  # like browsers, not all at the same instant
            few = min(50, subscribers - len(sockets))
            sockets += await asyncio.gather(*(_following(server, name) for _ in range(few)))
        hearing = [asyncio.create_task(_ended(socket)) for socket in sockets]
        began = perf_counter()
        done = await client.request("POST", f"/api/instances/{name}/resume", b'{"payload":1}')
        assert done.status == 200, done
        heard = await asyncio.gather(*hearing)
    finally:
        await asyncio.gather(*(socket.close() for socket in sockets))
    await client.close()
    return {"live.subscribers": len(heard), "live.last_lag_ms": (max(heard) - began) * 1000}


async def _following(server: Server, name: str) -> ClientConnection:
    socket = await connect(
        f"ws://127.0.0.1:{server.port}/api/live?token={server.token}", max_queue=None, compression=None
    )
    await socket.send(json.dumps({"op": "subscribe", "id": "s", "topic": "instance", "key": name}))
    while json.loads(await socket.recv()).get("kind") != "state":
        pass
    return socket


async def _ended(socket: ClientConnection) -> float:
    """Time at which this subscriber is notified of the end of the instance."""
    async with asyncio.timeout(120):
        while True:
            text = await socket.recv(decode=False)
            if b'"kind":"change"' in text and b'"status":"finished"' in text:
                return perf_counter()
