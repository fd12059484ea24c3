"""Errors of the client: the server is unreachable or refused the request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.errors.base import HoldfastError


class ClientError(HoldfastError):
    """Base class: between the client and the server."""


class ServerUnavailable(ClientError):
    """The server does not answer, or the connection broke. The request may have been processed: repeat it with the same
    idempotency key."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(f"The server at {url} does not answer ({reason}). Is it running? Start it: holdfast serve")


class RequestRefused(ClientError):
    """The problem that the server returned."""

    def __init__(self, status: int, code: str, detail: str, errors: Sequence[Any] = ()) -> None:
        self.status = status
        self.code = code
        self.errors = tuple(errors)
        super().__init__(detail)
