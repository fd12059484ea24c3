"""The port of telling the world: where lifecycle events of instances go once they are committed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """Something that happened to an instance. It left the database after the commit that it tells of."""

    id: str
    """The same, however often it is delivered: drop what you have seen."""
    event: str
    """`instance.started`, `.resumed`, `.suspended`, `.finished`, `.faulted`, `.canceled`, `.pending`, or `segment.committed`."""
    at: datetime
    tenant: str
    instance_id: str
    definition_id: str
    definition_version: int
    status: str
    version: int
    """Of the instance: orders its events."""
    correlation_id: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    data: dict[str, Any] = {}


class Outlet(Protocol):
    """Takes lifecycle events out of the database: to a webhook, a broker, a log.

    Each event is a row of the commit that it tells of, and is delivered at least once, in no certain order. What `deliver`
    raises puts it back, to be tried again later, by any node that has an outlet of that name.
    """

    @property
    def name(self) -> str:
        """The topic of its rows: the same on every node."""

    @property
    def events(self) -> Collection[str]:
        """Which events it wants; empty wants all of them."""

    async def deliver(self, event: LifecycleEvent) -> None: ...


@runtime_checkable
class ClosableOutlet(Protocol):
    """An outlet that holds a connection: closed with the node."""

    async def close(self) -> None: ...
