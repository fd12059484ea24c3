"""Reads of instances of one tenant, and waits for their changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from holdfast.errors import InstanceNotFound
from holdfast.model.instance import JournalEntry
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import WorkKind, WorkRow
from holdfast.ports import WorkTables
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.instance_watch import InstanceWatch
from holdfast.runtime.commits.large_values import is_split
from holdfast.runtime.commits.state_codec import decode_journal
from holdfast.runtime.parts import RuntimeParts
from holdfast.runtime.plans.plan_cache import PlanCache
from holdfast.runtime.result import RunResult
from holdfast.runtime.stimuli.router import StimulusRouter
from holdfast.runtime.waits import InstanceWaits, routed

RERUN_LOOK_SECONDS = 1.0
"""Pause between two looks at the request that runs a faulted instance again. A node may find that it has nothing to do, and
delete it without a new version."""
_RERUNS = frozenset({WorkKind.RETRY.value, WorkKind.RUN.value})


class InstanceReads:
    """The part of the facade that changes nothing."""

    def __init__(self, parts: RuntimeParts, tenant: str) -> None:
        self._parts = parts
        self.tenant = tenant
        self.store = parts.store
        self.reader = parts.reader

    @property
    def plans(self) -> PlanCache:
        return self._parts.plans.of(self.tenant)

    @property
    def watch(self) -> InstanceWatch:
        return self._parts.in_hand.watch

    @property
    def waits(self) -> InstanceWaits:
        return self._parts.waits

    @property
    def router(self) -> StimulusRouter:
        return self._parts.router

    def key(self, instance_id: str) -> InstanceKey:
        return InstanceKey(self.tenant, instance_id)

    def works_on(self, instance_id: str) -> bool:
        """Whether a job, an effect or a claim of the instance is in hand here."""
        return self._parts.in_hand.has(self.key(instance_id))

    # -- read ----------------------------------------------------------------------------------------------------------

    async def row(self, instance_id: str) -> InstanceRow:
        """The stored row; raises `InstanceNotFound`."""
        return await self.reader.row(self.key(instance_id))

    async def read(self, instance_id: str) -> RunResult:
        """The instance as it is stored."""
        return await self.reader.result(self.key(instance_id))

    async def read_with_row(self, instance_id: str) -> tuple[InstanceRow, RunResult]:
        """The stored row and the instance, both of the same version."""
        row, live = await self.reader.live(self.key(instance_id))
        return row, RunResult(live, [], {})

    async def find(self, instance_id: str) -> RunResult | None:
        """The instance as it is stored; None if there is none (yet)."""
        try:
            return await self.read(instance_id)
        except InstanceNotFound:
            return None

    async def journal(self, instance_id: str, *, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        """The journal entries of at most `limit` commits whose version is above `after`, in order."""
        row = await self.row(instance_id)
        plan = await self.plans.plan(row.content)
        segments = await self.store.read_journal(self.tenant, instance_id, after=after, limit=limit)
        return [entry for segment in segments for entry in decode_journal(segment.data, plan, segment.first)]

    def keep_read(self, row: InstanceRow) -> None:
        """Cache a row that was read, unless a later version is cached."""
        self._parts.cache.keep_read(InstanceKey(row.tenant, row.id), row)

    def cached_row(self, instance_id: str) -> InstanceRow | None:
        """The cached row; it may be out of date."""
        return self._parts.cache.get(self.key(instance_id))

    def forget(self, instance_id: str) -> None:
        """Drop the cached row of an instance that was deleted or replaced."""
        self._parts.cache.forget(self.key(instance_id))

    async def start_row(self, instance_id: str) -> WorkRow | None:
        """The committed work row that starts the instance, until a node has started it; None for a store without SQL tables."""
        if not isinstance(self.store, WorkTables):
            return None
        return await self.store.find_work(self.tenant, work_rows.start_id(instance_id))

    # -- wait ----------------------------------------------------------------------------------------------------------

    async def settle(self, instance_id: str) -> RunResult:
        """Wait until this node does not work on the instance any more, then read it."""
        ended = await self.watch.rest(self.key(instance_id))
        if ended is None or is_split(ended.state):
            return await self.read(instance_id)
        return RunResult(self.reader.decode(ended, await self.plans.plan(ended.content), {}), [], {})

    async def settled(self, instance_id: str) -> None:
        await self.watch.rest(self.key(instance_id))

    async def wait_burst(self, instance_id: str, limit: timedelta, *, above: int = 0) -> str:
        """Wait until the instance has ended or waits for something outside, at a version above `above`, on any node; returns
        its status then, or at the limit."""
        return await self.waits.burst(self.key(instance_id), limit, above)

    async def wait_settled(self, stimulus_id: str, limit: timedelta) -> bool:
        """Wait until this node has routed a stimulus; False at the limit."""
        return await routed(self.router.settled, self.tenant, stimulus_id, limit)

    async def wait_rerun(self, instance_id: str, seen: int) -> bool:
        """Whether a faulted instance runs again after version `seen`: it has changed, or a committed request to run it again
        (a replayed dead letter, a dispatched request) waits for a node. Then wait for a change, at most for a moment."""
        with self.waits.of(self.key(instance_id)) as waiter:
            if (await self.row(instance_id)).version != seen:
                return True
            now = await self.store.now()
            work = await self.store.work_of(self.tenant, instance_id)
            if any(row.kind in _RERUNS and (row.due is None or row.due <= now) for row in work):
                with suppress(TimeoutError):
                    async with asyncio.timeout(RERUN_LOOK_SECONDS):
                        await waiter.changed(seen)
                return True
            # Consumed since the version was read?
            return (await self.row(instance_id)).version != seen

    async def wait_at_rest(self, instance_id: str) -> RunResult:
        """Wait until the instance has ended, on any node."""
        return await self.waits.at_rest(self.key(instance_id), lambda: self.read(instance_id))
