"""Links that resume an instance, signed with the secret that all nodes on a store share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from holdfast.identity.signing_secret import signing_secret
from holdfast.identity.tokens import ResumeClaims, ResumeTokens
from holdfast.ports.store import RecordStore

PATH = "/api/bookmarks/resume"


class TenantStore(Protocol):
    """The store and the tenant of the instances; a `Runtime` implements it."""

    @property
    def store(self) -> RecordStore: ...
    @property
    def tenant(self) -> str: ...


class StoredLinks:
    """Implements the port `ResumeLinks`. The runtime is resolved at the first link: activities are made before it."""

    def __init__(
        self, runtime: Callable[[], TenantStore], now: Callable[[], datetime], *, secret: str, url: str
    ) -> None:
        self._runtime = runtime
        self._now = now
        self._secret = secret
        self._url = url.rstrip("/")
        self._tokens: ResumeTokens | None = None

    async def link(self, instance_id: str, bookmark_name: str, expires: datetime) -> str:
        runtime = self._runtime()
        if self._tokens is None:
            self._tokens = ResumeTokens(
                await signing_secret(runtime.store, runtime.tenant, self._now, self._secret), self._now
            )
        claims = ResumeClaims(
            tenant=runtime.tenant, instance_id=instance_id, bookmark=bookmark_name, expires=expires, is_name=True
        )
        return f"{self._url}{PATH}?t={self._tokens.issue(claims)}"
