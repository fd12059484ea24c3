"""Port of outlets: publish committed lifecycle events of instances outside the database."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct


class LifecycleEvent(Struct, frozen=True, kw_only=True):
    """A change of an instance, published after the commit that caused it."""

    id: str
    """Equal in every delivery of this event: use it to drop duplicates."""
    event: str
    """`instance.started`, `.resumed`, `.suspended`, `.finished`, `.faulted`, `.canceled`, `.pending`, or `segment.committed`."""
    at: datetime
    tenant: str
    instance_id: str
    definition_id: str
    definition_version: int
    status: str
    version: int
    """Version of the instance; orders its events."""
    correlation_id: str | None = None
    parent_id: str | None = None
    principal: str | None = None
    data: dict[str, Any] = {}


class Outlet(Protocol):
    """Publishes lifecycle events to a webhook, a broker or a log.

    Each event is a row of the commit that caused it. Delivery is at-least-once and unordered. If `deliver` raises, the
    event is retried later by any node that has an outlet of that name.
    """

    @property
    def name(self) -> str:
        """Topic of its rows; must be equal on every node."""

    @property
    def events(self) -> Collection[str]:
        """Events to deliver; empty means all."""

    async def deliver(self, event: LifecycleEvent) -> None: ...


@runtime_checkable
class ClosableOutlet(Protocol):
    """An outlet that holds a connection; the node closes it."""

    async def close(self) -> None: ...
