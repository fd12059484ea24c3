"""The answer to an HTTP request that an instance took: data that is kept until whoever holds the request sends it."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

REPLY = "http-reply"
"""The kind of records that hold answers which are sent by another node, or by a later burst."""
KEPT = timedelta(minutes=15)
WAITING = "http_requests"
"""The property of an instance that names the requests it has not answered yet, the latest last."""


class HttpReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: bytes = b""
    resumable: bool = False
    """Parts of it may be asked for (`Range`)."""
