"""A server was asked, and did not do it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.errors.base import HoldfastError


class ClientError(HoldfastError):
    """Between the client and the server."""


class ServerUnavailable(ClientError):
    """Nobody answers, or the connection broke. Whether the request was done is not known: ask again with the same
    idempotency key."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(f"The server at {url} does not answer ({reason}). Is it running? Start it: holdfast serve")


class RequestRefused(ClientError):
    """The server's problem, as it told it."""

    def __init__(self, status: int, code: str, detail: str, errors: Sequence[Any] = ()) -> None:
        self.status = status
        self.code = code
        self.errors = tuple(errors)
        super().__init__(detail)
