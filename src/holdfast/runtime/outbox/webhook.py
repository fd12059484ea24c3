"""Webhooks: lifecycle events as HTTP requests to a receiver that may be slow, broken or hostile."""

from __future__ import annotations

import asyncio
import hmac
import socket
import urllib.request
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from typing import Any

import msgspec

from holdfast.ports import LifecycleEvent


class Webhook:
    """Posts events as JSON to a URL. Every answer but a 2xx within the `timeout` is a failure and retried, redirects included:
    a redirected request would lose the event. With a `secret` each request is signed: `X-Holdfast-Signature: sha256=…` is
    the HMAC of the body."""

    def __init__(
        self,
        url: str,
        *,
        name: str = "webhook",
        events: Collection[str] = (),
        secret: str | None = None,
        timeout: timedelta = timedelta(seconds=10),
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"'{url}' is not the URL of a webhook. Use http:// or https://.")
        self.name = name
        self.events = frozenset(events)
        self._url = url
        self._secret = secret
        self._timeout = timeout

    async def deliver(self, event: LifecycleEvent) -> None:
        made: list[HTTPConnection] = []
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                await asyncio.to_thread(self._post, event, made)
        except TimeoutError as error:
            raise TimeoutError(f"no answer within {self._timeout}") from error
        finally:
            for connection in made:
                _shut_down(connection)  # Ends the read of a thread that still waits for the answer.

    def _post(self, event: LifecycleEvent, made: list[HTTPConnection]) -> None:
        body = msgspec.json.encode(event)
        headers = {"Content-Type": "application/json", "X-Holdfast-Event": event.event, "X-Holdfast-Delivery": event.id}
        if self._secret is not None:
            headers["X-Holdfast-Signature"] = f"sha256={hmac.new(self._secret.encode(), body, 'sha256').hexdigest()}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310 - checked above
        opener = urllib.request.build_opener(_Plain(made), _Secure(made), _NoRedirects)
        opener.open(
            request, timeout=self._timeout.total_seconds()
        ).close()  # Only the status counts; the body may never end.


def _shut_down(connection: HTTPConnection) -> None:
    sock: socket.socket | None = connection.sock
    if sock is not None:
        with suppress(OSError):  # It is closed already.
            sock.shutdown(socket.SHUT_RDWR)


def _noted(made: list[HTTPConnection], kind: type[HTTPConnection], *given: Any, **options: Any) -> HTTPConnection:
    connection = kind(*given, **options)
    made.append(connection)
    return connection


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, made: list[HTTPConnection]) -> None:
        super().__init__()
        self._made = made

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(partial(_noted, self._made, HTTPConnection), req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, made: list[HTTPConnection]) -> None:
        super().__init__()
        self._made = made

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(partial(_noted, self._made, HTTPSConnection), req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        """Follow no redirect: the standard handler would send GET without the event."""
