"""The zygote: a process with one thread that has imported the languages, and forks a child for each request of its parent.

A fork takes milliseconds where a new interpreter takes a fifth of a second. Messages of the parent have nine bytes: a
command and the number of a child. `START` carries the socket of the new child. Only the zygote signals children: it has
not yet reaped them, so that a number never names a foreign process.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import socket
import struct
import sys
from contextlib import suppress

from holdfast.expressions.isolation import responder, worker
from holdfast.expressions.javascript.engine import QuickJs

MESSAGE = struct.Struct("<cQ")
START, END = b"s", b"e"


def main(control_fd: int) -> None:
    """Serve the parent until it closes the control socket."""
    control = socket.socket(fileno=control_fd)
    _import_languages()
    gc.collect()
    gc.freeze()  # Pages of imported modules stay shared with the children.
    children: dict[int, int] = {}
    try:
        _serve(control, children)
    finally:
        for pid in children.values():
            _end(pid)


def _import_languages() -> None:
    with suppress(ModuleNotFoundError):
        importlib.import_module("holdfast.expressions.liquid.render")
    responder.Responder(QuickJs()).prepare()


def _serve(control: socket.socket, children: dict[int, int]) -> None:
    while True:
        raw, fds, _, _ = socket.recv_fds(control, MESSAGE.size, 1)
        while raw and len(raw) < MESSAGE.size:
            more = control.recv(MESSAGE.size - len(raw))
            raw = raw + more if more else b""
        if not raw:
            return
        command, number = MESSAGE.unpack(raw)
        if command == END:
            pid = children.pop(number, None)
            if pid is not None:
                _end(pid)
        elif fds:
            children[number] = _fork(control, fds[0])


def _fork(control: socket.socket, fd: int) -> int:
    pid = os.fork()
    if pid:
        os.close(fd)
        return pid
    code = 1
    try:
        control.close()
        worker.limit_process()
        worker.serve(socket.socket(fileno=fd), responder.Responder(QuickJs()))
        code = 0
    except OSError:
        pass  # The parent is gone.
    finally:
        os._exit(code)


def _end(pid: int) -> None:
    """Kill and reap a child. It is our child and not reaped yet, so the id is its own."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
