"""The parent's end of a child process: one request at a time over a socket that never blocks."""

from __future__ import annotations

import select
import socket
import time

from holdfast.expressions.isolation.frames import HEADER, frame, length_of

ANSWER_MAX = 16 * 1024 * 1024
"""Maximum bytes of an answer."""
_PART = 1 << 18


class ChildDied(Exception):
    """The process ended, or broke the protocol, before it answered."""


class Connection:
    def __init__(self, number: int, stream: socket.socket) -> None:
        self.number = number
        """Names the child in messages to the zygote."""
        stream.setblocking(False)
        self._stream = stream
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def has_more_to_send(self) -> bool:
        return bool(self._outgoing)

    def send(self, request: bytes) -> None:
        """Begin a request. `receive` sends the rest of it."""
        self._outgoing = memoryview(frame(request))
        self._incoming.clear()
        self._write()

    def receive(self) -> bytes | None:
        """The answer, if it is complete. Raises `ChildDied`."""
        self._write()
        while True:
            try:
                part = self._stream.recv(_PART)
            except BlockingIOError:
                return None
            except OSError as error:
                raise ChildDied from error
            if not part:
                raise ChildDied
            self._incoming += part
            if len(self._incoming) >= HEADER:
                length = length_of(self._incoming)
                if length > ANSWER_MAX:
                    raise ChildDied
                if len(self._incoming) >= HEADER + length:
                    return bytes(self._incoming[HEADER : HEADER + length])

    def wait(self, seconds: float) -> bytes | None:
        """Block until the answer is there, at most so long; None if it is not. Raises `ChildDied`."""
        until = time.monotonic() + seconds
        poll = select.poll()
        while True:
            answer = self.receive()
            left = until - time.monotonic()
            if answer is not None or left <= 0:
                return answer
            poll.register(self._stream, select.POLLIN | (select.POLLOUT if self._outgoing else 0))
            poll.poll(left * 1000)

    def close(self) -> None:
        self._stream.close()

    def _write(self) -> None:
        while self._outgoing:
            try:
                sent = self._stream.send(self._outgoing)
            except BlockingIOError:
                return
            except OSError as error:
                raise ChildDied from error
            self._outgoing = self._outgoing[sent:]
