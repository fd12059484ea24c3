"""A limit of a queue for the whole cluster: so many steps at a time, so many per second, whichever nodes run them.

One record per queue holds how many places each node has, and the allowance per second. It changes by compare-and-set, so nobody
counts past the limit; places of a node that is not alive are free again. A node keeps its places while it has work for them.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, json
from msgspec.structs import replace

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.runtime.allowance import Limit

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

logger = logging.getLogger("holdfast")

KIND = "limit"
TRIES = 20
JITTER = 0.01
"""Seconds, at most, per lost compare-and-set."""


class Places(Struct, frozen=True, kw_only=True):
    """What the record of a queue says."""

    held: Mapping[str, int] = {}
    """By node and life."""
    tokens: float
    filled: datetime


class Permits:
    """What this node may begin of one queue."""

    def __init__(self, node: Node, queue: str, limit: Limit) -> None:
        self._node = node
        self._queue = queue
        self._limit = limit
        self._burst = max(1.0, limit.per_second or 0.0)
        self.held = 0
        """Places that are this node's."""
        self.tokens = 0
        """Beginnings that it took from the allowance and has not used."""
        self.reserved = 0
        """Promised to those who look for work now."""

    @property
    def patience(self) -> float:
        """Seconds until it is worth to ask again."""
        return 0.25 if self._limit.per_second is None else min(0.25, 1.0 / self._limit.per_second)

    async def reserve(self, wanted: int, used: int) -> int:
        """How many of these may begin, with so many at work; they are promised until `settle`."""
        used += self.reserved
        if self._room(wanted, used) < wanted:
            await self._change(wanted, used)
        room = max(0, self._room(wanted, used))
        self.reserved += room
        return room

    def settle(self, reserved: int, begun: int) -> None:
        self.reserved -= reserved
        if self._limit.per_second is not None:
            self.tokens -= begun

    async def give_back(self, used: int) -> None:
        """Others may have what is not in use."""
        if self.held > used + self.reserved or self.tokens > self.reserved:
            await self._change(0, used + self.reserved)

    def _room(self, wanted: int, used: int) -> int:
        if self._limit.concurrency is not None:
            wanted = min(wanted, self.held - used)
        return wanted if self._limit.per_second is None else min(wanted, self.tokens - self.reserved)

    # -- the record ----------------------------------------------------------------------------------------------------

    async def _change(self, wanted: int, used: int) -> None:
        """Take places for so many more, or give back what is beyond `used`."""
        try:
            for attempt in range(TRIES):
                if await self._changed(wanted, used):
                    return
                await asyncio.sleep(random.uniform(0, JITTER * (attempt + 1)))
        except StoreError:
            logger.warning("the limit of queue %s could not be read", self._queue, exc_info=True)

    async def _changed(self, wanted: int, used: int) -> bool:
        """False if somebody else was faster."""
        node, store = self._node, self._node.store
        now, row = await store.now(), await store.get_record(self._node.tenant, KIND, self._queue)
        alive = {_name(item.owner) for item in await store.list_nodes() if item.alive_at(now)}
        places = _read(row) if row is not None else Places(tokens=self._burst, filled=now)
        me = _name(node.owner)
        others = {name: count for name, count in places.held.items() if name in alive and name != me}
        held = self._places(used + wanted, others)
        tokens = self._refilled(places, now)
        taken = self._taken(wanted, tokens)
        left = min(self._burst, tokens - taken)
        new = Places(held={**others, **({me: held} if held else {})}, tokens=left, filled=now)
        if row is not None and new.held == places.held and not taken:
            self.held = held
            return True
        made = RecordRow(
            tenant=node.tenant, kind=KIND, id=self._queue, created=now, updated=now, payload=json.encode(new)
        )
        if not await store.put_record(made if row is None else replace(made, version=row.version + 1)):
            return False
        self.held, self.tokens = held, self.tokens + taken
        return True

    def _places(self, wanted: int, others: Mapping[str, int]) -> int:
        if self._limit.concurrency is None:
            return 0
        return max(0, min(wanted, self._limit.concurrency - sum(others.values())))

    def _taken(self, wanted: int, tokens: float) -> int:
        """Beginnings that it takes from the allowance; less than none gives some back."""
        spare = self.tokens - self.reserved
        if self._limit.per_second is None:
            return 0
        return -spare if wanted == 0 else min(max(0, wanted - spare), int(tokens))

    def _refilled(self, places: Places, now: datetime) -> float:
        rate = self._limit.per_second
        if rate is None:
            return 0.0
        return min(self._burst, places.tokens + max(0.0, (now - places.filled).total_seconds()) * rate)


def _name(owner: tuple[str, int]) -> str:
    return f"{owner[0]}.{owner[1]}"


def _read(row: RecordRow) -> Places:
    return json.decode(row.payload, type=Places)
