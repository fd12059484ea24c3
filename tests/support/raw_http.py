"""HTTP over a raw socket: requests byte by byte, for clients that misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

PATIENCE = 30.0
"""Seconds after which a silent server fails the test."""


class RawAnswer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> Any:
        """Code of a problem."""
        return json.loads(self.body).get("code")


class RawClient:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def connected(cls, url: str) -> AsyncIterator[Self]:
        place = urlsplit(url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        try:
            yield cls(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def send(self, data: bytes) -> None:
        """A server that has closed the connection is no error: its answer may still be read."""
        with suppress(OSError):
            self._writer.write(data)
            await self._writer.drain()

    async def answer(self) -> RawAnswer:
        async with asyncio.timeout(PATIENCE):
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
            }
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return RawAnswer(int(first.split(" ")[1]), headers, body)

    async def closed(self) -> bytes:
        """What arrives until the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""


async def exchanged(url: str, data: bytes) -> RawAnswer:
    """The answer to these bytes on a new connection."""
    async with RawClient.connected(url) as client:
        await client.send(data)
        return await client.answer()
