"""Sessions: opened by a sign-in, ended by a sign-out. A refresh token belongs to a session and is valid once.

Each refresh returns a new token. The previous token is accepted for another 30 seconds, since two tabs may refresh concurrently.
Later use indicates a stolen copy and ends the session.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import NotSignedIn
from holdfast.identity.records import RecordTable
from holdfast.ports.store import RecordStore

PREFIX = "hfr"
REUSE_GRACE = timedelta(seconds=30)


class Session(Struct, frozen=True, kw_only=True):
    id: str
    user: str
    digest: str
    """Digest of the current refresh token."""
    before: str = ""
    """Digest of the previous refresh token."""
    turned: datetime
    """Time of the last refresh."""
    created: datetime
    expires: datetime
    address: str = ""


class Sessions:
    def __init__(
        self,
        store: RecordStore,
        tenant: str,
        now: Callable[[], datetime],
        lifetime: timedelta,
        *,
        on_ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_ended` is called after sessions have ended."""
        self._records = RecordTable(store, tenant, "session", Session, now)
        self._now = now
        self.lifetime = lifetime
        self._on_ended = on_ended

    async def open(self, user: str, address: str) -> tuple[Session, str]:
        """The session and its first refresh token."""
        identity, secret, now = secrets.token_hex(16), secrets.token_urlsafe(32), self._now()
        session = Session(
            id=identity,
            user=user,
            digest=_digest(secret),
            turned=now,
            created=now,
            expires=now + self.lifetime,
            address=address,
        )
        await self._records.add(identity, session, owner=user, due=session.expires)
        return session, _token(identity, secret)

    async def find(self, identity: str) -> Session | None:
        """None if it ended or never existed."""
        found = await self._records.get(identity)
        return None if found is None or found.expires <= self._now() else found

    async def rotate(self, token: str) -> tuple[Session, str]:
        """Exchange a refresh token for a new one."""
        prefix, _, rest = token.strip().partition("_")
        identity, _, secret = rest.partition("_")
        session = await self.find(identity) if prefix == PREFIX and len(identity) == 32 else None
        if session is None or not secret:
            raise NotSignedIn("The session has ended. Sign in again.")
        digest, now = _digest(secret), self._now()
        if not compare_digest(session.digest, digest):
            in_grace = now <= session.turned + REUSE_GRACE and compare_digest(session.before, digest)
            if not in_grace:
                await self.end(identity)
                raise NotSignedIn("This refresh token was already used, so its session was ended. Sign in again.")
        fresh = secrets.token_urlsafe(32)

        def rotated(found: Session) -> Session:
            return replace(found, digest=_digest(fresh), before=found.digest, turned=now, expires=now + self.lifetime)

        changed = await self._records.change(identity, rotated)
        if changed is None:
            raise NotSignedIn("The session has ended. Sign in again.")
        return changed, _token(identity, fresh)

    async def end(self, identity: str) -> bool:
        is_ended = await self._records.remove(identity)
        if is_ended:
            self._on_ended()
        return is_ended

    async def end_all(self, user: str) -> int:
        count = await self._records.remove_of(user)
        self._on_ended()
        return count

    async def sweep(self) -> int:
        """Delete the rows of expired sessions. Returns how many."""
        count = 0
        for session in await self._records.all():
            if session.expires <= self._now():
                count += await self.end(session.id)
        return count


def _token(identity: str, secret: str) -> str:
    return f"{PREFIX}_{identity}_{secret}"


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
