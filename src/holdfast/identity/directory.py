"""Permissions of the principal that started an instance, looked up later: by its stored name, in any process.

An instance stores the name of its principal, or the login. Names are not unique: if several accounts match, all of them must
have the permission.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from holdfast.identity.api_keys import ApiKey
from holdfast.identity.records import RecordTable
from holdfast.identity.roles import Roles
from holdfast.identity.user import User
from holdfast.model.principal import LOCAL
from holdfast.ports.store import RecordStore


class StoredDirectory:
    """Implements the port `PrincipalDirectory` with the users and API keys in the store."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    async def may(self, store: RecordStore, tenant: str, principal: str, permissions: Iterable[str]) -> bool:
        users = RecordTable(store, tenant, "user", User, self._now)
        if not await users.count():
            return True  # Sign-in is off, or accounts are managed elsewhere.
        keys = RecordTable(store, tenant, "api-key", ApiKey, self._now)
        accounts = {user.id: user for user in await users.all()}
        named = [user for user in accounts.values() if principal in (user.id, user.name)]
        valid = [key for key in await keys.all() if principal in (key.id, key.name)]
        if not named and not valid:
            return principal == LOCAL.name  # A server without sign-in, or a command on the store.
        owners = {key.owner for key in valid if key.owner}  # A key has no more permissions than its owner.
        if not owners <= accounts.keys():
            return False
        named += [accounts[owner] for owner in owners]
        if not all(user.active for user in named) or not all(self._is_valid(key) for key in valid):
            return False
        roles, wanted = Roles(store, tenant, self._now), frozenset(permissions)
        given = [user.roles for user in named] + [key.roles for key in valid]
        return all([wanted <= await roles.permissions(names) for names in given])

    def _is_valid(self, key: ApiKey) -> bool:
        return key.expires is None or key.expires > self._now()
