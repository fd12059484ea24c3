"""Users: login name, password hash, roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from holdfast.errors import AccountNotFound, AccountRefused, AlreadyStored
from holdfast.identity.passwords import Passwords, check_password
from holdfast.identity.records import RecordTable
from holdfast.identity.roles import Roles
from holdfast.identity.user import User
from holdfast.model.principal import ADMIN
from holdfast.ports.store import RecordStore

NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


class Users:
    def __init__(
        self, store: RecordStore, tenant: str, now: Callable[[], datetime], passwords: Passwords, roles: Roles
    ) -> None:
        self._records = RecordTable(store, tenant, "user", User, now)
        self._now = now
        self._passwords = passwords
        self._roles = roles

    async def add(self, login: str, password: str, *, roles: Iterable[str] = (), name: str | None = None) -> User:
        check_password(password)
        given = await self._roles.checked(roles)
        identity = await self._free_login(login)
        user = User(
            id=identity,
            name=name or login,
            password=await self._passwords.hash(password),
            roles=given,
            created=self._now(),
        )
        await self._records.add(identity, user)
        return user

    async def add_service(self, login: str, *, roles: Iterable[str] = (), name: str | None = None) -> User:
        """Add a service account."""
        given = await self._roles.checked(roles)
        identity = await self._free_login(login)
        user = User(id=identity, name=name or login, roles=given, is_service=True, created=self._now())
        await self._records.add(identity, user)
        return user

    async def _free_login(self, login: str) -> str:
        """Checked before a password is hashed, which is expensive."""
        identity = checked_login(login)
        if await self._records.get(identity) is not None:
            raise AlreadyStored(f"The user '{identity}' already exists.")
        return identity

    async def get(self, login: str) -> User:
        found = await self.find(login)
        if found is None:
            raise AccountNotFound("user", login)
        return found

    async def find(self, login: str) -> User | None:
        """None for unknown and for invalid names."""
        identity = login.strip().lower()
        return await self._records.get(identity) if NAME.fullmatch(identity) else None

    async def list(self) -> list[User]:
        return sorted(await self._records.all(), key=lambda user: user.id)

    async def change(
        self,
        login: str,
        *,
        name: str | UnsetType = UNSET,
        roles: Iterable[str] | UnsetType = UNSET,
        active: bool | UnsetType = UNSET,
    ) -> User:
        given = UNSET if roles is UNSET else await self._roles.checked(roles)
        before = await self.get(login)
        loses_admin = (given is not UNSET and ADMIN not in given) or active is False
        if loses_admin:
            await self._require_other_admin(before)

        def change(user: User) -> User:
            return replace(
                user,
                name=user.name if name is UNSET else name,
                roles=user.roles if given is UNSET else given,
                active=user.active if active is UNSET else active,
            )

        after = self._existing(await self._records.change(before.id, change), login)
        if loses_admin:
            try:
                await self._require_other_admin(
                    before
                )  # A concurrent change may have removed the other admin: check again.
            except AccountRefused:
                await self._records.change(
                    before.id, lambda user: replace(user, roles=before.roles, active=before.active)
                )
                raise
        return after

    async def set_password(self, login: str, password: str) -> User:
        check_password(password)
        found = await self.get(login)
        if found.is_service:
            raise AccountRefused(f"'{found.id}' is a service account, which has no password. Create an API key for it.")
        hashed = await self._passwords.hash(password)
        return self._existing(await self._records.change(found.id, lambda user: replace(user, password=hashed)), login)

    async def remove(self, login: str) -> None:
        user = await self.get(login)
        await self._require_other_admin(user)
        if not await self._records.remove(user.id):
            raise AccountNotFound("user", login)
        try:
            await self._require_other_admin(user)
        except AccountRefused:
            await self._records.add(user.id, user)
            raise

    async def count(self) -> int:
        return await self._records.count()

    async def _require_other_admin(self, user: User) -> None:
        if ADMIN not in user.roles or not user.active or user.is_service:
            return
        others = [item for item in await self._records.all() if item.id != user.id]
        if not any(ADMIN in item.roles and item.active and not item.is_service for item in others):
            raise AccountRefused(f"'{user.id}' is the last active admin. Add another admin first.")

    @staticmethod
    def _existing(user: User | None, login: str) -> User:
        if user is None:
            raise AccountNotFound("user", login)
        return user


def checked_login(login: str) -> str:
    identity = login.strip().lower()
    if not NAME.fullmatch(identity):
        raise AccountRefused(f"{login!r} is not a valid user name: 1 to 64 of the characters a-z 0-9 . _ @ + -")
    return identity
