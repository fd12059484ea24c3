"""Replies to HTTP requests, stored until the process that holds the connection sends them."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

REPLY = "http-reply"
"""Kind of the records with replies that another node or a later burst sends."""
REPLY_RETENTION = timedelta(minutes=15)
OPEN_REQUESTS = "http_requests"
"""Property of an instance with its unanswered requests, newest last."""


class HttpReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    body: bytes = b""
    resumable: bool = False
    """Whether clients may request parts of it (`Range`)."""
