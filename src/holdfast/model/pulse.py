"""The pulse of a store: answers to the periodic questions of a node, read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from holdfast.model.cluster import NodeRow


class Pulse(Struct, frozen=True, kw_only=True):
    now: datetime
    """The store's clock."""
    epoch: int
    """The epoch of the definitions."""
    nodes: Sequence[NodeRow]
    until_due: Mapping[str, timedelta]
    """Time until the first row of each queue is due, of the queues that have rows. Not positive: a row is due."""
    next_schedule: datetime | None
    """When the first schedule of any tenant is due."""
    has_lost_effects: bool
    """Effects whose owner is not alive."""
    has_waiting_effects: bool
    """Effects without an owner."""
    has_own_effects: bool
    """Effects of the node that asks."""
    has_inbox: bool
    has_outbox: bool
