"""A limit per value of an input for the whole cluster, such as two steps at a time for each customer.

The values of an input share a few records (`ledger.py`). A record stores only values that are in use, or whose tokens are not
full again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime

from msgspec import json

from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.ledger import Ledger, LedgerEntry, full_entry
from holdfast.runtime.steps.limits.spec import Limit

RECORDS_PER_INPUT = 16
"""Values in different records do not wait for each other."""


class ClusterLimitPerValue:
    def __init__(
        self, store: Store, membership: Membership, log: OutageLog, tenant: str, name: str, limit: Limit
    ) -> None:
        """`name` is `<queue>/<input>`."""
        self._ledger = Ledger(store, membership, log, tenant)
        self._name = name
        self._limit = limit
        self._held: Counter[str] = Counter()
        """Places of this node by value, for steps that run or are about to start."""
        self._locks: dict[str, asyncio.Lock] = {}

    async def take(self, value: str) -> bool:
        """Take one place of a value; False if the limit is reached."""
        self._held[value] += 1
        if await self._change(value, starts=True):
            return True
        await self.give_back(value)
        return False

    async def give_back(self, value: str) -> None:
        self._held[value] -= 1
        if not self._held[value]:
            del self._held[value]
        await self._change(value, starts=False)

    async def _change(self, value: str, *, starts: bool) -> bool:
        """Write the places of this node; with `starts` only if the limit allows one more."""

        def change(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, bool]:
            return self._changed(value, payload, now, alive, starts=starts)

        record = f"{self._name}/{int(value[:2], 16) % RECORDS_PER_INPUT:x}"
        async with self._locks.setdefault(record, asyncio.Lock()):
            return bool(await self._ledger.update(record, change, f"the limit {self._name}"))

    def _changed(
        self, value: str, payload: bytes | None, now: datetime, alive: set[str], *, starts: bool
    ) -> tuple[bytes | None, bool]:
        stored = {} if payload is None else json.decode(payload, type=dict[str, LedgerEntry])
        entries = {name: entry.at(now, alive, self._limit) for name, entry in stored.items()}
        entry = entries.get(value) or full_entry(self._limit, now)
        me, held = self._ledger.holder, self._held[value]
        others = entry.held_by_others(me)
        if starts and not self._fits(sum(others.values()) + held, entry.tokens):
            return None, False
        spent = 1.0 if starts and self._limit.per_second is not None else 0.0
        entries[value] = LedgerEntry(
            held={**others, **({me: held} if held else {})}, tokens=entry.tokens - spent, filled=now
        )
        new = {name: kept for name, kept in entries.items() if kept.held or kept.tokens < self._limit.burst}
        return (None if payload is not None and new == stored else json.encode(new)), True

    def _fits(self, running: int, tokens: float) -> bool:
        limit = self._limit
        return (limit.concurrency is None or running <= limit.concurrency) and (limit.per_second is None or tokens >= 1)
