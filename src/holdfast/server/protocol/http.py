"""HTTP/1.1 connections under limits, counted while they are read: uvicorn's httptools protocol with deadlines and sizes.

Limits: connections in all and per address; bytes, number and time of headers and trailers; time of a body; requests that wait
in a pipeline; time for which a client does not read its response. The size of a body is the application's limit, since it
depends on the route.

A response may precede the end of its request's body, for example 401. Then the rest of the body is discarded for a short time,
so that the client can read the response, and the connection ends if the body has not ended by then.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from datetime import timedelta
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, NamedTuple

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PIPELINE_MAX = 50
"""Requests of one connection that may wait for the response to an earlier one."""
FRAMING_FACTOR = 16
"""Bytes of framing per byte of a body: chunks of one byte have six. The limit of headers is added."""
LINGER_TIME = timedelta(seconds=5)
"""Time for which the rest of a body is discarded after the response."""


class Refused(NamedTuple):
    status: HTTPStatus
    code: str
    detail: str


MALFORMED = Refused(HTTPStatus.BAD_REQUEST, "request.malformed", "This is not a valid HTTP/1.1 request.")
HEAD_TOO_LARGE = Refused(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "head.too_large",
    "The headers are larger than this server accepts. Send less, or raise the setting request_head_bytes_max.",
)
TOO_MANY_HEADERS = Refused(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    "head.too_many",
    "The request has more headers than this server accepts. Send fewer, or raise the setting request_headers_max.",
)
HEAD_TOO_SLOW = Refused(
    HTTPStatus.REQUEST_TIMEOUT, "head.too_slow", "The headers did not arrive in time. Send them again."
)
BODY_TOO_SLOW = Refused(HTTPStatus.REQUEST_TIMEOUT, "body.too_slow", "The body did not arrive in time. Send it again.")
TOO_MANY_CONNECTIONS = Refused(
    HTTPStatus.SERVICE_UNAVAILABLE, "connections.too_many", "Too many connections are open. Close some, or try later."
)
PIPELINE_TOO_LONG = Refused(
    HTTPStatus.TOO_MANY_REQUESTS, "pipeline.too_long", "Too many requests wait on this connection. Await responses."
)


class Phase(Enum):
    """Part of a request that the connection reads."""

    BETWEEN = auto()
    HEAD = auto()
    BODY = auto()


class BoundedHttpProtocol(HttpToolsProtocol):
    config: Any
    """A `ServerConfig`: uvicorn passes its configuration through."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = self.config.limits
        self._phase = Phase.BETWEEN
        self._refusal: Refused | None = None
        self._unread_bytes = 0
        """Bytes of an incomplete head, besides the data in which it began."""
        self._body_bytes = 0
        self._framing_bytes = 0
        """Bytes of a body besides its data: sizes and extensions of chunks, and trailers."""
        self._trailers = 0
        self._body_began = 0.0
        self._timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None
        self._is_counted = False
        self._is_refused = False

    # -- connection ----------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_counted = self.config.counts.enter(self._host)
        if not self._is_counted:
            self._is_refused = True
            transport.write(_written(TOO_MANY_CONNECTIONS))
            transport.close()
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        self._cancel_stall()
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """The WebSocket protocol takes over the connection's place in the counts."""
        self._cancel_timer()
        self._is_counted = False
        super().handle_websocket_upgrade()

    def _leave(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self.config.counts.leave(self._host)

    @property
    def _host(self) -> str | None:
        return self.client[0] if self.client else None

    # -- reading -------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._is_refused or self.transport.is_closing():
            return
        self._unset_keepalive_if_required()
        was_in_head, was_in_body, known_bytes = self._phase is Phase.HEAD, self._phase is Phase.BODY, self._body_bytes
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                return
        except httptools.HttpParserError:
            self._refuse(self._refusal or MALFORMED)
            return
        if self._phase is Phase.BODY:
            if was_in_body:
                self._framing_bytes += len(data) - (self._body_bytes - known_bytes)
            if self._framing_bytes > self._limits.head_bytes + FRAMING_FACTOR * self._body_bytes:
                self._refuse(HEAD_TOO_LARGE)
                return
            self._expect_body()
        elif self._phase is Phase.HEAD:
            self._unread_bytes += len(data) if was_in_head else 0
            if self._unread_bytes > self._limits.head_bytes:
                self._refuse(HEAD_TOO_LARGE)
                return
            self._expect_head()
        elif self._is_idle and self.timeout_keep_alive_task is None:
            self._expect_head()  # Line ends between requests, or the end of a discarded body.

    @property
    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._phase = Phase.HEAD
        self._unread_bytes = self._body_bytes = self._framing_bytes = self._trailers = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Trailers are counted and dropped: nothing here reads them."""
        if self._phase is not Phase.BODY:
            super().on_header(name, value)
            return
        self._trailers += 1
        if self._trailers > self._limits.headers:
            self._stop(TOO_MANY_HEADERS)

    def _stop(self, why: Refused) -> None:
        """Stop the parser from inside one of its callbacks."""
        self._refusal = why
        raise ValueError(why.code)

    def on_headers_complete(self) -> None:
        self._phase = Phase.BODY
        self._cancel_timer()
        if len(self.headers) > self._limits.headers:
            self._stop(TOO_MANY_HEADERS)
        if len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers]) > self._limits.head_bytes:
            self._stop(HEAD_TOO_LARGE)
        if len(self.pipeline) >= PIPELINE_MAX:
            self._stop(PIPELINE_TOO_LONG)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._phase = Phase.BETWEEN
        self._cancel_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._phase is Phase.BODY and not self.pipeline and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._cancel_timer()
            self._timer = self.loop.call_later(LINGER_TIME.total_seconds(), self.transport.abort)

    # -- deadlines -----------------------------------------------------------------------------------------------------

    def _expect_head(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self._limits.head_time.total_seconds(), self._head_expired)

    def _head_expired(self) -> None:
        self._timer = None
        if self._phase is Phase.HEAD:
            self._refuse(HEAD_TOO_SLOW)
        else:  # Nothing was asked, so nothing is answered.
            self.transport.close()

    def _expect_body(self) -> None:
        if self._timer is None:
            self._body_began = self.loop.time()
            self._timer = self.loop.call_later(self._limits.body_seconds(0), self._body_expired)

    def _body_expired(self) -> None:
        self._timer = None
        if self.flow.read_paused:  # The application does not read: the client is not to blame.
            self._expect_body()
            return
        left = self._body_began + self._limits.body_seconds(self._body_bytes) - self.loop.time()
        if left > 0:
            self._timer = self.loop.call_later(left, self._body_expired)
        else:
            self._refuse(BODY_TOO_SLOW)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._cancel_stall()
        self._stall_timer = self.loop.call_later(self._limits.stall_time.total_seconds(), self.transport.abort)

    def resume_writing(self) -> None:
        self._cancel_stall()
        super().resume_writing()

    def _cancel_stall(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    # -- refusals ------------------------------------------------------------------------------------------------------

    def _refuse(self, why: Refused) -> None:
        """Answer and close. An earlier request that still waits for its response gets none: the refusal would pass for it.

        Only the sending direction closes at once. Data that the client still sends would otherwise reset the connection before
        the client has read the answer."""
        self._is_refused = True
        self._cancel_timer()
        is_of_this_request = self._is_idle or (self._phase is Phase.BODY and not self.pipeline)
        if not is_of_this_request or self._has_begun_response or not self.transport.can_write_eof():
            self.transport.close()
            return
        self.transport.write(_written(why))
        self.transport.write_eof()
        self._timer = self.loop.call_later(LINGER_TIME.total_seconds(), self.transport.abort)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.flow.resume_reading()

    @property
    def _has_begun_response(self) -> bool:
        return self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete


def _written(why: Refused) -> bytes:
    body = msgspec.json.encode(
        {
            "type": "about:blank",
            "title": why.status.phrase,
            "status": why.status.value,
            "detail": why.detail,
            "code": why.code,
        }
    )
    retry = "retry-after: 5\r\n" if why.status is HTTPStatus.SERVICE_UNAVAILABLE else ""
    head = (
        f"HTTP/1.1 {why.status.value} {why.status.phrase}\r\ncontent-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\n{retry}connection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
