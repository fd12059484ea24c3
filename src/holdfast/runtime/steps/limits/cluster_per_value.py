"""A limit per value of an input for the whole cluster, such as two steps at a time for each customer.

The values of an input share a few records (`ledger.py`). A record stores only values that are in use, or whose tokens are not
full again. Requests that arrive while a record is being written share the next write. A place that is free again on this node
stays in the record for a moment: the next step of the value starts with it, without a write.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from msgspec import json

from holdfast.ports import Store
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.steps.limits.ledger import Ledger, LedgerEntry, full_entry
from holdfast.runtime.steps.limits.spec import Limit

RECORDS_PER_INPUT = 16
"""Values in different records do not wait for each other."""
POLL_SECONDS = 0.1
"""Pause until a value is tried again whose places other nodes hold."""
STARTS_AT_ONCE_MAX = 16
"""Steps of a value to try at once if only its rate is limited."""


@dataclass(slots=True)
class _Request:
    """A step that asks for a place of a value."""

    value: str
    is_answered: bool = False
    is_granted: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    granted: Counter[str]
    """Places that this node took, by value."""
    pauses: Mapping[str, float]
    """Seconds until a refused value may have room."""


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
        self._stored: Counter[str] = Counter()
        """Places by value that the record certainly counts for this node; never fewer than are held."""
        self._unsettled: dict[str, set[str]] = {}
        """Values by record that may have more places in the record than this node holds."""
        self._doubtful: set[str] = set()
        """Values whose last write failed: the record may count any number of places for this node."""
        self._requests: dict[str, list[_Request]] = {}
        """Requests by record that the next write answers."""
        self._pauses: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def most(self, value: str) -> int:
        """How many more steps of a value this node may start at most, whatever the other nodes hold."""
        if self._limit.concurrency is None:
            return STARTS_AT_ONCE_MAX
        return self._limit.concurrency - self._held[value]

    def pause_of(self, value: str) -> float:
        """Seconds until a value may have room that was refused."""
        return self._pauses.get(value, POLL_SECONDS)

    async def take(self, value: str) -> bool:
        """Take one place of a value; False if the limit is reached."""
        if self._limit.per_second is None and self._held[value] < self._stored[value]:
            self._held[value] += 1
            return True
        request, record = _Request(value), self._record_of(value)
        self._requests.setdefault(record, []).append(request)
        async with self._lock_of(record):
            if not request.is_answered:
                await self._write(record)
        return request.is_granted

    def free(self, value: str) -> None:
        """A step has ended. The record counts its place until `settle`."""
        self._held[value] -= 1
        self._unsettled.setdefault(self._record_of(value), set()).add(value)

    async def settle(self, value: str) -> None:
        """Return the places of a value that this node does not use, unless another write has done it."""
        record = self._record_of(value)
        async with self._lock_of(record):
            unsettled = self._unsettled.get(record, set())
            if self._held[value] == self._stored[value] and value not in self._doubtful:
                unsettled.discard(value)
            if value in unsettled:
                await self._write(record)

    async def give_back(self, value: str) -> None:
        """Return one place at once."""
        self.free(value)
        await self.settle(value)

    # -- the record ----------------------------------------------------------------------------------------------------

    def _record_of(self, value: str) -> str:
        return f"{self._name}/{int(value[:2], 16) % RECORDS_PER_INPUT:x}"

    def _lock_of(self, record: str) -> asyncio.Lock:
        return self._locks.setdefault(record, asyncio.Lock())

    async def _write(self, record: str) -> None:
        """Answer all requests for the record, and return its unused places, with one write."""
        requests = self._requests.pop(record, [])
        wanted = Counter(request.value for request in requests)
        held = {value: self._held[value] for value in {*wanted, *self._unsettled.pop(record, ())}}

        def change(payload: bytes | None, now: datetime, alive: set[str]) -> tuple[bytes | None, _Answer]:
            return self._changed(held, wanted, payload, now, alive)

        # Before the write: it may return places and fail after that, and another node may use them at once.
        for value, count in held.items():
            self._stored[value] = count
        answer: _Answer | None = None
        try:
            answer = await self._ledger.update(record, change, f"the limit {self._name}")
        finally:
            if answer is None:
                self._unsettled.setdefault(record, set()).update(held)
                self._doubtful.update(held)
            else:
                self._doubtful.difference_update(held)
            self._apply(requests, held, answer or _Answer(Counter(), {}))

    def _apply(self, requests: list[_Request], held: Mapping[str, int], answer: _Answer) -> None:
        for value in held:
            self._stored[value] += answer.granted[value]
            self._held[value] += answer.granted[value]
            self._pauses.pop(value, None)
            if not self._stored[value] and not self._held[value]:
                del self._stored[value], self._held[value]
        self._pauses.update(answer.pauses)
        left = Counter(answer.granted)
        for request in requests:
            request.is_answered, request.is_granted = True, left[request.value] > 0
            left[request.value] -= 1

    def _changed(
        self,
        held: Mapping[str, int],
        wanted: Mapping[str, int],
        payload: bytes | None,
        now: datetime,
        alive: set[str],
    ) -> tuple[bytes | None, _Answer]:
        stored = {} if payload is None else json.decode(payload, type=dict[str, LedgerEntry])
        entries = {name: entry.at(now, alive, self._limit) for name, entry in stored.items()}
        me, granted, pauses, is_changed = self._ledger.holder, Counter[str](), dict[str, float](), payload is None
        for value, mine in held.items():
            entry = entries.get(value) or full_entry(self._limit, now)
            others = entry.held_by_others(me)
            count = min(wanted.get(value, 0), self._free(sum(others.values()) + mine, entry.tokens))
            granted[value] = count
            tokens = entry.tokens if self._limit.per_second is None else entry.tokens - count
            if count < wanted.get(value, 0):
                pauses[value] = self._pause(tokens)
            places = {**others, **({me: mine + count} if mine + count else {})}
            is_changed = is_changed or count > 0 or places != (stored[value].held if value in stored else {})
            entries[value] = LedgerEntry(held=places, tokens=tokens, filled=now)
        new = {name: kept for name, kept in entries.items() if kept.held or kept.tokens < self._limit.burst}
        return (json.encode(new) if is_changed else None), _Answer(granted, pauses)

    def _free(self, running: int, tokens: float) -> int:
        """How many steps of a value may start while so many run."""
        limit = self._limit
        places = STARTS_AT_ONCE_MAX if limit.concurrency is None else limit.concurrency - running
        return max(0, places if limit.per_second is None else min(places, int(tokens)))

    def _pause(self, tokens: float) -> float:
        """The time until the next token, or the usual one if places are missing."""
        rate = self._limit.per_second
        return POLL_SECONDS if rate is None or tokens >= 1 else min(POLL_SECONDS, (1 - tokens) / rate)
