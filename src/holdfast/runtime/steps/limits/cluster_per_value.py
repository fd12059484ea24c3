"""Places per value for the whole cluster, each taken for one step: two at a time for each customer, say.

The values of an input share a few records (`tally.py`). A record holds only values that are in use or whose allowance is not full
again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import json

from holdfast.runtime.steps.limits.ledger import Tally, agree, burst_of, life
from holdfast.runtime.steps.limits.spec import Limit

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

RECORDS = 16
"""Of one input: so that few values wait for each other."""


class Places:
    def __init__(self, node: Node, name: str, limit: Limit) -> None:
        self._node = node
        self._name = name
        self._limit = limit
        self._mine: Counter[str] = Counter()
        """What runs here, or is about to."""
        self._locks: dict[str, asyncio.Lock] = {}

    async def take(self, value: str) -> bool:
        self._mine[value] += 1
        if await self._change(value, begins=True):
            return True
        await self.give_back(value)
        return False

    async def give_back(self, value: str) -> None:
        self._mine[value] -= 1
        if not self._mine[value]:
            del self._mine[value]
        await self._change(value, begins=False)

    async def _change(self, value: str, *, begins: bool) -> bool:
        """Write what this node holds; with `begins` only if one more may be there."""

        def change(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, bool]:
            return self._changed(value, payload, now, alive, begins=begins)

        record = f"{self._name}/{int(value[:2], 16) % RECORDS:x}"
        async with self._locks.setdefault(record, asyncio.Lock()):
            return bool(await agree(self._node, record, change, f"the limit {self._name}"))

    def _changed(
        self, value: str, payload: bytes | None, now: datetime, alive: set[str], *, begins: bool
    ) -> tuple[bytes | None, bool]:
        stored = {} if payload is None else json.decode(payload, type=dict[str, Tally])
        full = burst_of(self._limit)
        tallies = {name: tally.at(now, alive, self._limit) for name, tally in stored.items()}
        tally = tallies.get(value) or Tally(tokens=full, filled=now)
        me, mine = life(self._node.owner), self._mine[value]
        others = tally.others(me)
        if begins and not self._fits(sum(others.values()) + mine, tally.tokens):
            return None, False
        spent = 1.0 if begins and self._limit.per_second is not None else 0.0
        tallies[value] = Tally(held={**others, **({me: mine} if mine else {})}, tokens=tally.tokens - spent, filled=now)
        new = {name: kept for name, kept in tallies.items() if kept.held or kept.tokens < full}
        return (None if payload is not None and new == stored else json.encode(new)), True

    def _fits(self, running: int, tokens: float) -> bool:
        limit = self._limit
        return (limit.concurrency is None or running <= limit.concurrency) and (limit.per_second is None or tokens >= 1)
