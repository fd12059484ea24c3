"""`holdfast serve --workers N`: several processes on the same sockets, each a node of its own.

The first process starts alone: it migrates and publishes, so errors are reported once. The others start when it listens.
A process that dies while it serves is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from socket import socket
from typing import Any

import click
import uvicorn  # noqa: F401 - a missing package is reported once, not by each process

from holdfast.cli.failures import friendly_errors
from holdfast.cli.loop import run_loop

SERVED_SECONDS = 10.0
"""A process that ends sooner has failed at its start."""
RESTARTS_MAX = 100
"""Replacements of processes in the life of the server."""


def serve_many(options: dict[str, Any], sockets: list[socket], workers: int) -> int:
    """Runs until all processes have ended; returns the exit code of the first that failed."""
    context = multiprocessing.get_context("spawn")
    processes: list[SpawnProcess] = []
    stopping: list[int] = []

    def forward(number: int, frame: Any) -> None:
        """Each process drains by itself; a process that has ended has no pid to signal."""
        stopping.append(number)
        for process in processes:
            if process.is_alive() and process.pid is not None:
                os.kill(process.pid, number)

    for heard in (signal.SIGTERM, signal.SIGINT):
        signal.signal(heard, forward)
    ready, pipe = context.Pipe(duplex=False)
    for number in range(workers):
        process = context.Process(target=_serve, args=(options, sockets, pipe if number == 0 else None))
        processes.append(process)
        process.start()
        if number == 0:
            wait([ready, process.sentinel])
            if not ready.poll():
                break
        if stopping:
            forward(stopping[-1], None)
            break
    _supervise(processes, lambda: context.Process(target=_serve, args=(options, sockets, None)), stopping)
    for listening in sockets:
        listening.close()
    return next((code for process in processes if (code := _code(process, stopping)) != 0), 0)


def _supervise(processes: list[SpawnProcess], make: Callable[[], SpawnProcess], stopping: Sequence[int]) -> None:
    """Wait until all processes have ended. A process that dies after it has served for a while is replaced: the watchdog ends
    processes that hang. One that fails at its start is not, since the next one would fail too."""
    begun = dict.fromkeys(processes, time.monotonic())
    left = RESTARTS_MAX
    while alive := [process for process in processes if process.is_alive()]:
        wait([process.sentinel for process in alive])
        for process in [process for process in alive if not process.is_alive()]:
            lived = time.monotonic() - begun[process]
            if process.exitcode == 0 or stopping or lived < SERVED_SECONDS or left <= 0:
                continue
            left -= 1
            click.echo(f"server process {process.pid} ended with {process.exitcode}; another one replaces it", err=True)
            fresh = make()
            processes[processes.index(process)] = fresh
            begun[fresh] = time.monotonic()
            fresh.start()


def _code(process: SpawnProcess, stopping: Sequence[int]) -> int:
    """As in a shell: 128 plus the signal for a process killed by a signal. A process asked to stop during its start counts as
    stopped."""
    code = process.exitcode or 0
    if -code in stopping:
        return 0
    return code if code >= 0 else 128 - code


def _serve(options: dict[str, Any], sockets: list[socket], pipe: Connection | None) -> None:
    from holdfast.cli.server_process import serve_until_stopped

    on_ready: Callable[[], None] | None = None if pipe is None else (lambda: pipe.send(True))
    try:
        with friendly_errors():
            run_loop(serve_until_stopped(options, sockets, quiet=pipe is None, on_ready=on_ready))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
