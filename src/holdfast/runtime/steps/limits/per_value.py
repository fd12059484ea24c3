"""Limits per value of an input, such as two steps at a time and one per second for each customer.

`mail/customer=2` counts steps of the queue `mail` by the value of their input `customer`. Steps without that input are not
counted. A step that may not start yet waits (`runtime/steps/waiting_steps.py`), and other steps do not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from holdfast.model.hashing import stimulus_hash
from holdfast.model.work import EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.payload_codec import decode_payload
from holdfast.runtime.steps.limits.cluster_per_value import ClusterLimitPerValue
from holdfast.runtime.steps.limits.local import UNLIMITED, LocalLimit
from holdfast.runtime.steps.limits.spec import Limit

Value = tuple[str, str]
"""The name of an input, and the hash of its value."""

RETURN_DELAY_SECONDS = 0.02
"""Delay before an unused place is returned to the cluster: the next step of the value may start until then."""
COUNTERS_MAX = 10_000


class _ValueCounter:
    """Steps of one value on this node."""

    def __init__(self, limit: Limit | None) -> None:
        self._local = None if limit is None else LocalLimit(limit)
        self.running = 0

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
        self.running -= 1

    @property
    def most(self) -> int:
        """How many more steps may start."""
        return UNLIMITED if self._local is None else max(0, self._local.room(self.running))

    @property
    def pause(self) -> float:
        """Seconds until there may be room again."""
        return 0.0 if self._local is None else self._local.poll_seconds


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
        self.on_room: Callable[[Sequence[Value]], None] = lambda values: None
        """Called when a step of these values has ended."""

    async def values_of(self, row: EffectRow, content: str) -> list[Value]:
        """The values by which a step is counted."""
        types = (await self._reader.plan(self._tenant, content)).types
        inputs: Any = decode_payload(row.inputs, types)
        return [(name, stimulus_hash(inputs[name], types=types)[:16]) for name in self._names if name in inputs]

    async def start(self, values: Sequence[Value]) -> timedelta | None:
        """Count a step until `end`; returns None if it may start, else the time until there may be room."""
        counters = [self._counter(value) for value in values]
        if not all(counter.has_room for counter in counters):
            return timedelta(seconds=max(counter.pause for counter in counters))
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
                return timedelta(seconds=cluster.pause_of(value))
            if cluster is not None:
                taken.append((name, value))
        return None

    def most(self, values: Sequence[Value]) -> int:
        """How many more steps of these values this node may start at most."""
        found = [self._counter(value).most for value in values]
        found += [self._cluster[name].most(value) for name, value in values if name in self._cluster]
        return min(found)

    async def end(self, values: Sequence[Value]) -> None:
        """A counted step has ended. The next one of its values may start at once."""
        for name, value in values:
            self._counter((name, value)).end()
            if name in self._cluster:
                self._cluster[name].free(value)
        self.on_room(values)
        if any(name in self._cluster for name, _ in values):
            await asyncio.sleep(RETURN_DELAY_SECONDS)
        for name, value in values:
            if name in self._cluster:
                await self._cluster[name].settle(value)

    def _counter(self, value: Value) -> _ValueCounter:
        found = self._counters.get(value)
        if found is None:
            if len(self._counters) >= COUNTERS_MAX:
                self._counters = {
                    key: item for key, item in self._counters.items() if item.running or not item.has_room
                }
            found = self._counters[value] = _ValueCounter(self._local.get(value[0]))
        return found
