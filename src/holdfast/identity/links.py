"""Links that resume an instance, signed with the secret that all nodes on a store share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from holdfast.identity.signing_secret import signing_secret
from holdfast.identity.tokens import ResumeClaims, ResumeTokens
from holdfast.ports.store import RecordStore

PATH = "/api/bookmarks/resume"


class RecordSource(Protocol):
    """The node: its store and tenant."""

    @property
    def store(self) -> RecordStore: ...
    @property
    def tenant(self) -> str: ...


class StoredLinks:
    """Implements the port `ResumeLinks`. The node is resolved at the first link, since services are created before it."""

    def __init__(
        self, source: Callable[[], RecordSource], now: Callable[[], datetime], *, secret: str, url: str
    ) -> None:
        self._source = source
        self._now = now
        self._secret = secret
        self._url = url.rstrip("/")
        self._tokens: ResumeTokens | None = None

    async def link(self, instance_id: str, bookmark_name: str, expires: datetime) -> str:
        source = self._source()
        if self._tokens is None:
            self._tokens = ResumeTokens(
                await signing_secret(source.store, source.tenant, self._now, self._secret), self._now
            )
        claims = ResumeClaims(
            tenant=source.tenant, instance_id=instance_id, bookmark=bookmark_name, expires=expires, is_name=True
        )
        return f"{self._url}{PATH}?t={self._tokens.issue(claims)}"
