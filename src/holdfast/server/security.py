"""Authentication and authorization: the principal of a request, and the permission that each route requires.

A route names its permission once: `dependencies=[requires("definitions:read")]`, or, if it needs the principal,
`who: Annotated[Principal, requires("definitions:read")]`. `signed_in` accepts every known principal, `public` marks a route
as open to everyone. A test walks all routes and fails on a route without any of them.

Without sign-in every caller is an admin, so only this machine may call: the client's address must be loopback, and the Host
and Origin headers must name this machine. Otherwise a foreign page could send requests through the user's browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends
from starlette.requests import HTTPConnection
from starlette.types import Scope

from holdfast.errors import AccountNotFound, NotSignedIn, PermissionDenied, SettingsError, StoreUnavailable
from holdfast.identity.accounts import Accounts
from holdfast.model.principal import LOCAL, PERMISSIONS, Principal
from holdfast.ports.access import Authenticator, RequestFacts

PUBLIC = ""
SIGNED_IN = "*"


def is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_in(address: str) -> str | None:
    """None if the address cannot be parsed."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def check_open_address(host: str) -> None:
    """Refuse to serve without sign-in on an address that other machines can reach."""
    if not is_loopback(host):
        raise SettingsError(
            f"Without sign-in the server binds only to this machine, not to '{host}'. "
            "Use 127.0.0.1, or leave sign-in on."
        )


def check_local(request: RequestFacts) -> None:
    """Raises `NotSignedIn` unless the request comes from this machine, by this machine's name, and from no foreign page."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    is_here = is_loopback(request.client) and is_loopback(_host_in(f"//{host}"))
    if not is_here or (origin is not None and not is_loopback(_host_in(origin))):
        raise NotSignedIn("This server runs without sign-in and answers only this machine, as 127.0.0.1 or localhost.")


class LoopbackAdmin:
    """An authenticator that treats every caller on this machine as an admin."""

    async def authenticate(self, request: RequestFacts) -> Principal | None:
        check_local(request)
        return LOCAL


class Security:
    """Tries the authenticators in order."""

    def __init__(
        self, authenticators: Sequence[Authenticator], *, accounts: Accounts | None = None, mode: str = "password"
    ) -> None:
        self.authenticators = tuple(authenticators)
        self.accounts = accounts
        """For the routes of sign-in and accounts; None if accounts are managed elsewhere."""
        self.mode = mode
        """`password` or `none`, as reported by `/api/auth/info`."""

    @classmethod
    def of_accounts(cls, accounts: Accounts) -> Security:
        """Users and API keys in the store."""
        return cls([accounts], accounts=accounts)

    @classmethod
    def open(cls, accounts: Accounts | None = None) -> Security:
        """No sign-in."""
        return cls([LoopbackAdmin()], accounts=accounts, mode="none")

    async def principal(self, request: RequestFacts) -> Principal | None:
        for authenticator in self.authenticators:
            found = await authenticator.authenticate(request)
            if found is not None:
                return found
        return None

    def remembered(self, request: RequestFacts) -> Principal | None:
        """The cached principal, for responses that need no store while it is unavailable."""
        return None if self.accounts is None or self.mode == "none" else self.accounts.cached_principal(request)


def facts_of(scope: Scope) -> RequestFacts:
    query, client = scope["query_string"], scope.get("client")
    return RequestFacts(
        method=scope.get("method", "GET"),
        path=scope["path"],
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])},
        query=dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)) if query else {},
        client=client[0] if client else None,
    )


async def who_asks(connection: HTTPConnection) -> Principal | None:
    """The principal of this request, authenticated once."""
    state = connection.state
    if not hasattr(state, "principal"):
        security: Security = connection.app.state.security
        state.principal = await security.principal(facts_of(connection.scope))
    found: Principal | None = state.principal
    return found


async def admit(connection: HTTPConnection, permission: str, *, without_store: bool = False) -> Principal:
    """The principal with this permission; raises `NotSignedIn` or `PermissionDenied`. While the store is
    unavailable, `without_store` also accepts principals that were authenticated within the last hour."""
    try:
        found = await who_asks(connection)
    except StoreUnavailable:
        security: Security = connection.app.state.security
        found = security.remembered(facts_of(connection.scope)) if without_store else None
        if found is None:
            raise
    return admitted(found, permission)


def admitted(principal: Principal | None, permission: str) -> Principal:
    if principal is None:
        raise NotSignedIn("Sign in first: send 'Authorization: Bearer …' or 'X-Api-Key: …'.")
    if permission != SIGNED_IN and not principal.may(permission):
        raise PermissionDenied(permission, principal.name)
    return principal


def accounts_of(connection: HTTPConnection) -> Accounts:
    accounts: Accounts | None = connection.app.state.security.accounts
    if accounts is None:
        raise AccountNotFound("account store here; this server uses external accounts:", "accounts")
    return accounts


def requires(permission: str, *, without_store: bool = False) -> Any:
    """A dependency: the caller needs this permission; returns the `Principal`. `without_store`: see `admit`."""
    if permission not in PERMISSIONS and permission != SIGNED_IN:
        raise ValueError(f"Unknown permission '{permission}'. Known: {', '.join(PERMISSIONS)}.")

    async def ask(connection: HTTPConnection) -> Principal:
        return await admit(connection, permission, without_store=without_store)

    return Depends(marked(ask, permission))


def signed_in() -> Any:
    """A dependency: any authenticated caller; returns the `Principal`."""
    return requires(SIGNED_IN)


def public() -> Any:
    """A dependency without a check: it marks the route as intentionally open."""

    async def ask() -> None:
        return None

    return Depends(marked(ask, PUBLIC))


def marked(dependency: Callable[..., Any], permission: str) -> Callable[..., Any]:
    """Marks the dependency, so that `permissions_of` can read the permission of a route."""
    dependency.permission = permission  # type: ignore[attr-defined]
    return dependency


def permissions_of(route: Any) -> frozenset[str]:
    """Permissions that a FastAPI route requires: `*` for any signed-in caller, the empty string for public; an empty set if the
    route declares none."""

    def search(dependant: Any) -> Iterator[str]:
        found = getattr(dependant.call, "permission", None)
        if found is not None:
            yield str(found)
        for part in dependant.dependencies:
            yield from search(part)

    return frozenset(search(route.dependant)) if hasattr(route, "dependant") else frozenset()
