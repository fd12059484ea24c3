"""Launches an effect that this node owns: the normal path of steps, and the last part of a takeover."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping

from msgspec.structs import replace

from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import EffectRow
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.large_values import StateMoved
from holdfast.runtime.effects.running_effects import CANCELED, RunningEffects

DECODED_MAX = 4
"""Instances whose decoded state is kept for their next effects."""

BuryPoison = Callable[[EffectRow, int], Awaitable[bool]]
"""Buries an effect that ends processes; called with the row and the number of lost attempts."""


class EffectLauncher:
    def __init__(
        self, cache: InstanceCache, reader: InstanceReader, running: RunningEffects, bury_poison: BuryPoison
    ) -> None:
        self._cache = cache
        self._reader = reader
        self._running = running
        self._bury_poison = bury_poison
        self._decoded: OrderedDict[InstanceKey, tuple[InstanceRow, LiveInstance]] = OrderedDict()

    async def launch(self, row: EffectRow) -> None:
        """Run the effect with the inputs that its instance recorded.

        A state that was decoded before, or the cached state, is used if it recorded this attempt: only the recorded call is
        taken from it, and the effect row decides about the attempt. Otherwise the stored state is used. So the steps of a
        fan-out do not each decode the state of all of them.
        """
        key = InstanceKey(row.tenant, row.instance_id)
        if row.canceled:
            self._running.end_unstarted(key, row.ref, CANCELED)
            return
        cached = self._cache.get(key)
        if cached is not None and self._run_decoded(key, row, cached):
            return
        if cached is not None and await self._run_cached(key, row, cached):
            return
        stored, values = await self._cache.state(key)
        await self._run(key, row, stored, values)

    async def _run_cached(self, key: InstanceKey, row: EffectRow, cached: InstanceRow) -> bool:
        """Whether the cached state has recorded this attempt. Pages of it may be gone: a later commit has replaced them."""
        try:
            values = await self._cache.values_of(key, cached)
        except StateMoved:
            return False
        return await self._run(key, row, cached, values, only_recorded=True)

    def _run_decoded(self, key: InstanceKey, row: EffectRow, cached: InstanceRow) -> bool:
        """Whether a state that was decoded before has recorded this attempt. An id that was deleted and used again names
        another instance, with another time of creation. A row that is younger than the state was recorded again since, as a
        poll is: its arguments may be others."""
        stored, live = self._decoded.get(key, (None, None))
        if stored is None or live is None or (stored.created, stored.content) != (cached.created, cached.content):
            return False
        request = live.effects.get(row.execution)
        if request is None or request.attempt != row.attempt or row.created > stored.updated:
            return False
        if not self._running.has((key, row.execution)):
            self._running.run(key, live, request)
        return True

    async def _run(
        self,
        key: InstanceKey,
        row: EffectRow,
        stored: InstanceRow,
        values: Mapping[str, bytes],
        *,
        only_recorded: bool = False,
    ) -> bool:
        """Whether there is nothing left to do. `only_recorded`: only if this state holds the attempt of the row."""
        plan = await self._reader.plan(key.tenant, stored.content)
        live = self._reader.decode(stored, plan, values)
        self._decoded[key] = stored, live
        self._decoded.move_to_end(key)
        if len(self._decoded) > DECODED_MAX:
            self._decoded.popitem(last=False)
        request = live.effects.get(row.execution)
        if only_recorded and (request is None or request.attempt != row.attempt):
            return False
        if request is None and row.execution in live.ending:
            self._running.end_unstarted(key, row.ref, CANCELED)  # Canceled since the row was read.
            return True
        if request is None or self._running.has((key, row.execution)):
            return True  # Dropped between the two reads, or started meanwhile.
        lost_attempts = row.attempt - request.attempt
        if lost_attempts and await self._bury_poison(
            replace(row, activity_id=request.activity_id), lost_attempts
        ):  # The activity may have another id since a migration.
            return True
        request.attempt = live.waiters[row.execution].attempt = row.attempt
        live.new_effects, live.canceled_effects = [], {}
        self._running.run(key, live, request)
        return True
