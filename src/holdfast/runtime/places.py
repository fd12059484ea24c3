"""Places per value for the whole cluster: who holds how many, and what is left of the allowance per second.

The values of an input share a few records of the store, each changed by compare-and-set. A record holds only values that are in
use or whose allowance is not full again; places of a node that is not alive are free.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, json
from msgspec.structs import replace

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.runtime.allowance import Limit
from holdfast.runtime.permits import JITTER, KIND, TRIES

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

logger = logging.getLogger("holdfast")

RECORDS = 16
"""Of one input: so that few values wait for each other."""


class Use(Struct, frozen=True, kw_only=True):
    """Of one value."""

    held: Mapping[str, int] = {}
    """By node and life."""
    tokens: float
    filled: datetime


class Places:
    def __init__(self, node: Node, name: str, limit: Limit) -> None:
        self._node = node
        self._name = name
        self._limit = limit
        self._burst = max(1.0, limit.per_second or 0.0)
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
        record = f"{self._name}/{int(value[:2], 16) % RECORDS:x}"
        try:
            async with self._locks.setdefault(record, asyncio.Lock()):
                for attempt in range(TRIES):
                    done = await self._changed(record, value, begins=begins)
                    if done is not None:
                        return done
                    await asyncio.sleep(random.uniform(0, JITTER * (attempt + 1)))
        except StoreError:
            logger.warning("the limit %s could not be read", self._name, exc_info=True)
        return False

    async def _changed(self, record: str, value: str, *, begins: bool) -> bool | None:
        """Whether it may be; None if somebody else was faster."""
        node, store = self._node, self._node.store
        now, row = await store.now(), await store.get_record(node.tenant, KIND, record)
        alive = {f"{item.owner.node}.{item.owner.boot}" for item in await store.list_nodes() if item.alive_at(now)}
        stored = {} if row is None else json.decode(row.payload, type=dict[str, Use])
        uses = {name: kept for name, use in stored.items() if (kept := self._kept(use, alive, now)) is not None}
        use = uses.get(value) or Use(tokens=self._burst, filled=now)
        me, mine = f"{node.owner.node}.{node.owner.boot}", self._mine[value]
        others = {name: count for name, count in use.held.items() if name != me}
        if begins and not self._fits(sum(others.values()) + mine, use.tokens):
            return False
        spent = 1.0 if begins and self._limit.per_second is not None else 0.0
        changed = Use(held={**others, **({me: mine} if mine else {})}, tokens=use.tokens - spent, filled=now)
        new = {**uses, value: changed}
        if not changed.held and changed.tokens >= self._burst:
            del new[value]
        if row is not None and new == stored:
            return True
        made = RecordRow(tenant=node.tenant, kind=KIND, id=record, created=now, updated=now, payload=json.encode(new))
        written = await store.put_record(made if row is None else replace(made, version=row.version + 1))
        return True if written else None

    def _fits(self, running: int, tokens: float) -> bool:
        limit = self._limit
        return (limit.concurrency is None or running <= limit.concurrency) and (limit.per_second is None or tokens >= 1)

    def _kept(self, use: Use, alive: set[str], now: datetime) -> Use | None:
        """Without the dead, its allowance filled up to now; None if there is nothing to know."""
        held = {name: count for name, count in use.held.items() if name in alive}
        rate = self._limit.per_second
        filled = max(0.0, (now - use.filled).total_seconds()) * (rate or 0.0)
        tokens = self._burst if rate is None else min(self._burst, use.tokens + filled)
        return None if not held and tokens >= self._burst else Use(held=held, tokens=tokens, filled=now)
