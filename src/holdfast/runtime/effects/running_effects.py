"""Effects that run in this process now. Each has a committed row that names this node; its result goes through a lane.

A node that has not renewed its lease for two thirds of its time to live starts no effects: other nodes may have taken them
over.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectRequest, EffectResult
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, EffectRow
from holdfast.ports import MiddlewarePlacement
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.effect import EffectJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.effects.executor import (
    Attempt,
    EffectTasks,
    Origin,
    around_effects,
    canceled_failure,
    ended,
    origin_of,
)
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership

CANCELED, LOST_RACE = "canceled", "lost race"
"""Causes of a cancellation: by a cancel on another node, and by a branch that is not needed any more."""
EffectKey = tuple[InstanceKey, int]
"""Instance and execution."""
Attempts = dict[EffectKey, int]
"""The attempt of each effect that runs here."""


class RunningAttempt(Attempt):
    """An attempt with the key of its instance."""

    __slots__ = ("key",)

    def __init__(self, key: InstanceKey, origin: Origin, live: LiveInstance, request: EffectRequest) -> None:
        super().__init__(origin, live, request)
        self.key: EffectKey = (key, request.execution_id)


class RunningEffects:
    on_end: Callable[[EffectKey], None]
    """Called when an effect has ended here; set by the node."""
    on_canceled_elsewhere: Callable[[InstanceKey], None]
    """Called for an instance with canceled effects that do not run here; set by the node."""

    def __init__(
        self,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...],
        cancel_grace: timedelta,
        placement: Placement,
        membership: Membership,
        liveness: Liveness,
        lanes: Lanes,
        in_hand: InstancesInHand,
    ) -> None:
        self._tasks: EffectTasks[RunningAttempt] = EffectTasks(
            pools, around_effects(middleware), cancel_grace, self._finished
        )
        self._grace = cancel_grace
        self._placement = placement
        self._membership = membership
        self._liveness = liveness
        self._lanes = lanes
        self._watch = in_hand.watch
        self._running: dict[EffectKey, RunningAttempt] = {}
        self._per_instance: dict[InstanceKey, int] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._delayed: list[RunningAttempt] = []
        """Attempts that start when the lease is renewed, or when the isolated attempt has ended."""
        self._isolated: EffectKey | None = None
        """The only effect that may start now; all others are delayed."""
        self._isolation = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._running)

    def of_instance(self, key: InstanceKey) -> bool:
        return key in self._per_instance

    def has(self, key: EffectKey) -> bool:
        return key in self._running

    async def wait_ended(self, key: EffectKey) -> None:
        """Wait until the effect does not run here any more."""
        while True:
            change = self._watch.next_change(key[0])  # Subscribe before looking.
            if not self.has(key):
                return
            await change

    # -- start ---------------------------------------------------------------------------------------------------------

    def start_committed(self, key: InstanceKey, live: LiveInstance) -> None:
        """Cancel the effects that a commit canceled, and start the inline effects that it recorded."""
        if live.canceled_effects:
            self._cancel_committed(key, live)
        place_of, nodes, home = self._placement.of, live.plan.by_key, live.home
        recorded, live.new_effects = live.new_effects, []
        origin = origin_of(key.tenant, live)
        for request in recorded:
            if not request.held and place_of(nodes[request.activity_id], home).here:
                self._start(RunningAttempt(key, origin, live, request))

    def _cancel_committed(self, key: InstanceKey, live: LiveInstance) -> None:
        canceled, live.canceled_effects = live.canceled_effects, {}
        cause, elsewhere = live.stopping or LOST_RACE, False
        for execution_id in canceled:
            if execution_id not in live.ending:
                self.cancel((key, execution_id), cause)
            elif not self.end((key, execution_id), cause):
                elsewhere = True
        if elsewhere:
            self.on_canceled_elsewhere(key)

    def run(self, key: InstanceKey, live: LiveInstance, request: EffectRequest) -> None:
        """Start an effect that this node owns by its row."""
        self._start(RunningAttempt(key, origin_of(key.tenant, live), live, request))

    def _start(self, attempt: RunningAttempt) -> None:
        liveness, instance = self._liveness, attempt.key[0]
        if liveness.fenced:
            return  # The cluster counts this node as dead: another node takes the effect over.
        self._running[attempt.key] = attempt
        self._per_instance[instance] = self._per_instance.get(instance, 0) + 1
        if liveness.may_start_effects and self._isolated in (None, attempt.key):
            self._tasks.begin(attempt)
        else:
            self._delayed.append(attempt)

    def start_delayed(self) -> None:
        """Start delayed attempts, unless they were canceled or taken over meanwhile."""
        if self._isolated is not None:
            return
        delayed, self._delayed = self._delayed, []
        for attempt in delayed:
            if self._running.get(attempt.key) is attempt:
                self._tasks.begin(attempt)

    @asynccontextmanager
    async def isolated(self, key: EffectKey, wait_seconds: float) -> AsyncIterator[bool]:
        """Start nothing but this effect inside the block. Yields False if other effects did not end in time."""
        async with self._isolation:
            self._isolated = key
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_seconds):
                        while begun := self._begun():
                            await self._watch.next_change(begun[0][0])
                yield not self._begun()
            finally:
                self._isolated = None
                if self._liveness.may_start_effects:
                    self.start_delayed()

    def _begun(self) -> list[EffectKey]:
        return [key for key, attempt in self._running.items() if attempt.task is not None]

    # -- end -----------------------------------------------------------------------------------------------------------

    def _finished(self, attempt: RunningAttempt, result: EffectResult) -> None:
        key = attempt.key
        if self._running.get(key) is not attempt:
            return  # Canceled, or taken over by a later attempt.
        instance, request = key[0], attempt.request
        ref = EffectRef(request.execution_id, request.attempt, self._membership.owner)
        self._lanes.submit(EffectJob(instance, ref, result))
        self._forget(key)
        self._watch.notify(instance, more_in_hand=self._lanes.has(instance))

    def cancel(self, key: EffectKey, cause: str) -> None:
        """Cancel an effect whose row is gone or belongs to another node: its end is not reported."""
        attempt = self._forget(key)
        if attempt is not None:
            self._watch.notify(key[0])
            self._follow(ended([attempt.cancel(cause)], self._grace))

    def end(self, key: EffectKey, cause: str) -> bool:
        """Cancel an effect and report its end, at the latest after the grace period. False if it does not run here."""
        attempt = self._running.get(key)
        if attempt is None:
            return False
        if attempt.cause is None:  # Not canceled before.
            self._follow(self._end(attempt, attempt.cancel(cause), cause))
        return True

    async def _end(self, attempt: RunningAttempt, task: asyncio.Task[None] | None, cause: str) -> None:
        await ended([task], self._grace)
        if self._running.get(attempt.key) is attempt:  # It never began, or its code ignores the cancellation.
            attempt.left = True
            self._finished(attempt, canceled_failure(cause))

    def end_unstarted(self, key: InstanceKey, ref: EffectRef, cause: str) -> None:
        """Report the end of a canceled effect that this node owns and does not start."""
        self._lanes.submit(EffectJob(key, ref, canceled_failure(cause)))

    def _follow(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _forget(self, key: EffectKey) -> RunningAttempt | None:
        attempt = self._running.pop(key, None)
        if attempt is not None:
            instance = key[0]
            left = self._per_instance.pop(instance) - 1
            if left:
                self._per_instance[instance] = left
            self.on_end(key)
        return attempt

    def cancel_lost(self, checked: Attempts, owned: Iterable[EffectRow]) -> None:
        """Of the attempts that ran before the store was queried, cancel those that this node does not own any more, and those
        whose row says so (rule M1). Attempts that started since are not affected: the query may have been too early for them."""
        mine = {(InstanceKey(row.tenant, row.instance_id), row.execution): row for row in owned}
        for key, attempt in checked.items():
            running = self._running.get(key)
            if running is None or running.request.attempt != attempt:
                continue
            row = mine.get(key)
            if row is None or row.attempt != attempt:
                self.cancel(key, CANCELED)
            elif row.canceled:
                self.end(key, CANCELED)

    def attempts(self) -> Attempts:
        return {key: running.request.attempt for key, running in self._running.items()}

    async def stop(self) -> list[tuple[InstanceKey, EffectRef]]:
        """Cancel all effects; returns those that had no result yet."""
        owner = self._membership.owner
        left = [(key[0], EffectRef(key[1], attempt, owner)) for key, attempt in self.attempts().items()]
        for key in list(self._running):
            self.cancel(key, "drain")
        self._delayed.clear()
        if self._ending:
            await asyncio.wait(list(self._ending))
        return left
