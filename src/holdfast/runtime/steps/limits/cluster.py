"""A limit of a queue for the whole cluster: steps at a time and starts per second, on all nodes together.

A node takes places for many steps at once and keeps them while it has work for them. One record per queue (`ledger.py`) stores
how many places each node holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from msgspec import json

from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.ledger import Ledger, LedgerEntry, full_entry
from holdfast.runtime.steps.limits.spec import Limit

POLL_SECONDS = 0.25
"""Longest pause until a full limit is checked again."""

Used = Callable[[], int]
"""Counts the steps of this node that run or start now."""


class ClusterLimit:
    """The share of this node in the limit of one queue."""

    def __init__(
        self, store: Store, membership: Membership, log: OutageLog, tenant: str, queue: str, limit: Limit
    ) -> None:
        self._ledger = Ledger(store, membership, log, tenant)
        self._queue = queue
        self._limit = limit
        self.held = 0
        """Places that this node holds."""
        self.tokens = 0
        """Starts that this node took from the rate and has not used."""
        self.reserved = 0
        """Places reserved for callers that look for work now."""
        self._lock = asyncio.Lock()
        """A place that is being returned must not be reserved meanwhile."""

    @property
    def poll_seconds(self) -> float:
        """Seconds until there may be room again."""
        return POLL_SECONDS if self._limit.per_second is None else min(POLL_SECONDS, 1.0 / self._limit.per_second)

    async def reserve(self, wanted: int, used: Used) -> int:
        """Reserve places for at most so many steps; they stay reserved until `settle`."""
        async with self._lock:
            if self._room(wanted, used) < wanted:
                await self._change(wanted, used)
            room = max(0, self._room(wanted, used))
            self.reserved += room
            return room

    def settle(self, reserved: int, started: int) -> None:
        """End a reservation, of which so many steps were started."""
        self.reserved -= reserved
        if self._limit.per_second is not None:
            self.tokens -= started

    async def give_back(self, used: Used) -> None:
        """Return places and tokens that this node does not use."""
        async with self._lock:
            if self.held > used() + self.reserved or self.tokens > self.reserved:
                await self._change(0, used)

    def _room(self, wanted: int, used: Used) -> int:
        if self._limit.concurrency is not None:
            wanted = min(wanted, self.held - used() - self.reserved)
        return wanted if self._limit.per_second is None else min(wanted, self.tokens - self.reserved)

    # -- the record ----------------------------------------------------------------------------------------------------

    async def _change(self, wanted: int, used: Used) -> None:
        """Take places for so many more steps, or return the places beyond those in use."""

        def change(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, tuple[int, int]]:
            return self._changed(wanted, used() + self.reserved, payload, now, alive)

        # Before the write: it may return places and fail after that, and another node may use them at once.
        self.held = min(self.held, used() + self.reserved + wanted)
        answer = await self._ledger.update(self._queue, change, f"the limit of queue {self._queue}")
        if answer is not None:
            self.held, taken = answer
            self.tokens += taken

    def _changed(
        self, wanted: int, used: int, payload: bytes | None, now: datetime, alive: set[str]
    ) -> tuple[bytes | None, tuple[int, int]]:
        """The new payload, with the places that this node holds then and the tokens that it takes."""
        stored = None if payload is None else json.decode(payload, type=LedgerEntry)
        entry = (stored or full_entry(self._limit, now)).at(now, alive, self._limit)
        me = self._ledger.holder
        others = entry.held_by_others(me)
        held, taken = self._places(used + wanted, others), self._tokens_to_take(wanted, entry.tokens)
        left = min(self._limit.burst, entry.tokens - taken)
        new = LedgerEntry(held={**others, **({me: held} if held else {})}, tokens=left, filled=now)
        is_unchanged = stored is not None and new.held == stored.held and not taken
        return (None if is_unchanged else json.encode(new)), (held, taken)

    def _places(self, wanted: int, others: Mapping[str, int]) -> int:
        if self._limit.concurrency is None:
            return 0
        return max(0, min(wanted, self._limit.concurrency - sum(others.values())))

    def _tokens_to_take(self, wanted: int, tokens: float) -> int:
        """Tokens to take from the record; a negative number returns tokens."""
        spare = self.tokens - self.reserved
        if self._limit.per_second is None:
            return 0
        return -spare if wanted == 0 else min(max(0, wanted - spare), int(tokens))
