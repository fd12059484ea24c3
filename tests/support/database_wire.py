"""TCP proxy in front of a database: `down` cuts the connections and refuses new ones, `vanish` makes it a black hole."""

from __future__ import annotations

import asyncio

from holdfast.testing.transport_contract.proxy import Wire

PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}


class DatabaseWire(Wire):
    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port)
        self._gone = False

    @classmethod
    async def before(cls, url: str) -> DatabaseWire:
        """A proxy in front of the database of this URL."""
        wire = await cls.to(url, PORTS[url.partition(":")[0]])
        assert isinstance(wire, DatabaseWire)
        return wire

    def vanish(self) -> None:
        """Connections stay open and new ones are accepted, but nothing is forwarded."""
        self._gone = True
        self.hush()

    async def restore(self) -> None:
        """Forward again. Connections that were silent are cut: their data is lost."""
        if self._gone:
            self._gone = False
            self.cut()
        elif self._server is None:
            await self.up()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await super()._accept(reader, writer)
        if self._gone:
            self.hush()
