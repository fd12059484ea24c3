"""Signed tokens: access tokens (JWT) and links that resume a bookmark.

One secret signs both, through separate derived keys, so that one kind is never accepted as the other. A link is not a
JWT: a worker that only sends links needs no JWT library.
"""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from msgspec import Struct

from holdfast.errors import NotSignedIn

ALGORITHM = "HS256"
ISSUER = "holdfast"
SEEN_MAX = 10_000


class AccessClaims(Struct, frozen=True, kw_only=True):
    user: str
    session: str
    tenant: str


class ResumeClaims(Struct, frozen=True, kw_only=True):
    tenant: str
    instance_id: str
    bookmark: str
    """Id of the bookmark, or its name if `is_name`: a link may be created before its bookmark."""
    expires: datetime
    is_name: bool = False


def derived(secret: bytes, purpose: str) -> bytes:
    return hmac.new(secret, f"holdfast:{purpose}".encode(), sha256).digest()


class AccessTokens:
    def __init__(self, secret: bytes, now: Callable[[], datetime], lifetime: timedelta) -> None:
        self._key = derived(secret, "access")
        self._now = now
        self.lifetime = lifetime
        self._seen: dict[str, tuple[AccessClaims, float]] = {}
        """Cache of verified tokens: verifying the signature is the most expensive step, and its result does not change."""

    def issue(self, claims: AccessClaims) -> str:
        import jwt

        now = self._now()
        return jwt.encode(
            {
                "iss": ISSUER,
                "sub": claims.user,
                "sid": claims.session,
                "ten": claims.tenant,
                "iat": now,
                "exp": now + self.lifetime,
            },
            self._key,
            algorithm=ALGORITHM,
        )

    def read(self, text: str) -> AccessClaims:
        """Raises `NotSignedIn` for a token that is foreign, altered or expired."""
        known = self._seen.get(text)
        if known is None:
            known = self._verified(text)
            if len(self._seen) >= SEEN_MAX:
                self._seen.clear()
            self._seen[text] = known
        claims, expires = known
        if expires <= self._now().timestamp():
            raise NotSignedIn("The access token has expired. Refresh it, or sign in again.")
        return claims

    def _verified(self, text: str) -> tuple[AccessClaims, float]:
        import jwt

        try:
            found = jwt.decode(
                text,
                self._key,
                algorithms=[ALGORITHM],
                issuer=ISSUER,
                # Expiry is checked against the injected clock.
                options={"require": ["exp", "sub", "sid", "ten"], "verify_exp": False, "verify_iat": False},
            )
            claims = AccessClaims(user=found["sub"], session=found["sid"], tenant=found["ten"])
            return claims, float(found["exp"])
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise NotSignedIn("The access token is not valid. Sign in again.") from error


class ResumeTokens:
    def __init__(self, secret: bytes, now: Callable[[], datetime]) -> None:
        self._key = derived(secret, "resume")
        self._now = now

    def issue(self, claims: ResumeClaims) -> str:
        body = json.dumps(
            [
                claims.tenant,
                claims.instance_id,
                claims.bookmark,
                int(claims.expires.timestamp()),
                int(claims.is_name),
            ],
            separators=(",", ":"),
        ).encode()
        return f"{_text(body)}.{_text(self._sign(body))}"

    def read(self, text: str) -> ResumeClaims:
        """Raises `NotSignedIn` for a link that is foreign, altered or expired."""
        try:
            head, _, tail = text.partition(".")
            body, signature = _bytes(head), _bytes(tail)
        except ValueError as error:
            raise NotSignedIn("The link is not valid. Request a new link.") from error
        if not hmac.compare_digest(signature, self._sign(body)):
            raise NotSignedIn("The link is not valid: its signature does not match. Request a new link.")
        tenant, instance_id, bookmark, expires, is_name = json.loads(body)
        claims = ResumeClaims(
            tenant=tenant,
            instance_id=instance_id,
            bookmark=bookmark,
            expires=datetime.fromtimestamp(expires, UTC),
            is_name=bool(is_name),
        )
        if claims.expires <= self._now():
            raise NotSignedIn("The link has expired. Request a new link.")
        return claims

    def _sign(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, sha256).digest()


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    data: Any = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return bytes(data)
