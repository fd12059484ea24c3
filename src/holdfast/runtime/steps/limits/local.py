"""A limit of a queue on this node: a concurrency limit and a token bucket, in memory."""

from __future__ import annotations

import time

from holdfast.runtime.steps.limits.spec import Limit

UNLIMITED = 1_000_000
POLL_SECONDS = 1.0
"""Longest pause until a full limit is checked again."""


class LocalLimit:
    """After a pause, at most one second's worth of steps starts at once."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._filled_at = time.monotonic()
        self._tokens = limit.burst

    def room(self, running: int) -> int:
        """How many more steps may start while so many run."""
        limit = self._limit
        free = UNLIMITED if limit.concurrency is None else limit.concurrency - running
        if limit.per_second is None:
            return free
        now = time.monotonic()
        self._tokens = min(limit.burst, self._tokens + (now - self._filled_at) * limit.per_second)
        self._filled_at = now
        return min(free, int(self._tokens))

    def take(self, count: int) -> None:
        """Spend tokens for steps that start; a negative count returns tokens."""
        self._tokens -= count

    @property
    def poll_seconds(self) -> float:
        """Seconds until there may be room again."""
        return POLL_SECONDS if self._limit.per_second is None else min(POLL_SECONDS, 1.0 / self._limit.per_second)
