"""HTTP servers that misbehave: they stay silent, send slowly or without end, redirect in a loop, or speak another protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

Talk = Callable[[asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


class Place(NamedTuple):
    url: str
    asked: list[bytes]
    """The first line of each request."""


@asynccontextmanager
async def speaking(talk: Talk) -> AsyncIterator[Place]:
    """Hears requests, then talks as it likes until the other side is gone."""
    talks: list[asyncio.Task[None]] = []
    asked: list[bytes] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            asked.append((await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0])
            await talk(writer)
        with suppress(OSError, asyncio.CancelledError):
            writer.close()
            await writer.wait_closed()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.append(asyncio.get_running_loop().create_task(hear(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield Place(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked)
    finally:
        server.close()
        for task in talks:
            task.cancel()
        await asyncio.gather(*talks, return_exceptions=True)


async def write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def slow_head(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        await write(writer, b"x")
        await asyncio.sleep(0.01)


async def endless_body(writer: asyncio.StreamWriter) -> None:
    await write(writer, OK + b"\r\n")
    while True:
        await write(writer, b"x" * 65_536)


async def redirect_loop(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


async def no_http(writer: asyncio.StreamWriter) -> None:
    await write(writer, b"\x16\x03\x01 this is something else\r\n\r\n")
