"""The measured server: started with `holdfast serve` in its own process, on an empty SQLite database."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.load.http_client import HttpClient

PASSWORD = "measured-and-thrown-away"
TINY: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "tiny",
    "inputs": [{"name": "n", "type": "integer", "default": 1}],
    "outputs": [{"name": "twice", "type": "integer"}],
    "root": {"type": "SetOutput", "id": "set", "inputs": {"name": "twice", "value": {"$python": "n * 2"}}},
}
ASLEEP: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "asleep",
    "root": {"type": "Event", "id": "wait", "inputs": {"event_name": "never"}},
}


class Server:
    def __init__(self, pid: int, port: int, start_s: float) -> None:
        self.pid = pid
        self.port = port
        self.start_s = start_s
        self.token = ""

    def rss_mb(self) -> float:
        """Resident memory, libraries included."""
        fields = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1_000_000

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def client(self) -> HttpClient:
        return await HttpClient.open(self.port, self.token)


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[Server]:
    """A started server, signed in, with both definitions published."""
    with TemporaryDirectory() as folder:
        began = perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "holdfast.cli",
            "serve",
            "--port",
            "0",
            "--store",
            f"sqlite:///{folder}/load.db",
            *arguments,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "HOLDFAST_ADMIN_PASSWORD": PASSWORD, "HOLDFAST_ACCESS_TOKEN_TIME": "1d"},
        )
        try:
            assert process.stdout is not None
            line = (await process.stdout.readline()).decode()
            found = re.search(r":(\d+)", line.partition("//")[2])
            assert found is not None, f"the server printed: {line!r}"
            server = Server(process.pid, int(found[1]), perf_counter() - began)
            await _prepare(server)
            yield server
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _prepare(server: Server) -> None:
    client = await server.client()
    login = await client.request(
        "POST", "/api/auth/login", json.dumps({"user": "admin", "password": PASSWORD}).encode()
    )
    assert login.status == 200, login
    server.token = login.data["access_token"]
    await client.close()
    client = await server.client()
    for document in (TINY, ASLEEP):
        made = await client.request("POST", "/api/definitions", json.dumps(document).encode())
        assert made.status == 201, made
        published = await client.request("POST", f"/api/definitions/{document['id']}/publish")
        assert published.status == 200, published
    await client.close()
