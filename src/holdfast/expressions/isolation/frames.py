"""Frames of a stream: a length of four bytes, then as many bytes."""

from __future__ import annotations

import struct
from socket import socket

_LENGTH = struct.Struct("<I")
HEADER = _LENGTH.size
FRAME_MAX = 64 * 1024 * 1024
"""Maximum bytes of a request."""


def frame(payload: bytes) -> bytes:
    return _LENGTH.pack(len(payload)) + payload


def length_of(header: bytes | bytearray) -> int:
    """Length of the payload, from the first bytes of a frame."""
    found: int = _LENGTH.unpack_from(header)[0]
    return found


def receive(stream: socket) -> bytes | None:
    """The next payload of a blocking stream; None at its end."""
    header = _exactly(stream, HEADER)
    return None if header is None else _exactly(stream, length_of(header))


def _exactly(stream: socket, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = stream.recv(min(count - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
