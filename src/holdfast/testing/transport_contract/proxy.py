"""TCP proxy between a client and a server whose connections a test can cut."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit


class Wire:
    """Forwards bytes until it is cut.

    `down` also refuses new connections, and `up` accepts them again on the same port. `hush` keeps connections open but
    forwards nothing.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._passing: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.cuts = 0
        """Number of connections that were cut."""
        self.swallowed = asyncio.Event()
        """Set when data arrives that a silent connection does not forward."""

    @classmethod
    async def to(cls, url: str, default_port: int) -> Wire:
        parts = urlsplit(url)
        wire = cls(parts.hostname or "127.0.0.1", parts.port or default_port)
        await wire.up()
        return wire

    def url(self, url: str) -> str:
        """The same URL, through this proxy."""
        parts = urlsplit(url)
        credentials, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{credentials}{at}127.0.0.1:{self.port}"))

    @property
    def connections(self) -> int:
        return len(self._open) // 2

    async def up(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, reuse_address=True)
        self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self.cut()

    def cut(self) -> None:
        """Abort all connections; data in transit is lost."""
        self.cuts += self.connections
        for writer in tuple(self._open):
            writer.transport.abort()

    def hush(self) -> None:
        """Simulate a vanished machine: connections stay open, but no data and no close arrive."""
        self._silent |= self._open

    async def close(self) -> None:
        await self.down()
        await asyncio.gather(*self._passing, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            self._open.add(sink)
            task = asyncio.create_task(self._pass_on(source, sink))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                while data := await source.read(65_536):
                    if sink in self._silent:
                        self.swallowed.set()
                        continue
                    sink.write(data)
                    await sink.drain()
        finally:
            self._open.discard(sink)
            self._silent.discard(sink)
            sink.close()
            with suppress(OSError):
                await sink.wait_closed()
