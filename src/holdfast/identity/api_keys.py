"""API keys: for programs. Shown once when they are made; only a hash is kept.

A key is 256 random bits, so a plain hash is enough: there is no dictionary to try. It names its row, so that finding it
needs no scan.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct

from holdfast.errors import AccountNotFound, AccountRefused
from holdfast.identity.records import Shelf
from holdfast.identity.roles import Roles
from holdfast.ports.store import RecordStore

PREFIX = "hfk"


class ApiKey(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    """What it is for."""
    digest: str
    roles: tuple[str, ...] = ()
    created: datetime
    created_by: str = ""
    expires: datetime | None = None


class ApiKeys:
    def __init__(self, store: RecordStore, tenant: str, now: Callable[[], datetime], roles: Roles) -> None:
        self._shelf = Shelf(store, tenant, "api-key", ApiKey, now)
        self._now = now
        self._roles = roles

    async def add(
        self, name: str, *, roles: Iterable[str], expires: datetime | None = None, who: str = ""
    ) -> tuple[ApiKey, str]:
        """The key's row, and the key itself, which nobody can be told again."""
        given = await self._roles.checked(roles)
        if not name.strip():
            raise AccountRefused("An API key needs a name that says what it is for.")
        if expires is not None and (expires.tzinfo is None or expires <= self._now()):
            raise AccountRefused("The end of an API key is a moment in the future, with its time zone.")
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
        await self._shelf.add(identity, key, owner=who)
        return key, f"{PREFIX}_{identity}_{secret}"

    async def list(self) -> list[ApiKey]:
        return await self._shelf.all()

    async def get(self, identity: str) -> ApiKey:
        found = await self._shelf.get(identity)
        if found is None:
            raise AccountNotFound("API key", identity)
        return found

    async def remove(self, identity: str) -> None:
        if not await self._shelf.remove(identity):
            raise AccountNotFound("API key", identity)

    async def find(self, text: str) -> ApiKey | None:
        """The key that this text is, if it is one and has not expired."""
        prefix, _, rest = text.strip().partition("_")
        identity, _, secret = rest.partition("_")
        if prefix != PREFIX or not identity or not secret or len(identity) > 64:
            return None
        key = await self._shelf.get(identity)
        if key is None or not compare_digest(key.digest, _digest(secret)):
            return None
        return None if key.expires is not None and key.expires <= self._now() else key


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
