"""Roles: built-in roles and the roles of a tenant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec import Struct

from holdfast.errors import AccountNotFound, AccountRefused
from holdfast.identity.records import RecordTable
from holdfast.model.principal import PERMISSIONS, ROLES
from holdfast.ports.store import RecordStore

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Role(Struct, frozen=True, kw_only=True):
    name: str
    permissions: tuple[str, ...]
    built_in: bool = False


class Roles:
    def __init__(self, store: RecordStore, tenant: str, now: Callable[[], datetime]) -> None:
        self._records = RecordTable(store, tenant, "role", Role, now)

    async def list(self) -> list[Role]:
        own = sorted(await self._records.all(), key=lambda role: role.name)
        return [_built_in(name) for name in ROLES] + own

    async def put(self, name: str, permissions: Iterable[str]) -> Role:
        if name in ROLES:
            raise AccountRefused(f"The role '{name}' is built in and cannot be changed. Choose another name.")
        if not NAME.fullmatch(name):
            raise AccountRefused(f"{name!r} is not a valid role name: 1 to 64 of the characters a-z 0-9 . _ -")
        given = tuple(sorted(set(permissions)))
        unknown = [item for item in given if item not in PERMISSIONS]
        if unknown:
            raise AccountRefused(
                f"Unknown permission: {', '.join(unknown)}. Known permissions: {', '.join(PERMISSIONS)}."
            )
        role = Role(name=name, permissions=given)
        return await self._records.change_or_add(name, lambda _: role)

    async def remove(self, name: str) -> None:
        if name in ROLES:
            raise AccountRefused(f"The role '{name}' is built in and cannot be deleted.")
        if not await self._records.remove(name):
            raise AccountNotFound("role", name)

    async def checked(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names, sorted. Refuses unknown roles."""
        given = tuple(sorted(set(names)))
        for name in given:
            if name not in ROLES and await self._records.get(name) is None:
                known = ", ".join(role.name for role in await self.list())
                raise AccountRefused(f"There is no role '{name}'. Known roles: {known}.")
        return given

    async def permissions(self, names: Iterable[str]) -> frozenset[str]:
        """All permissions of these roles. A deleted role has none."""
        found: set[str] = set()
        for name in names:
            if name in ROLES:
                found |= ROLES[name]
            elif (role := await self._records.get(name)) is not None:
                found.update(role.permissions)
        return frozenset(found) & PERMISSIONS.keys()


def _built_in(name: str) -> Role:
    return Role(name=name, permissions=tuple(sorted(ROLES[name])), built_in=True)
