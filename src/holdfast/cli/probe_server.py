"""Minimal HTTP server for Kubernetes and Prometheus: one request per connection, standard library only.

Clients may be broken or malicious: size and time of a request head and the number of connections are bounded, and everything
but a plain GET or HEAD is refused. The worker continues whatever a client sends.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from socket import socket
from typing import Self

from msgspec import Struct

logger = logging.getLogger("holdfast")

HEAD_BYTES_MAX = 8_192
HEAD_TIMEOUT = 5.0
"""Seconds within which the head of a request must arrive."""
ANSWER_TIMEOUT = 10.0
SEND_TIMEOUT = 5.0
CONNECTIONS_MAX = 64
TEXT = "text/plain; charset=utf-8"

_LINE = re.compile(rb"([A-Za-z]{1,20}) (/[!-~]*) HTTP/1\.([01])")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t -~\x80-\xff]*)")


class Reply(Struct, frozen=True):
    status: HTTPStatus
    body: bytes = b""
    kind: str = TEXT


class ProbeRequest(Struct, frozen=True):
    method: str
    path: str
    headers: Mapping[str, str]


Answers = Mapping[str, Callable[[ProbeRequest], Awaitable[Reply]]]
"""By path."""


class MalformedRequest(Exception):
    """Not an HTTP/1 request."""


def read_request(head: bytes) -> ProbeRequest:
    """Parses a request head, up to the empty line."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    asked = _LINE.fullmatch(first)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if asked is None or not all(fields):
        raise MalformedRequest
    headers = {found[1].decode().lower(): found[2].decode("latin-1").strip() for found in fields if found}
    if asked[3] == b"1" and "host" not in headers:
        raise MalformedRequest
    return ProbeRequest(asked[1].decode(), asked[2].decode().partition("?")[0], headers)


class Probe:
    """Answers on these sockets inside an `async with` block, and closes them."""

    def __init__(self, sockets: Sequence[socket], answers: Answers) -> None:
        self._sockets = tuple(sockets)
        self._answers = answers
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for bound in self._sockets:
            self._servers.append(await asyncio.start_server(self._connected, sock=bound, limit=HEAD_BYTES_MAX))
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= CONNECTIONS_MAX:
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(0)  # `drain` then waits until everything is sent.
        try:
            reply, method = await self._reply(reader)
            async with asyncio.timeout(SEND_TIMEOUT):
                writer.write(written(reply, method))
                await writer.drain()
            writer.close()
        except (
            ConnectionError,
            TimeoutError,
        ):  # The client disconnected or does not read: there is nowhere to report it.
            pass
        finally:
            if not writer.is_closing():
                writer.transport.abort()

    async def _reply(self, reader: asyncio.StreamReader) -> tuple[Reply, str]:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT):
                request = read_request(await reader.readuntil(b"\r\n\r\n"))
        except asyncio.LimitOverrunError:
            return Reply(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE), ""
        except TimeoutError:
            return Reply(HTTPStatus.REQUEST_TIMEOUT), ""
        except (MalformedRequest, asyncio.IncompleteReadError):
            return Reply(HTTPStatus.BAD_REQUEST), ""
        return await self._answer(request), request.method

    async def _answer(self, request: ProbeRequest) -> Reply:
        answer = self._answers.get(request.path)
        if answer is None:
            return Reply(HTTPStatus.NOT_FOUND)
        if request.method not in {"GET", "HEAD"}:
            return Reply(HTTPStatus.METHOD_NOT_ALLOWED)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await answer(request)
        except TimeoutError:
            return Reply(HTTPStatus.SERVICE_UNAVAILABLE, f"No answer within {ANSWER_TIMEOUT:.0f} s.\n".encode())
        except Exception:
            logger.exception("the probe cannot answer %s; the worker continues", request.path)
            return Reply(HTTPStatus.INTERNAL_SERVER_ERROR)


def written(reply: Reply, method: str) -> bytes:
    body = reply.body or f"{reply.status.phrase}\n".encode()
    lines = [
        f"HTTP/1.1 {reply.status.value} {reply.status.phrase}",
        *(["Allow: GET, HEAD"] if reply.status is HTTPStatus.METHOD_NOT_ALLOWED else []),
        f"Content-Type: {reply.kind}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if method == "HEAD" else body)
