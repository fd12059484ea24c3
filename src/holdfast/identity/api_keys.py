"""API keys for programs. A key is shown once, when it is created; the store has only its hash. A key belongs to a user or a
service account, ends with it, and expires.

A key has 256 random bits, so a plain hash is enough: dictionary attacks do not apply. It contains the id of its row, so that a
lookup needs no scan.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import AccountNotFound, AccountRefused
from holdfast.identity.records import RecordTable
from holdfast.identity.roles import Roles
from holdfast.ports.store import RecordStore

PREFIX = "hfk"
LIFETIME = timedelta(days=365)
USE_INTERVAL = timedelta(hours=1)


class ApiKey(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    """Purpose of the key."""
    digest: str
    roles: tuple[str, ...] = ()
    created: datetime
    created_by: str = ""
    owner: str = ""
    """The user or service account that the key belongs to. Empty: the deployment, for keys of the command line."""
    expires: datetime | None = None
    last_used: datetime | None = None
    """Time of a recent use, up to an hour old."""


class ApiKeys:
    def __init__(
        self,
        store: RecordStore,
        tenant: str,
        now: Callable[[], datetime],
        roles: Roles,
        *,
        lifetime: timedelta = LIFETIME,
    ) -> None:
        self._records = RecordTable(store, tenant, "api-key", ApiKey, now)
        self._now = now
        self._roles = roles
        self._lifetime = lifetime

    async def add(
        self,
        name: str,
        *,
        roles: Iterable[str],
        expires: datetime | None = None,
        who: str = "",
        owner: str = "",
    ) -> tuple[ApiKey, str]:
        """The stored row and the key itself, which cannot be retrieved later. `owner`: see `ApiKey`."""
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
            owner=owner,
            expires=expires or self._now() + self._lifetime,
        )
        await self._records.add(identity, key, owner=owner or who)
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

    async def remove_of(self, owner: str) -> int:
        """Delete all keys of this owner. Returns how many."""
        return await self._records.remove_of(owner)

    async def used(self, key: ApiKey) -> None:
        """Record the use of a key, at most once in an hour: a write for each request would be too much."""
        now = self._now()
        if key.last_used is None or key.last_used <= now - USE_INTERVAL:
            await self._records.change(key.id, lambda found: replace(found, last_used=now))

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
