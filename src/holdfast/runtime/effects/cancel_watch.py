"""Notices soon that effects which run here were canceled elsewhere (rule M1: by notification, and at each heartbeat).

A cancellation, a termination or a lost race on another node is a commit: it deletes the effect row and increments the version
of the instance. After such a change of the store, while effects run here, this node compares the versions of their instances. It
queries effect rows only where a version moved. The heartbeat makes up for a lost notification.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

from holdfast.model.changes import EFFECTS, Change
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRow
from holdfast.ports import Store
from holdfast.runtime.effects.running_effects import Attempts, RunningEffects
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import WakeableService

CHECK_INTERVAL = timedelta(milliseconds=100)
"""Pause between two checks; effects that end sooner are never checked."""
SINGLE_QUERIES_MAX = 8
"""Instances that are queried one by one; for more, all effects of this node are read at once."""


class CancelWatch:
    def __init__(self, store: Store, membership: Membership, running: RunningEffects, log: OutageLog) -> None:
        self._store = store
        self._membership = membership
        self._running = running
        self._service = WakeableService(
            "cancel-watch", self._round, failure="canceled effects could not be looked up", log=log
        )
        self._known: Attempts = {}
        """Effects that ran at the last check: newer ones may end before the next."""
        self._versions: dict[InstanceKey, int] = {}
        self._end: Callable[[], None] | None = None

    def start(self) -> None:
        self._end = self._store.subscribe(self._changed)
        self._service.start()

    async def stop(self) -> None:
        end, self._end = self._end, None
        if end is not None:
            end()
        await self._service.stop()

    def _changed(self, change: Change) -> None:
        if len(self._running) and change.concerns(EFFECTS):
            self._service.wake()

    async def _round(self) -> None:
        """Check twice: an effect is compared if it runs at both checks."""
        for _ in range(2):
            await self.check()
            await asyncio.sleep(CHECK_INTERVAL.total_seconds())

    async def check(self) -> None:
        """Compare running effects with the store, and cancel those whose row is gone."""
        before = self._known
        now = self._known = self._running.attempts()
        checked = {key: attempt for key, attempt in now.items() if before.get(key) == attempt}
        instances = list({instance for instance, _ in checked})
        stored = await self._store.versions_of(instances) if instances else {}
        versions = {instance: stored.get(instance, 0) for instance in instances}
        moved = {instance for instance, version in versions.items() if self._versions.get(instance) != version}
        self._versions = versions
        if moved:
            owned = await self._owned(moved)
            self._running.cancel_lost({key: attempt for key, attempt in checked.items() if key[0] in moved}, owned)

    async def _owned(self, instances: set[InstanceKey]) -> list[EffectRow]:
        owner = self._membership.owner
        if len(instances) > SINGLE_QUERIES_MAX:
            return list(await self._store.effects_owned(owner))
        found = [await self._store.effects_of(key.tenant, key.id) for key in instances]
        return [row for rows in found for row in rows if row.owner == owner]
