"""`/api/auth`: sign in, refresh, sign out, and the current principal."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Request, Response

from holdfast import __version__
from holdfast.errors import AccountRefused
from holdfast.identity.accounts import SignedIn
from holdfast.identity.api_keys import PREFIX as KEY_PREFIX
from holdfast.model.principal import Principal
from holdfast.server.routing import Routes
from holdfast.server.schemas.accounts import (
    AuthInfo,
    Me,
    PasswordRequest,
    RefreshRequest,
    SignInRequest,
    SignOutRequest,
    Tokens,
)
from holdfast.server.security import accounts_of, public, signed_in

router = Routes("/auth", tags=["auth"])

DEVICE_COOKIE = "holdfast_device"
DEVICE_TIME = timedelta(days=180)


@router.get("/info", dependencies=[public()])
async def info(request: Request) -> AuthInfo:
    """Sign-in method of this server; open to everyone."""
    return AuthInfo(auth=request.app.state.security.mode, version=__version__)


@router.post("/login", dependencies=[public()])
async def login(request: Request, response: Response, body: SignInRequest) -> Tokens:
    """Sign in by name and password. The response sets a cookie that makes this device known: failures of others do not delay
    its next sign-in."""
    signed = await accounts_of(request).sign_in(
        body.user, body.password, address=_address(request), device_token=request.cookies.get(DEVICE_COOKIE)
    )
    response.set_cookie(
        DEVICE_COOKIE,
        signed.device,
        max_age=int(DEVICE_TIME.total_seconds()),
        path=f"{request.app.state.backend.base_path}/api/auth",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return _tokens(signed)


@router.post("/refresh", dependencies=[public()])
async def refresh(request: Request, body: RefreshRequest) -> Tokens:
    """Exchange a refresh token for a new pair of tokens. The refresh token becomes invalid."""
    return _tokens(await accounts_of(request).refresh(body.refresh_token))


@router.post("/logout", status_code=204)
async def logout(request: Request, who: Annotated[Principal, signed_in()], body: SignOutRequest | None = None) -> None:
    """End this session, or all sessions of this user. A no-op without a session (API key, or sign-in turned off)."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and not token.strip().startswith(
        KEY_PREFIX
    ):  # an API key may be sent as a bearer token
        await accounts_of(request).sign_out(token.strip(), everywhere=body is not None and body.everywhere)


@router.get("/me")
async def me(who: Annotated[Principal, signed_in()]) -> Me:
    """The current principal and its permissions."""
    return me_of(who)


@router.post("/password", status_code=204)
async def password(request: Request, who: Annotated[Principal, signed_in()], body: PasswordRequest) -> None:
    """Change my own password. This ends all my sessions."""
    accounts = accounts_of(request)
    user = await accounts.users.find(who.id)
    if user is None:
        raise AccountRefused(f"'{who.name}' is not a user with a password.")
    await accounts.verify_own_password(user, body.current)
    await accounts.change_password(user.id, body.password)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def me_of(principal: Principal) -> Me:
    return Me(
        id=principal.id,
        name=principal.name,
        tenant=principal.tenant,
        roles=sorted(principal.roles),
        permissions=sorted(principal.permissions),
    )


def _tokens(signed: SignedIn) -> Tokens:
    return Tokens(
        access_token=signed.access_token,
        refresh_token=signed.refresh_token,
        expires_in=int(signed.expires_in.total_seconds()),
        user=me_of(signed.principal),
    )
