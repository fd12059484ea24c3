"""Payloads of sign-in and accounts."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from holdfast.server.schemas.base import Payload, Request


class AuthInfo(Payload):
    auth: str = Field(description="Sign-in method: `password`, or `none` if every local caller is trusted.")
    version: str


class SignInRequest(Request):
    user: str = Field(max_length=256)
    password: str = Field(max_length=1024)


class RefreshRequest(Request):
    refresh_token: str = Field(max_length=512)


class SignOutRequest(Request):
    everywhere: bool = Field(default=False, description="End every session of this user, not only this one.")


class PasswordRequest(Request):
    current: str = Field(max_length=1024)
    password: str = Field(max_length=1024)


class Me(Payload):
    id: str
    name: str
    tenant: str
    roles: list[str]
    permissions: list[str]


class Tokens(Payload):
    access_token: str
    refresh_token: str
    expires_in: int = Field(description="Seconds until the access token must be refreshed.")
    user: Me


class UserItem(Payload):
    id: str
    name: str
    roles: list[str]
    active: bool
    is_service: bool = Field(description="A service account: it has no password; API keys belong to it.")
    created: datetime


class NewUser(Request):
    user: str = Field(max_length=256, description="The name to sign in with.")
    password: str | None = Field(default=None, max_length=1024, description="Required, except for a service account.")
    is_service: bool = Field(default=False, description="Create a service account.")
    name: str | None = Field(default=None, max_length=200)
    roles: list[str] = Field(default=[], max_length=50)


class UserChange(Request):
    name: str | None = Field(default=None, max_length=200)
    roles: list[str] | None = Field(default=None, max_length=50)
    active: bool | None = None
    password: str | None = Field(default=None, max_length=1024)


class RoleItem(Payload):
    name: str
    permissions: list[str]
    built_in: bool


class RoleRequest(Request):
    permissions: list[str] = Field(max_length=100)


class KeyItem(Payload):
    id: str
    name: str
    roles: list[str]
    created: datetime
    created_by: str
    owner: str = Field(description="The user or service account that the key belongs to; it ends with it.")
    expires: datetime | None
    last_used: datetime | None = Field(description="Time of a recent use, up to an hour old.")


class NewKey(Request):
    name: str = Field(max_length=200, description="Purpose of the key.")
    roles: list[str] = Field(max_length=50)
    owner: str | None = Field(
        default=None, max_length=256, description="A service account that the key belongs to. Default: the caller."
    )
    expires: datetime | None = Field(default=None, description="Default: after the setting `api_key_time`.")


class MadeKey(KeyItem):
    key: str = Field(description="The key itself. Only this response contains it.")
