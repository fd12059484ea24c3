"""Who may come in: authentication is a port, from a request to a principal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from holdfast.model.principal import Principal


class RequestFacts(Struct, frozen=True, kw_only=True):
    """What is known of a request before its body is read."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    query: Mapping[str, str]
    client: str | None = None
    """The address of the other side, as far as proxies that we trust tell it."""


class Authenticator(Protocol):
    """Tells whom a request comes from.

    Several are asked one after the other; the first that knows the caller answers. Return None where the request
    carries nothing for you; raise `NotSignedIn` where it does and that is wrong, so that nobody else is asked.
    """

    async def authenticate(self, request: RequestFacts) -> Principal | None: ...


class EndpointPolicy(Protocol):
    """A rule for HTTP endpoints, registered by its name: whether this caller may use this endpoint.

    Asked after authentication, so `principal` is None only where the endpoint does not ask for one.
    """

    async def __call__(self, principal: Principal | None, request: RequestFacts) -> bool: ...


class ResumeLinks(Protocol):
    """Makes links that resume an instance: whoever has one needs no other key, until it expires."""

    async def link(self, instance_id: str, bookmark_name: str, expires: datetime) -> str:
        """The whole address. `bookmark_name` is the stimulus that a call of it sends to the instance, now or later."""
