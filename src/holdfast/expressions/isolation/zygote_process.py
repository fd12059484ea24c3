"""The zygote as seen by its parent: starts it, and asks it for children."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import holdfast
from holdfast.expressions.isolation.connection import Connection

_PROGRAM = "import sys; from holdfast.expressions.isolation.zygote import main; main(int(sys.argv[1]))"
_KEPT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TZ", "VIRTUAL_ENV")
"""Environment variables that children get: no setting and no credential is among them."""
_END_SECONDS = 2.0


class ZygoteProcess:
    def __init__(self) -> None:
        self._control, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a constant program
                [sys.executable, "-c", _PROGRAM, str(other.fileno())],
                pass_fds=[other.fileno()],
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )

    def start(self, number: int) -> Connection:
        """A new child. Raises `OSError` if the zygote has ended."""
        from holdfast.expressions.isolation.zygote import MESSAGE, START

        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [MESSAGE.pack(START, number)], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        return Connection(number, ours)

    def end(self, number: int) -> None:
        """Kill a child, or reap it."""
        from holdfast.expressions.isolation.zygote import END, MESSAGE

        with suppress(OSError):
            self._control.sendall(MESSAGE.pack(END, number))

    def close(self) -> None:
        """End the zygote and all its children."""
        self._control.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_SECONDS)

    def forget(self) -> None:
        """In a fork of the parent: the zygote belongs to the other process."""
        self._control.close()
        self._process.returncode = 0


def _environment() -> dict[str, str]:
    paths = [str(Path(holdfast.__file__).parents[1]), *filter(None, sys.path)]
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
