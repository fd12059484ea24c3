"""Limits per value of an input, such as two steps at a time and one per second for each customer.

`mail/customer=2` counts steps of the queue `mail` by the value of their input `customer`. Steps without that input are not
counted. A step that may not start yet is put off until about when its turn comes, and other steps do not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

from holdfast.model.hashing import stimulus_hash
from holdfast.model.work import EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.payload_codec import decode_payload
from holdfast.runtime.steps.limits.cluster_per_value import ClusterLimitPerValue
from holdfast.runtime.steps.limits.local import LocalLimit
from holdfast.runtime.steps.limits.spec import Limit

Value = tuple[str, str]
"""The name of an input, and the hash of its value."""

FIRST_PACE_SECONDS = 0.05
"""Assumed time between two ends of steps, until some have ended."""
PAUSE_SECONDS_MAX = 30.0
COUNTERS_MAX = 10_000


class _ValueCounter:
    """Steps of one value on this node."""

    def __init__(self, limit: Limit | None) -> None:
        self._local = None if limit is None else LocalLimit(limit)
        self.running = 0
        self.put_off = 0
        """Steps that were put off since one last ended."""
        self.pace = FIRST_PACE_SECONDS
        """Moving average of the seconds between two ends."""
        self._ended_at = monotonic()

    @property
    def has_room(self) -> bool:
        return self._local is None or self._local.room(self.running) > 0

    def start(self) -> None:
        self.running += 1
        if self._local is not None:
            self._local.take(1)

    def undo_start(self) -> None:
        self.running -= 1
        if self._local is not None:
            self._local.take(-1)

    def end(self) -> None:
        now = monotonic()
        self.running -= 1
        self.put_off = 0
        self.pace = 0.7 * self.pace + 0.3 * min(now - self._ended_at, PAUSE_SECONDS_MAX)
        self._ended_at = now


class LimitPerValue:
    """The limits per value of one queue, on this node and in the whole cluster."""

    def __init__(
        self,
        store: Store,
        membership: Membership,
        reader: InstanceReader,
        log: OutageLog,
        tenant: str,
        queue: str,
        local: Mapping[str, Limit],
        cluster: Mapping[str, Limit],
    ) -> None:
        """`local` and `cluster` are limits by the name of the input."""
        self._reader = reader
        self._tenant = tenant
        self._local = local
        self._cluster = {
            name: ClusterLimitPerValue(store, membership, log, tenant, f"{queue}/{name}", limit)
            for name, limit in cluster.items()
        }
        self._names = tuple(dict.fromkeys((*local, *cluster)))
        self._counters: dict[Value, _ValueCounter] = {}

    async def values_of(self, row: EffectRow, content: str) -> list[Value]:
        """The values by which a step is counted."""
        types = (await self._reader.plan(self._tenant, content)).types
        inputs: Any = decode_payload(row.inputs, types)
        return [(name, stimulus_hash(inputs[name], types=types)[:16]) for name in self._names if name in inputs]

    async def start(self, values: Sequence[Value]) -> timedelta | None:
        """Count a step until `end`; returns None if it may start, else how long to put it off."""
        counters = [self._counter(value) for value in values]
        if not all(counter.has_room for counter in counters):
            return _pause(counters)
        for counter in counters:
            counter.start()
        taken = list[Value]()
        for name, value in values:
            cluster = self._cluster.get(name)
            if cluster is not None and not await cluster.take(value):
                for other, taken_value in taken:
                    await self._cluster[other].give_back(taken_value)
                for counter in counters:
                    counter.undo_start()
                return _pause(counters)
            if cluster is not None:
                taken.append((name, value))
        return None

    async def end(self, values: Sequence[Value]) -> None:
        for name, value in values:
            self._counter((name, value)).end()
            cluster = self._cluster.get(name)
            if cluster is not None:
                await cluster.give_back(value)

    def _counter(self, value: Value) -> _ValueCounter:
        found = self._counters.get(value)
        if found is None:
            if len(self._counters) >= COUNTERS_MAX:
                self._counters = {
                    key: item for key, item in self._counters.items() if item.running or not item.has_room
                }
            found = self._counters[value] = _ValueCounter(self._local.get(value[0]))
        return found


def _pause(counters: Sequence[_ValueCounter]) -> timedelta:
    """The time until about the turn of a step: behind the steps that were put off before."""
    seconds = 0.0
    for counter in counters:
        counter.put_off += 1
        seconds = max(seconds, counter.pace * counter.put_off)
    return timedelta(seconds=min(seconds, PAUSE_SECONDS_MAX))
