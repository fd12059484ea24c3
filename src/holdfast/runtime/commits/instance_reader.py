"""Reads stored instances: rows, live instances for inspection, and results for callers."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import StateUnreadable
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.ports import Clock, Services
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.state_codec import decode_state
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.result import RunResult


class InstanceReader:
    def __init__(self, cache: InstanceCache, plans: Plans, clock: Clock, services: Services) -> None:
        self._cache = cache
        self._plans = plans
        self._clock = clock
        self._services = services

    async def row(self, key: InstanceKey) -> InstanceRow:
        """The stored row; raises `InstanceNotFound`."""
        return await self._cache.row(key)

    async def plan(self, tenant: str, content: str) -> Plan:
        """The plan of a content hash; raises `CodeMissing` where this process cannot run it."""
        return await self._plans.of(tenant).plan(content)

    def decode(self, row: InstanceRow, plan: Plan, values: Mapping[str, bytes]) -> LiveInstance:
        """A live instance of a row: a copy, changes to it are not stored."""
        try:
            return self.decode_state(row.state, plan, values)
        except StateUnreadable as error:
            error.content = row.content
            raise

    def decode_state(self, state: bytes, plan: Plan, values: Mapping[str, bytes]) -> LiveInstance:
        return decode_state(state, plan, self._clock.now_ns, self._services, values)

    async def live(self, key: InstanceKey) -> tuple[InstanceRow, LiveInstance]:
        """The stored row with a live instance of it."""
        row, values = await self._cache.state(key)
        return row, self.decode(row, await self.plan(key.tenant, row.content), values)

    async def result(self, key: InstanceKey) -> RunResult:
        """The instance as it is stored."""
        return RunResult((await self.live(key))[1], [], {})
