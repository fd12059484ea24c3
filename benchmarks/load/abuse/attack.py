"""`python -m benchmarks.load.abuse.attack PORT SEED COUNT`: the attacking process. Reads the token from stdin, prints the result.

It is a process of its own, so that its work does not delay the client that measures. It uses addresses of its own (127.0.0.2 and
following), so that the limits per address do not reach that client.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from benchmarks.load.abuse.requests import Abuse, Hostile

PARALLEL = 8
ANSWER_TIMEOUT = 60.0
SLOW = 150
"""Connections that send half of a request and wait."""
SLOW_HEAD = b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"


async def answered(port: int, address: str, hostile: Hostile) -> str:
    """An empty text, or what was unexpected."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        with suppress(ConnectionError):  # The server may close before it has read everything.
            writer.write(hostile.data)
            if not hostile.expected:
                return ""
            await writer.drain()
        async with asyncio.timeout(ANSWER_TIMEOUT):
            line = await reader.readline()
    except TimeoutError:
        return "no answer"
    except ConnectionError as error:
        return type(error).__name__
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    status = int(line.split(b" ")[1]) if line.startswith(b"HTTP/1.1 ") else 0
    return "" if status in hostile.expected else str(status)


async def slow(port: int) -> str:
    """Sends half of a request and waits until the server ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.100", 0))
    with suppress(ConnectionError):
        writer.write(SLOW_HEAD)
        async with asyncio.timeout(ANSWER_TIMEOUT):
            line = await reader.readline()
    writer.close()
    return "" if line[9:12] in {b"408", b"503"} else f"slow: {line!r}"


async def attack(port: int, seed: int, count: int, token: str) -> Counter[str]:
    found: Counter[str] = Counter()
    source: Iterator[tuple[int, Hostile]] = enumerate(Abuse(seed, token).requests(count))

    async def worker() -> None:
        for number, hostile in source:
            said = await answered(port, f"127.0.0.{2 + number % 8}", hostile)
            if said:
                found[f"{hostile.kind}: {said}"] += 1

    waiting = [asyncio.create_task(slow(port)) for _ in range(SLOW)]
    await asyncio.gather(*(worker() for _ in range(PARALLEL)))
    for said in await asyncio.gather(*waiting):
        if said:
            found[said] += 1
    return found


if __name__ == "__main__":
    asked_port, asked_seed, asked_count = (int(text) for text in sys.argv[1:4])
    result = asyncio.run(attack(asked_port, asked_seed, asked_count, sys.stdin.readline().strip()))
    print(json.dumps(result))
