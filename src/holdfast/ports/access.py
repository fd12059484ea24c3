"""Port of authentication and authorization: identifies the principal of a request and applies endpoint policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from holdfast.model.principal import Principal
from holdfast.ports.store import RecordStore


class RequestFacts(Struct, frozen=True, kw_only=True):
    """The parts of a request that are known before its body is read."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Keys are lower case."""
    query: Mapping[str, str]
    client: str | None = None
    """Address of the client, as reported by trusted proxies."""


class Authenticator(Protocol):
    """Identifies the principal of a request.

    Authenticators are called in order until one returns a principal. Return None if the request carries no credentials of
    your kind. Raise `NotSignedIn` if it carries invalid ones: later authenticators are then not called.
    """

    async def authenticate(self, request: RequestFacts) -> Principal | None: ...


class PrincipalDirectory(Protocol):
    """Looks up the permissions of a principal by the name that an instance stores. A service of the engine: register your own
    if accounts are managed outside of Holdfast."""

    async def may(self, store: RecordStore, tenant: str, principal: str, permissions: Iterable[str]) -> bool:
        """Whether the principal has all of these permissions now. True if sign-in is off."""


class EndpointPolicy(Protocol):
    """A named rule that decides whether a caller may use an HTTP endpoint.

    Called after authentication: `principal` is None only if the endpoint allows anonymous requests.
    """

    async def __call__(self, principal: Principal | None, request: RequestFacts) -> bool: ...


class EndpointPolicies(Struct, frozen=True):
    """Registered policies by name; a service of the engine."""

    by_name: Mapping[str, EndpointPolicy] = {}


Selector = Callable[[RequestFacts], str | None]
"""Reads an id from a request; None if the request has none."""


def named_by(header: str, *query: str) -> Selector:
    """A selector that reads a header, then query parameters, and returns the first that is set."""

    def select(request: RequestFacts) -> str | None:
        found = (request.headers.get(header), *(request.query.get(name) for name in query))
        return next((text for text in found if text), None)

    return select


class HttpSelectors(Struct, frozen=True, kw_only=True):
    """Selectors for the instance id and the correlation id of a request to an HTTP endpoint. Register your own as a
    service."""

    instance: Selector = named_by("x-workflow-instance-id", "workflow_instance_id", "workflowInstanceId")
    correlation: Selector = named_by("x-correlation-id", "correlation_id", "correlationId")


class ResumeLinks(Protocol):
    """Creates links that resume an instance. The link is the only credential that its holder needs until it expires."""

    async def link(self, instance_id: str, bookmark_name: str, expires: datetime) -> str:
        """The complete URL. A request to it sends the stimulus `bookmark_name` to the instance, now or later."""
