"""`/api/users`, `/api/roles`, `/api/api-keys`: management of accounts.

Permissions cannot be escalated: a caller who grants a role, or changes a user, role or key, must hold every permission of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Request
from msgspec import UNSET

from holdfast.errors import AccountRefused, PermissionDenied
from holdfast.identity.accounts import Accounts
from holdfast.identity.api_keys import ApiKey
from holdfast.identity.roles import Role
from holdfast.identity.user import User
from holdfast.model.principal import Principal
from holdfast.server.routing import Routes
from holdfast.server.schemas.accounts import (
    KeyItem,
    MadeKey,
    NewKey,
    NewUser,
    RoleItem,
    RoleRequest,
    UserChange,
    UserItem,
)
from holdfast.server.schemas.base import Page
from holdfast.server.security import accounts_of, requires

router = Routes(tags=["accounts"])

KEY_ID = "key:"
"""Prefix of the principal ids of API keys."""
Writer = Annotated[Principal, requires("users:write")]


@router.get("/users", dependencies=[requires("users:read")])
async def list_users(request: Request) -> Page[UserItem]:
    found = [_user(item) for item in await accounts_of(request).users.list()]
    return Page(items=found, total=len(found))


@router.post("/users", status_code=201)
async def add_user(request: Request, who: Writer, body: NewUser) -> UserItem:
    """Add a user with a password, or a service account without one."""
    accounts = accounts_of(request)
    await _check_gift(accounts, who, body.roles)
    if body.is_service:
        if body.password is not None:
            raise AccountRefused("A service account has no password. Omit it, and create an API key for the account.")
        return _user(await accounts.users.add_service(body.user, roles=body.roles, name=body.name))
    if body.password is None:
        raise AccountRefused("A user needs a password. Send one, or create a service account with is_service.")
    return _user(await accounts.users.add(body.user, body.password, roles=body.roles, name=body.name))


@router.get("/users/{user}", dependencies=[requires("users:read")])
async def get_user(request: Request, user: str) -> UserItem:
    return _user(await accounts_of(request).users.get(user))


@router.patch("/users/{user}")
async def change_user(request: Request, who: Writer, user: str, body: UserChange) -> UserItem:
    """Omitted fields stay unchanged. A new password, or deactivating the account, ends the user's sessions."""
    accounts = accounts_of(request)
    before = await accounts.users.get(user)
    await _check_gift(accounts, who, [*before.roles, *(body.roles or ())])
    changed = await accounts.users.change(
        user,
        name=UNSET if body.name is None else body.name,
        roles=UNSET if body.roles is None else body.roles,
        active=UNSET if body.active is None else body.active,
    )
    if body.password is not None:
        changed = await accounts.change_password(user, body.password)
    elif body.active is False:
        await accounts.end_sessions(changed.id)
    accounts.clear_cache()
    return _user(changed)


@router.delete("/users/{user}", status_code=204)
async def remove_user(request: Request, who: Writer, user: str) -> None:
    accounts = accounts_of(request)
    await _check_gift(accounts, who, (await accounts.users.get(user)).roles)
    await accounts.remove_user(user)


@router.get("/roles", dependencies=[requires("users:read")])
async def list_roles(request: Request) -> Page[RoleItem]:
    found = [_role(item) for item in await accounts_of(request).roles.list()]
    return Page(items=found, total=len(found))


@router.put("/roles/{role}")
async def put_role(request: Request, who: Writer, role: str, body: RoleRequest) -> RoleItem:
    """The caller must also hold the role's current permissions, because other users depend on them."""
    accounts = accounts_of(request)
    _check_permissions(who, [*body.permissions, *await accounts.roles.permissions([role])])
    made = await accounts.roles.put(role, body.permissions)
    accounts.clear_cache()
    return _role(made)


@router.delete("/roles/{role}", status_code=204)
async def remove_role(request: Request, who: Writer, role: str) -> None:
    accounts = accounts_of(request)
    await _check_gift(accounts, who, [role])
    await accounts.roles.remove(role)
    accounts.clear_cache()


@router.get("/api-keys", dependencies=[requires("users:read")])
async def list_keys(request: Request) -> Page[KeyItem]:
    found = [KeyItem(**_key(item)) for item in await accounts_of(request).keys.list()]
    return Page(items=found, total=len(found))


@router.post("/api-keys", status_code=201)
async def add_key(request: Request, who: Writer, body: NewKey) -> MadeKey:
    """Create a key for the caller or for a service account. Only this response contains it."""
    accounts = accounts_of(request)
    await _check_gift(accounts, who, body.roles)
    owner = await _owner(accounts, who, body.owner)
    made, text = await accounts.keys.add(body.name, roles=body.roles, expires=body.expires, who=who.id, owner=owner)
    return MadeKey(**_key(made), key=text)


@router.delete("/api-keys/{key}", status_code=204)
async def remove_key(request: Request, who: Writer, key: str) -> None:
    accounts = accounts_of(request)
    await _check_gift(accounts, who, (await accounts.keys.get(key)).roles)
    await accounts.keys.remove(key)
    accounts.clear_cache()


async def _owner(accounts: Accounts, who: Principal, wanted: str | None) -> str:
    """The owner of a new key. Empty for callers that have no account here: their key belongs to the deployment."""
    if wanted is not None:
        account = await accounts.users.get(wanted)
        if account.id != who.id and not account.is_service:
            raise AccountRefused(f"'{account.id}' is another user. A key belongs to its maker or to a service account.")
        await _check_gift(accounts, who, account.roles)
        return account.id
    if who.id.startswith(KEY_ID):  # A key makes keys for its own owner.
        return (await accounts.keys.get(who.id.removeprefix(KEY_ID))).owner
    return "" if await accounts.users.find(who.id) is None else who.id


async def _check_gift(accounts: Accounts, who: Principal, roles: Iterable[str]) -> None:
    _check_permissions(who, await accounts.roles.permissions(roles))


def _check_permissions(who: Principal, permissions: Iterable[str]) -> None:
    for permission in sorted(set(permissions) - who.permissions):
        raise PermissionDenied(permission, who.name)


def _user(user: User) -> UserItem:
    return UserItem(
        id=user.id,
        name=user.name,
        roles=list(user.roles),
        active=user.active,
        is_service=user.is_service,
        created=user.created,
    )


def _role(role: Role) -> RoleItem:
    return RoleItem(name=role.name, permissions=list(role.permissions), built_in=role.built_in)


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "roles": list(key.roles),
        "created": key.created,
        "created_by": key.created_by,
        "owner": key.owner,
        "last_used": key.last_used,
        "expires": key.expires,
    }
