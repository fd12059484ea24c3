"""Accounts of one tenant: sign-in, refresh, sign-out, and authentication of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import AlreadyStored, NotSignedIn
from holdfast.identity.api_keys import LIFETIME as KEY_TIME, PREFIX as KEY_PREFIX, ApiKey, ApiKeys
from holdfast.identity.backoff import BackOff
from holdfast.identity.devices import DeviceTokens
from holdfast.identity.passwords import Passwords, make_password
from holdfast.identity.roles import Roles
from holdfast.identity.sessions import Session, Sessions
from holdfast.identity.signing_secret import signing_secret
from holdfast.identity.tokens import AccessClaims, AccessTokens, ResumeTokens
from holdfast.identity.user import User
from holdfast.identity.users import Users
from holdfast.model.principal import ADMIN, Principal
from holdfast.model.stored import DEFAULT_TENANT
from holdfast.ports.access import RequestFacts
from holdfast.ports.store import RecordStore

ACCESS_TIME = timedelta(minutes=15)
REFRESH_TIME = timedelta(days=30)
PRINCIPAL_CACHE_TIME = timedelta(seconds=5)
"""Time a session or key is cached: a revocation reaches other processes within it."""
OUTAGE_CACHE_TIME = timedelta(hours=1)
"""Time a cached principal stays valid for requests that need no store, during an outage of the store: see `cached_principal`."""
PRINCIPAL_CACHE_MAX = 10_000
SIGNED_IN_DEVICE = "signed-in"
"""Stands for the device of a caller who is signed in; no token names it."""


class SignedIn(Struct, frozen=True, kw_only=True):
    """Result of a sign-in."""

    access_token: str
    refresh_token: str
    expires_in: timedelta
    principal: Principal
    device: str = ""
    """Token of the device, for the next sign-in from it; empty after a refresh."""


class CachedPrincipal(Struct, frozen=True):
    """Cached principal of a session or key."""

    principal: Principal
    cached: datetime
    expires: datetime | None = None

    def holds(self, now: datetime, lifetime: timedelta) -> bool:
        return now < self.cached + lifetime and (self.expires is None or now < self.expires)


class Accounts:
    """Implements the port `Authenticator`: bearer tokens and API keys."""

    def __init__(
        self,
        store: RecordStore,
        secret: bytes,
        now: Callable[[], datetime],
        *,
        tenant: str = DEFAULT_TENANT,
        access_time: timedelta = ACCESS_TIME,
        refresh_time: timedelta = REFRESH_TIME,
        key_time: timedelta = KEY_TIME,
        passwords: Passwords | None = None,
    ) -> None:
        self.tenant = tenant
        self.passwords = passwords or Passwords()
        self.roles = Roles(store, tenant, now)
        self.users = Users(store, tenant, now, self.passwords, self.roles)
        self.keys = ApiKeys(store, tenant, now, self.roles, lifetime=key_time)
        self.sessions = Sessions(store, tenant, now, refresh_time, on_ended=self.clear_cache)
        self.access = AccessTokens(secret, now, access_time)
        self.links = ResumeTokens(secret, now)
        self._devices = DeviceTokens(secret, tenant)
        self._backoff = BackOff(store, tenant, now)
        self._now = now
        self._cache: dict[str, CachedPrincipal] = {}
        self._watchers: set[Callable[[], None]] = set()

    @classmethod
    async def open(
        cls,
        store: RecordStore,
        now: Callable[[], datetime],
        *,
        secret: str = "",
        tenant: str = DEFAULT_TENANT,
        access_time: timedelta = ACCESS_TIME,
        refresh_time: timedelta = REFRESH_TIME,
        key_time: timedelta = KEY_TIME,
        passwords: Passwords | None = None,
    ) -> Self:
        """Open with the secret of the settings, or the secret in the store."""
        key = await signing_secret(store, tenant, now, secret)
        return cls(
            store,
            key,
            now,
            tenant=tenant,
            access_time=access_time,
            refresh_time=refresh_time,
            key_time=key_time,
            passwords=passwords,
        )

    def close(self) -> None:
        self.passwords.close()

    async def first_admin(self, password: str = "") -> str | None:
        """Create the admin on a store without users. Returns the generated password if none was given; the caller prints it
        once. If several processes start together, one creates the admin, and the others get None."""
        if await self.users.count():
            return None
        chosen = password or make_password()
        try:
            await self.users.add(ADMIN, chosen, roles=[ADMIN], name="Administrator")
        except AlreadyStored:
            return None
        return None if password else chosen

    # -- sessions ------------------------------------------------------------------------------------------------------

    async def sign_in(
        self, login: str, password: str, *, address: str = "", device_token: str | None = None
    ) -> SignedIn:
        """Raises `NotSignedIn`, which does not reveal whether name or password is wrong, or `TooManyAttempts`. `device_token`:
        the token that an earlier sign-in from this device returned."""
        found = await self.users.find(login)
        device = self._devices.read(device_token, found)
        user = await self._verify(login, found, password, address, device)
        if self.passwords.is_outdated(user.password):
            user = await self.users.set_password(user.id, password)
        session, token = await self.sessions.open(user.id, address)
        signed = await self._signed_in(user, session, token)
        return replace(signed, device=self._devices.issue(user))

    async def verify_own_password(self, user: User, password: str) -> None:
        """Raises the same errors as `sign_in`. The user is signed in: only this user can count against the limit."""
        await self._verify(user.id, user, password, "", SIGNED_IN_DEVICE)

    async def _verify(self, login: str, user: User | None, password: str, address: str, device: str | None) -> User:
        """The attempt counts before the password is verified, which takes long."""
        name = login.strip().lower()
        self.passwords.check_room(is_known=device is not None)  # A refusal for this reason does not count.
        await self._backoff.begin(name, address, device)
        hashed = user.password if user is not None and user.active and user.password else None
        if not await self.passwords.verify(hashed, password, is_known=device is not None) or user is None:
            raise NotSignedIn("Name or password is wrong.")
        await self._backoff.succeeded(name, address, device)
        return user

    async def refresh(self, token: str) -> SignedIn:
        session, fresh = await self.sessions.rotate(token)
        user = await self.users.find(session.user)
        if user is None or not user.active:
            await self.sessions.end(session.id)
            raise NotSignedIn("The account was deleted or disabled.")
        return await self._signed_in(user, session, fresh)

    async def sign_out(self, access_token: str, *, everywhere: bool = False) -> None:
        claims = self.access.read(access_token)
        if everywhere:
            await self.sessions.end_all(claims.user)
        else:
            await self.sessions.end(claims.session)

    async def change_password(self, login: str, password: str) -> User:
        """Set a password and end all sessions of the user."""
        user = await self.users.set_password(login, password)
        await self.end_sessions(user.id)
        return user

    async def remove_user(self, login: str) -> None:
        user = await self.users.get(login)
        await self.users.remove(login)
        await self.keys.remove_of(user.id)
        await self.end_sessions(user.id)

    async def end_sessions(self, user: str) -> None:
        await self.sessions.end_all(user)

    def clear_cache(self) -> None:
        """Clear the cache after a change in this process, and let open connections check their principals again."""
        self._cache.clear()
        for watcher in tuple(self._watchers):
            watcher()

    @contextmanager
    def watched(self, changed: Callable[[], None]) -> Iterator[None]:
        """Call `changed` inside the block whenever sessions, users, roles or keys have changed in this process."""
        self._watchers.add(changed)
        try:
            yield
        finally:
            self._watchers.discard(changed)

    async def sweep(self) -> None:
        """Delete expired rows; called periodically."""
        await self.sessions.sweep()
        await self._backoff.sweep()

    # -- authentication ------------------------------------------------------------------------------------------------

    async def authenticate(self, request: RequestFacts) -> Principal | None:
        text, is_key = _credentials(request)
        if text is None:
            return None
        return await (self.authenticate_key(text) if is_key else self.authenticate_token(text))

    def cached_principal(self, request: RequestFacts) -> Principal | None:
        """The cached principal of a request, at most an hour old, for responses that need no store, such as the metrics of this
        process. Revoking a key needs the store too, so a stale entry is acceptable during an outage."""
        text, is_key = _credentials(request)
        if text is None:
            return None
        found = self._cache.get(_key_name(text) if is_key else _session_name(self._claims(text)))
        return found.principal if found is not None and found.holds(self._now(), OUTAGE_CACHE_TIME) else None

    async def authenticate_token(self, text: str) -> Principal:
        claims = self._claims(text)
        name = _session_name(claims)
        known = self._known(name)
        if known is not None:
            return known
        session = await self.sessions.find(claims.session)
        user = None if session is None else await self.users.find(claims.user)
        if session is None or user is None or not user.active or session.user != user.id:
            self._cache.pop(name, None)
            raise NotSignedIn("The session has ended. Sign in again.")
        return self._remember(name, await self._principal(user), session.expires)

    async def authenticate_key(self, text: str) -> Principal:
        name = _key_name(text)
        known = self._known(name)
        if known is not None:
            return known
        key = await self.keys.find(text)
        found = None if key is None else await self._principal_of_key(key)
        if key is None or found is None:
            self._cache.pop(name, None)
            raise NotSignedIn("The API key is not valid: unknown, revoked or expired.")
        await self.keys.used(key)
        return self._remember(name, found, key.expires)

    async def _principal_of_key(self, key: ApiKey) -> Principal | None:
        """None if the key's owner is gone or disabled. A key never has more permissions than its owner has now."""
        roles, permissions = frozenset(key.roles), await self.roles.permissions(key.roles)
        if key.owner:
            owner = await self.users.find(key.owner)
            if owner is None or not owner.active:
                return None
            allowed = await self.roles.permissions(owner.roles)
            permissions &= allowed
            roles = frozenset([role for role in roles if await self.roles.permissions([role]) <= allowed])
        return Principal(id=f"key:{key.id}", name=key.name, tenant=self.tenant, roles=roles, permissions=permissions)

    def _claims(self, text: str) -> AccessClaims:
        claims = self.access.read(text)
        if claims.tenant != self.tenant:
            raise NotSignedIn("The access token is for another tenant. Sign in again.")
        return claims

    async def _principal(self, user: User) -> Principal:
        permissions = await self.roles.permissions(user.roles)
        return Principal(
            id=user.id, name=user.name, tenant=self.tenant, roles=frozenset(user.roles), permissions=permissions
        )

    async def _signed_in(self, user: User, session: Session, token: str) -> SignedIn:
        access = self.access.issue(AccessClaims(user=user.id, session=session.id, tenant=self.tenant))
        return SignedIn(
            access_token=access,
            refresh_token=token,
            expires_in=self.access.lifetime,
            principal=await self._principal(user),
        )

    def _known(self, name: str) -> Principal | None:
        found = self._cache.get(name)
        return found.principal if found is not None and found.holds(self._now(), PRINCIPAL_CACHE_TIME) else None

    def _remember(self, name: str, principal: Principal, expires: datetime | None) -> Principal:
        if len(self._cache) >= PRINCIPAL_CACHE_MAX:
            self._cache.clear()
        self._cache[name] = CachedPrincipal(principal, self._now(), expires)
        return principal


def _credentials(request: RequestFacts) -> tuple[str | None, bool]:
    """The credentials of the request, and whether they are an API key."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        text = credentials.strip()
        # Programs that support only bearer tokens (such as Prometheus) may send an API key as one.
        return text, text.startswith(f"{KEY_PREFIX}_")
    return request.headers.get("x-api-key"), True


def _key_name(text: str) -> str:
    return f"key:{sha256(text.encode()).hexdigest()}"


def _session_name(claims: AccessClaims) -> str:
    return f"session:{claims.session}"
