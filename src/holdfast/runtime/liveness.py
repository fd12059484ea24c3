"""Liveness of this node: when its lease was last renewed, and whether it may still start effects.

The heartbeat writes it; every component that starts effects reads it. A node that has not renewed its lease for two thirds
of its time to live starts no effects: other nodes may take them over soon.

It also tells apart a dead node and a database that was away for all nodes. A lease that ran out proves the death of its
node only if this node could reach the database for the whole time of that lease: otherwise the other node may be about to
renew it.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from holdfast.model.cluster import NodeRow, NodeState

BEATS_PER_LEASE = 3
"""Minimum number of heartbeats within one time to live."""


class Liveness:
    def __init__(self, time_to_live: timedelta, beat_every: timedelta | None = None) -> None:
        self.time_to_live = time_to_live
        self.beat_every = beat_every
        self.renewed_at = self.contact_since = time.monotonic()
        """When the last renewal began; since when this node can reach the database without a long gap."""
        self.state = NodeState.LIVE
        self.fenced = False
        """A later boot of this node has registered: this one must not start anything."""

    @property
    def beat_seconds(self) -> float:
        """Seconds between two heartbeats."""
        longest = self.time_to_live / BEATS_PER_LEASE
        return min(longest if self.beat_every is None else self.beat_every, longest).total_seconds()

    def begin(self) -> None:
        """The node has registered, so its lease begins now."""
        self.renewed_at = self.contact_since = time.monotonic()

    def renew(self, begun: float) -> None:
        """The lease was renewed by a request that began at this time."""
        if begun <= self.renewed_at:
            return  # Reported twice: by the thread of the heartbeat and by the event loop.
        now = time.monotonic()
        if now - self.renewed_at > self.time_to_live.total_seconds() / 2:
            self.contact_since = now
        self.renewed_at = begun

    def may_renew(self, node: NodeRow, now: datetime) -> bool:
        """Whether a node whose lease ran out may be alive, because the database was perhaps away for it too."""
        contact = time.monotonic() - self.contact_since
        return (
            node.state is not NodeState.LEFT and not node.alive_at(now) and contact < node.time_to_live.total_seconds()
        )

    @property
    def may_start_effects(self) -> bool:
        return not self.fenced and self.seconds_left > 0

    @property
    def seconds_left(self) -> float:
        """Seconds for which this node may start effects without another renewal."""
        return self.time_to_live.total_seconds() * 2 / 3 - (time.monotonic() - self.renewed_at)
