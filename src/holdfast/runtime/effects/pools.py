"""Threads and processes for effects that are not async."""

from __future__ import annotations

from holdfast.runtime.effects.processes import Processes
from holdfast.runtime.effects.threads import Threads


class EffectPools:
    def __init__(self, threads_max: int, processes_max: int) -> None:
        self._threads = Threads(threads_max)
        self._processes = Processes(processes_max)
        self.in_thread = self._threads.run
        self.in_process = self._processes.run

    @property
    def lost(self) -> int:
        """Threads that still run a call which its caller has given up."""
        return self._threads.lost

    def close(self) -> None:
        """Release idle workers. Lost threads end with their call; `close` does not wait for them."""
        self._threads.close()
        self._processes.close()
