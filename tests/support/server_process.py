"""A real `holdfast serve` in a process of its own, for tests that kill and restart it at the same address."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

from tests.support.environment import child_environment

READY = "Holdfast at "
PATIENCE = 120.0
"""Seconds until a server must have said that it is ready."""
PASSWORD = "for-chaos-only"


class ServerProcess:
    def __init__(self, store: str, workflows: Sequence[str], environment: Mapping[str, str]) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.lives = 0
        self._command = [
            *(sys.executable, "-m", "holdfast.cli", "serve", *workflows),
            *("--store", store, "--port", str(port), "--no-studio"),
        ]
        self._environment = child_environment(HOLDFAST_ADMIN_PASSWORD=PASSWORD, PYTHONUNBUFFERED="1", **environment)
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Until it says its address."""
        self.lives += 1
        process = await asyncio.create_subprocess_exec(
            *self._command, env=self._environment, stdout=asyncio.subprocess.PIPE
        )
        self._process = process
        assert process.stdout is not None
        said: list[str] = []
        async with asyncio.timeout(PATIENCE):
            async for line in process.stdout:
                said.append(line.decode(errors="replace"))
                if READY in said[-1]:
                    self._reading = asyncio.create_task(_read_on(process.stdout))
                    return
        raise AssertionError(f"the server ended before it was ready: {said}")

    async def kill(self) -> None:
        """As the kernel does when memory runs out: no goodbye."""
        await self.stop(signal.SIGKILL)

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        process = self._process
        if process is None:
            return 0
        if process.returncode is None:
            process.send_signal(number)
        code = await process.wait()
        if self._reading is not None:
            await self._reading
            self._reading = None
        self._process = None
        return code


async def _read_on(stream: asyncio.StreamReader) -> None:
    """Drain the output, so that the server never blocks on a full pipe."""
    while await stream.read(65536):
        pass
