"""A limit of a queue for the whole cluster: so many steps at a time, so many per second, whichever nodes run them.

A node takes places for many steps at once and keeps them while it has work for them; one record per queue (`tally.py`) says how
many each has.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import json

from holdfast.runtime.steps.limits.ledger import Tally, agree, burst_of, life
from holdfast.runtime.steps.limits.spec import Limit

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node


class Permits:
    """What this node may begin of one queue."""

    def __init__(self, node: Node, queue: str, limit: Limit) -> None:
        self._node = node
        self._queue = queue
        self._limit = limit
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

        def change(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, tuple[int, int]]:
            return self._changed(wanted, used, payload, now, alive)

        self.held, taken = await agree(self._node, self._queue, change, f"the limit of queue {self._queue}") or (
            self.held,
            0,
        )
        self.tokens += taken

    def _changed(
        self, wanted: int, used: int, payload: bytes | None, now: datetime, alive: set[str]
    ) -> tuple[bytes | None, tuple[int, int]]:
        """With the places that this node has then, and the beginnings that it takes."""
        stored = None if payload is None else json.decode(payload, type=Tally)
        tally = (stored or Tally(tokens=burst_of(self._limit), filled=now)).at(now, alive, self._limit)
        me = life(self._node.owner)
        others = tally.others(me)
        held, taken = self._places(used + wanted, others), self._taken(wanted, tally.tokens)
        left = min(burst_of(self._limit), tally.tokens - taken)
        new = Tally(held={**others, **({me: held} if held else {})}, tokens=left, filled=now)
        as_it_is = stored is not None and new.held == stored.held and not taken
        return (None if as_it_is else json.encode(new)), (held, taken)

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
