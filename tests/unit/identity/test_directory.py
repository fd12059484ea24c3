"""Permissions of the principal that started an instance, looked up by its stored name."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from holdfast.identity.api_keys import ApiKey
from holdfast.identity.directory import StoredDirectory
from holdfast.identity.records import RecordTable
from holdfast.identity.user import User
from holdfast.persistence import store_from_url
from holdfast.ports import Store

NOW = datetime(2026, 1, 2, tzinfo=UTC)
WANTED = ("instances:write", "operations:write")


def now() -> datetime:
    return NOW


@pytest.fixture
async def store() -> Store:
    store = store_from_url("memory://")
    await store.open()
    return store


async def add(store: Store, *accounts: User | ApiKey) -> None:
    for account in accounts:
        if isinstance(account, User):
            await RecordTable(store, "", "user", User, now).add(account.id, account)
        else:
            await RecordTable(store, "", "api-key", ApiKey, now).add(account.id, account)


def user(name: str, role: str, *, active: bool = True) -> User:
    return User(id=name.lower(), name=name, roles=(role,), created=NOW, active=active)


def key(name: str, role: str, expires: datetime | None = None) -> ApiKey:
    return ApiKey(id=f"id-{name}", name=name, digest="", roles=(role,), created=NOW, expires=expires)


@pytest.mark.parametrize(
    ("principal", "allowed"),
    [
        *[(name, True) for name in ("Olga", "olga", "deploy", "id-deploy", "local")],
        *[(name, False) for name in ("Dora", "Gone", "old", "stranger", "")],
    ],
)
async def test_an_account_needs_the_permissions(store: Store, principal: str, allowed: bool) -> None:
    await add(
        store,
        user("Olga", "operator"),
        user("Dora", "designer"),
        user("Gone", "operator", active=False),
        key("deploy", "operator"),
        key("old", "operator", expires=NOW - timedelta(days=1)),
    )

    assert await StoredDirectory(now).may(store, "", principal, WANTED) is allowed


@pytest.mark.parametrize(("owner", "allowed"), [("olga", True), ("dora", False), ("off", False), ("removed", False)])
async def test_a_key_needs_the_permissions_of_its_owner_too(store: Store, owner: str, allowed: bool) -> None:
    await add(store, user("Olga", "operator"), user("Dora", "designer"), user("Off", "operator", active=False))
    await add(store, replace(key("deploy", "operator"), owner=owner))

    assert await StoredDirectory(now).may(store, "", "deploy", WANTED) is allowed


async def test_all_accounts_of_one_name_need_the_permissions(store: Store) -> None:
    await add(store, user("Olga", "operator"), User(id="other", name="Olga", roles=("viewer",), created=NOW))

    assert not await StoredDirectory(now).may(store, "", "Olga", WANTED)


async def test_without_users_sign_in_is_off(store: Store) -> None:
    assert await StoredDirectory(now).may(store, "", "stranger", WANTED)


async def test_users_of_another_tenant_do_not_count(store: Store) -> None:
    await add(store, user("Olga", "operator"))

    assert await StoredDirectory(now).may(store, "acme", "Olga", WANTED)
