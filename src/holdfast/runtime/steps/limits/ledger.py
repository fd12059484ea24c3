"""The ledger of a cluster-wide limit: which node holds how many places, and the tokens left for starts per second.

Two limits use it: `ClusterLimit` holds places of a whole queue, for many steps at once; `ClusterLimitPerValue` holds places of
one value of an input, one for each step. The entries are records of the store that change by compare-and-set, so the nodes
never exceed the limit together. Places of a node that is not alive are free again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.model.work import Owner
from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.spec import Limit

T = TypeVar("T")

KIND = "limit"
UPDATE_ATTEMPTS_MAX = 20
CONFLICT_JITTER_SECONDS = 0.01
"""Longest pause per lost compare-and-set."""


class LedgerEntry(Struct, frozen=True, kw_only=True):
    held: Mapping[str, int] = {}
    """Places in use, by node and boot."""
    tokens: float
    filled: datetime

    def at(self, now: datetime, alive: set[str], limit: Limit) -> LedgerEntry:
        """The entry without the places of dead nodes, its tokens filled up to now."""
        held = {name: count for name, count in self.held.items() if name in alive}
        gained = max(0.0, (now - self.filled).total_seconds()) * (limit.per_second or 0.0)
        tokens = limit.burst if limit.per_second is None else min(limit.burst, self.tokens + gained)
        return LedgerEntry(held=held, tokens=tokens, filled=now)

    def held_by_others(self, holder: str) -> dict[str, int]:
        return {name: count for name, count in self.held.items() if name != holder}


def full_entry(limit: Limit, now: datetime) -> LedgerEntry:
    """The entry of a limit that no node has used."""
    return LedgerEntry(tokens=limit.burst, filled=now)


Change = Callable[[bytes | None, datetime, set[str]], tuple[bytes | None, T]]
"""Computes, from the payload of a record, the time and the holders alive, the new payload (None: unchanged) and the answer."""


class Ledger:
    """The records of limits of one tenant."""

    def __init__(self, store: Store, membership: Membership, log: OutageLog, tenant: str) -> None:
        self._store = store
        self._membership = membership
        self._log = log
        self._tenant = tenant

    @property
    def holder(self) -> str:
        """The name under which this node holds places."""
        return _holder(self._membership.owner)

    async def update(self, record: str, change: Change[T], limit_name: str) -> T | None:
        """Change a record by compare-and-set; None if other nodes won every time, or the store failed."""
        store = self._store
        try:
            for attempt in range(UPDATE_ATTEMPTS_MAX):
                now, row = await store.now(), await store.get_record(self._tenant, KIND, record)
                alive = {_holder(item.owner) for item in await store.list_nodes() if item.alive_at(now)}
                payload, answer = change(None if row is None else row.payload, now, alive)
                if payload is None:
                    return answer
                changed = RecordRow(
                    tenant=self._tenant, kind=KIND, id=record, created=now, updated=now, payload=payload
                )
                if await store.put_record(changed if row is None else replace(changed, version=row.version + 1)):
                    return answer
                await asyncio.sleep(random.uniform(0, CONFLICT_JITTER_SECONDS * (attempt + 1)))
        except StoreError:
            self._log.warning("%s could not be read", limit_name)
        return None


def _holder(owner: Owner) -> str:
    return f"{owner.node}.{owner.boot}"
