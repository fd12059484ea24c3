"""Free places for steps on this node: reservations of places, and the counts of steps that run.

A place is reserved before the work table or a broker is read, so the intakes of all queues together never exceed the
concurrency of the node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from holdfast.runtime.effects.running_effects import EffectKey
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps.limits.cluster import ClusterLimit
from holdfast.runtime.steps.limits.local import UNLIMITED
from holdfast.runtime.steps.queue_share import QueueShare

RETURN_DELAY_SECONDS = 0.02
"""Delay before unused places of a cluster limit are returned: the next step may arrive until then."""


class StepCapacity:
    def __init__(
        self,
        liveness: Liveness,
        intake: Intake,
        shares: Sequence[QueueShare],
        concurrency: int,
        background: BackgroundTasks,
    ) -> None:
        self._liveness = liveness
        self._intake = intake
        self._shares = shares
        self.concurrency = concurrency
        """Steps that run on this node at one time."""
        self._background = background
        self._changed = asyncio.Event()
        self._returning: set[ClusterLimit] = set()

    def room(self, share: QueueShare) -> int:
        """How many more steps of a share may start now, apart from a limit of the cluster."""
        if self._intake.paused or not self._liveness.may_start_effects:
            return 0
        return share.room(self.concurrency - sum(item.used + item.reserved for item in self._shares))

    async def reserve(self, share: QueueShare, most: int = UNLIMITED) -> int:
        """Wait for room and reserve it, at least one place and at most so many; `settle` ends the reservation."""
        while True:
            room = min(most, self.room(share))
            if room > 0:
                reserved = await self._reserve(share, room)
                if reserved > 0:
                    return reserved
            self._changed.clear()
            try:
                async with asyncio.timeout(share.poll_seconds):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _reserve(self, share: QueueShare, room: int) -> int:
        share.reserved += room
        granted = room if share.cluster_limit is None else 0
        try:
            if share.cluster_limit is not None:
                granted = await share.cluster_limit.reserve(room, lambda: share.used)
        finally:
            share.reserved -= room - granted
        return granted

    def settle(self, share: QueueShare, reserved: int, started: int) -> None:
        """End a reservation, of which so many places are in use now."""
        share.reserved -= reserved
        if share.cluster_limit is not None:
            share.cluster_limit.settle(reserved, started)
        if not started:
            self.freed(share)
        elif started < reserved:
            self._changed.set()

    def freed(self, share: QueueShare) -> None:
        """A place of the share is free, for this node or for other nodes."""
        self._changed.set()
        limit = share.cluster_limit
        if limit is not None and limit not in self._returning:
            self._returning.add(limit)
            self._background.start(self._return_places(share, limit))

    async def _return_places(self, share: QueueShare, limit: ClusterLimit) -> None:
        await asyncio.sleep(RETURN_DELAY_SECONDS)
        self._returning.discard(limit)
        await limit.give_back(lambda: share.used)

    def effect_ended(self, key: EffectKey) -> None:
        """An effect that ran on this node has ended."""
        for share in self._shares:
            if key in share.running:
                share.running.discard(key)
                self.uncount(key, share)
                self.freed(share)

    def uncount(self, key: EffectKey, share: QueueShare) -> None:
        """A step does not count for the limits per value any more."""
        values = share.counted_values.pop(key, None)
        if values and share.per_value is not None:
            self._background.start(share.per_value.end(values))

    def wake(self) -> None:
        """Steps were committed: look for room again."""
        self._changed.set()
