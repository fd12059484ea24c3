"""A real `holdfast worker` in a separate process, for tests that stop, kill and restart it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

READY = "is ready"
READY_TIMEOUT_S = 60.0
"""Seconds until a worker must report that it is ready."""


class WorkerProcess:
    def __init__(
        self,
        name: str,
        *,
        store: str,
        modules: Sequence[str] = (),
        folder: Path | None = None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.lives = 0
        self.said: list[str] = []
        """Lines of stderr from all starts."""
        self._command = [
            *(sys.executable, "-m", "holdfast.cli", "worker", *modules, "--store", store, "--name", name),
            *arguments,
        ]
        self._folder = folder
        self._environment = {**os.environ, **(environment or {})}
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def start(self, *, wait: bool = True) -> None:
        self.lives += 1
        self._ready = asyncio.Event()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, cwd=self._folder, env=self._environment, stderr=asyncio.subprocess.PIPE
        )
        self._reading = asyncio.create_task(self._read(self._process, self._ready))
        if wait:
            await self.ready()

    async def ready(self) -> None:
        async with asyncio.timeout(READY_TIMEOUT_S):
            await self._ready.wait()
        if not any(READY in line for line in self.said):
            raise RuntimeError("worker ended before it was ready:\n" + "\n".join(self.said))

    async def _read(self, process: asyncio.subprocess.Process, ready: asyncio.Event) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            text = line.decode(errors="replace").rstrip()
            self.said.append(text)
            if READY in text:
                ready.set()
        ready.set()

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def is_ready(self) -> bool:
        """Whether it has reported that it is ready and is still alive."""
        return self.is_alive and self._ready.is_set()

    def kill(self) -> None:
        """Kill it as the kernel does when memory runs out: no shutdown."""
        if self.is_alive:
            assert self._process is not None
            self._process.send_signal(signal.SIGKILL)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Wait for the exit code."""
        assert self._process is not None
        code = await self._process.wait()
        if self._reading is not None:
            await self._reading
        return code

    async def close(self) -> None:
        self.kill()
        if self._process is not None:
            await self.ended()
