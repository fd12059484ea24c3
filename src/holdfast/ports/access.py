"""Who may come in: authentication is a port, from a request to a principal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class EndpointPolicies(Struct, frozen=True):
    """The policies that were registered, by name; a service of the engine."""

    by_name: Mapping[str, EndpointPolicy] = {}


Selector = Callable[[RequestFacts], str | None]
"""Finds in a request whom it names; None where it names nobody."""


def named_by(header: str, *query: str) -> Selector:
    """A selector that looks into a header, then into parameters of the query."""

    def select(request: RequestFacts) -> str | None:
        found = (request.headers.get(header), *(request.query.get(name) for name in query))
        return next((text for text in found if text), None)

    return select


class HttpSelectors(Struct, frozen=True, kw_only=True):
    """How a request to an HTTP endpoint names an instance or a correlation id. Register your own as a service."""

    instance: Selector = named_by("x-workflow-instance-id", "workflow_instance_id", "workflowInstanceId")
    correlation: Selector = named_by("x-correlation-id", "correlation_id", "correlationId")


class ResumeLinks(Protocol):
    """Makes links that resume an instance: whoever has one needs no other key, until it expires."""

    async def link(self, instance_id: str, bookmark_name: str, expires: datetime) -> str:
        """The whole address. `bookmark_name` is the stimulus that a call of it sends to the instance, now or later."""
