"""API keys for programs. A key is shown once, when it is created; the store has only its hash.

A key has 256 random bits, so a plain hash is enough: dictionary attacks do not apply. It contains the id of its row, so that a
lookup needs no scan.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from holdfast.errors import AccountNotFound, AccountRefused
from holdfast.identity.records import RecordTable
from holdfast.identity.roles import Roles
from holdfast.ports.store import RecordStore

PREFIX = "hfk"


class ApiKey(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    """Purpose of the key."""
    digest: str
    roles: tuple[str, ...] = ()
    created: datetime
    created_by: str = ""
    expires: datetime | None = None


class ApiKeys:
    def __init__(self, store: RecordStore, tenant: str, now: Callable[[], datetime], roles: Roles) -> None:
        self._records = RecordTable(store, tenant, "api-key", ApiKey, now)
        self._now = now
        self._roles = roles

    async def add(
        self, name: str, *, roles: Iterable[str], expires: datetime | None = None, who: str = ""
    ) -> tuple[ApiKey, str]:
        """The stored row and the key itself, which cannot be retrieved later."""
        given = await self._roles.checked(roles)
        if not name.strip():
            raise AccountRefused("An API key needs a name that states its purpose.")
        if expires is not None and (expires.tzinfo is None or expires <= self._now()):
            raise AccountRefused("The expiry of an API key must be a future time with a time zone.")
        identity, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        key = ApiKey(
            id=identity,
            name=name.strip(),
            digest=_digest(secret),
            roles=given,
            created=self._now(),
            created_by=who,
            expires=expires,
        )
        await self._records.add(identity, key, owner=who)
        return key, f"{PREFIX}_{identity}_{secret}"

    async def list(self) -> list[ApiKey]:
        return await self._records.all()

    async def get(self, identity: str) -> ApiKey:
        found = await self._records.get(identity)
        if found is None:
            raise AccountNotFound("API key", identity)
        return found

    async def remove(self, identity: str) -> None:
        if not await self._records.remove(identity):
            raise AccountNotFound("API key", identity)

    async def find(self, text: str) -> ApiKey | None:
        """The row of a valid key that has not expired, else None."""
        prefix, _, rest = text.strip().partition("_")
        identity, _, secret = rest.partition("_")
        if prefix != PREFIX or not identity or not secret or len(identity) > 64:
            return None
        key = await self._records.get(identity)
        if key is None or not compare_digest(key.digest, _digest(secret)):
            return None
        return None if key.expires is not None and key.expires <= self._now() else key


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
