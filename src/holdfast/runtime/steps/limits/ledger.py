"""What the nodes of a cluster count together for a limit: who holds how many, and what is left of the allowance per second.

Two things are counted so: places of a whole queue, which a node takes for many steps and keeps while it has work (`permits.py`),
and places of one value of an input, each taken for one step (`places.py`). The numbers stand in records of the store that change
by compare-and-set, so nobody counts past the limit; what a node that is not alive holds is free again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import Owner
from holdfast.runtime.steps.limits.spec import Limit

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

T = TypeVar("T")

KIND = "limit"
TRIES = 20
JITTER = 0.01
"""Seconds, at most, per lost compare-and-set."""


class Tally(Struct, frozen=True, kw_only=True):
    held: Mapping[str, int] = {}
    """By node and life."""
    tokens: float
    filled: datetime

    def at(self, now: datetime, alive: set[str], limit: Limit) -> Tally:
        """Without the dead, its allowance filled up to now."""
        held = {name: count for name, count in self.held.items() if name in alive}
        gained = max(0.0, (now - self.filled).total_seconds()) * (limit.per_second or 0.0)
        tokens = burst_of(limit) if limit.per_second is None else min(burst_of(limit), self.tokens + gained)
        return Tally(held=held, tokens=tokens, filled=now)

    def others(self, me: str) -> dict[str, int]:
        return {name: count for name, count in self.held.items() if name != me}


def burst_of(limit: Limit) -> float:
    """What may begin at once after a pause."""
    return max(1.0, limit.per_second or 0.0)


def life(owner: Owner) -> str:
    return f"{owner.node}.{owner.boot}"


Change = Callable[[bytes | None, datetime, set[str]], tuple[bytes | None, T]]
"""From what a record holds, the time and the lives that go on: what it shall hold (None: as it is), and the answer."""


async def agree(node: Node, record: str, change: Change[T], failed: str) -> T | None:
    """Change a record together with others; None if others were always faster, or the store failed."""
    try:
        for attempt in range(TRIES):
            store = node.store
            now, row = await store.now(), await store.get_record(node.tenant, KIND, record)
            alive = {life(item.owner) for item in await store.list_nodes() if item.alive_at(now)}
            payload, answer = change(None if row is None else row.payload, now, alive)
            if payload is None:
                return answer
            made = RecordRow(tenant=node.tenant, kind=KIND, id=record, created=now, updated=now, payload=payload)
            if await store.put_record(made if row is None else replace(made, version=row.version + 1)):
                return answer
            await asyncio.sleep(random.uniform(0, JITTER * (attempt + 1)))
    except StoreError:
        node.outage.warn("%s could not be read", failed)
    return None
