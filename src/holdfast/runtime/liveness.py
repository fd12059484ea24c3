"""Liveness of this node: when its lease was last renewed, and whether it may still start effects.

The heartbeat writes it; every component that starts effects reads it. A node that has not renewed its lease for two thirds
of its time to live starts no effects: other nodes may take them over soon.
"""

from __future__ import annotations

import time
from datetime import timedelta

from holdfast.model.cluster import NodeState

BEATS_PER_LEASE = 3
"""Minimum number of heartbeats within one time to live."""


class Liveness:
    def __init__(self, time_to_live: timedelta, beat_every: timedelta | None = None) -> None:
        self.time_to_live = time_to_live
        self.beat_every = beat_every
        self.renewed_at = time.monotonic()
        self.state = NodeState.LIVE
        self.fenced = False
        """A later boot of this node has registered: this one must not start anything."""

    @property
    def beat_seconds(self) -> float:
        """Seconds between two heartbeats."""
        longest = self.time_to_live / BEATS_PER_LEASE
        return min(longest if self.beat_every is None else self.beat_every, longest).total_seconds()

    @property
    def may_start_effects(self) -> bool:
        silent = time.monotonic() - self.renewed_at
        return not self.fenced and silent < self.time_to_live.total_seconds() * 2 / 3
