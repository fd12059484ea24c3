"""Wake-ups between the processes that use one SQLite file: a Unix datagram socket per process.

The sockets lie in a private folder of the user below the temporary folder, and their names contain the identity of the file. A
process that has committed sends one byte to each other socket of the file. A wake-up is a hint (rule M9): processes of another
user, another container or another machine get none, and poll (`foreign_writes.py`).
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import monotonic

_LOOK_INTERVAL = 0.25
"""Seconds for which the list of sockets is used. A new process also wakes the others, which look again then."""
_numbers = count()


class WakeSockets:
    def __init__(self, file: Path, folder: Path | None = None) -> None:
        """`folder` replaces the folder of the user."""
        self._folder = _user_folder() if folder is None else folder
        self._prefix = _identity(file)
        self._path = self._folder / f"{self._prefix}-{os.getpid()}-{next(_numbers)}"
        self._receiver: socket.socket | None = None
        self._sender: socket.socket | None = None
        self._others: list[str] = []
        self._looked = float("-inf")

    def open(self) -> socket.socket | None:
        """The socket that receives wake-ups; None where the system has no Unix sockets or the folder cannot be used."""
        opened = _datagram_socket()
        if opened is None:
            return None
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if self._folder.stat().st_uid != os.getuid():
                raise PermissionError("The folder belongs to another user.")
            opened.bind(str(self._path))
        except OSError:
            opened.close()
            return None
        self._receiver = opened
        self.wake()
        return opened

    def close(self) -> None:
        self.close_receiver()
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.close()

    def close_receiver(self) -> None:
        """Receive no more wake-ups; `wake` still works."""
        opened, self._receiver = self._receiver, None
        if opened is not None:
            with suppress(OSError):
                self._path.unlink()
            opened.close()

    def wake(self) -> None:
        """Wake the other processes. Never blocks: a full socket wakes its process anyway."""
        others = self._other_sockets()
        if others and self._sender is None:
            self._sender = _datagram_socket()
        sender = self._sender
        if sender is None:
            return
        for name in others:
            try:
                sender.sendto(b"!", name)
            except BlockingIOError:
                continue
            except (ConnectionRefusedError, FileNotFoundError):  # Its process is gone.
                with suppress(OSError):
                    Path(name).unlink()
                self._looked = float("-inf")
            except OSError:
                continue

    def received(self) -> None:
        """Empty the socket. The sender may be a new process."""
        self._looked = float("-inf")
        receiver = self._receiver
        with suppress(OSError):
            while receiver is not None and receiver.recv(64):
                pass

    def _other_sockets(self) -> list[str]:
        if monotonic() - self._looked > _LOOK_INTERVAL:
            self._looked = monotonic()
            with suppress(OSError):
                self._others = [
                    entry.path
                    for entry in os.scandir(self._folder)
                    if entry.name.startswith(self._prefix) and entry.path != str(self._path)
                ]
        return self._others


def _datagram_socket() -> socket.socket | None:
    family = getattr(socket, "AF_UNIX", None)
    if family is None:
        return None
    opened = socket.socket(family, socket.SOCK_DGRAM)
    opened.setblocking(False)
    return opened


def _user_folder() -> Path:
    user: Callable[[], int] = getattr(os, "getuid", lambda: 0)
    return Path(tempfile.gettempdir()) / f"holdfast-{user()}"


def _identity(file: Path) -> str:
    """Equal for all paths of one file."""
    found = file.stat()
    return hashlib.sha256(f"{found.st_dev}:{found.st_ino}".encode()).hexdigest()[:16]
