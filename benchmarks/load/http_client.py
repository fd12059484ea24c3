"""Small HTTP client for measurements: one connection, one request at a time, as little Python as possible per request."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple, Self


class Reply(NamedTuple):
    status: int
    body: bytes

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class HttpClient:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, token: str) -> None:
        self._reader = reader
        self._writer = writer
        self._head = f" HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"

    @classmethod
    async def open(cls, port: int, token: str = "") -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        return cls(reader, writer, f"127.0.0.1:{port}", token)

    async def request(self, method: str, path: str, body: bytes = b"") -> Reply:
        head = f"{method} {path}{self._head}"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(head.encode() + b"\r\n" + body)
        raw = await self._reader.readuntil(b"\r\n\r\n")
        status = int(raw[9:12])
        at = raw.lower().find(b"content-length:")
        length = int(raw[at + 15 : raw.index(b"\r", at)]) if at >= 0 else 0
        return Reply(status, await self._reader.readexactly(length) if length else b"")

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()
