"""Effects that run in this process now. Each has a committed row that names this node; its result goes through a lane.

A node that could not renew its heartbeat for two thirds of its time to live starts none: others may have taken them by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectFailure, EffectRequest, Record
from holdfast.model.work import EffectRef, EffectRow
from holdfast.ports import MiddlewarePlacement
from holdfast.runtime.commits.jobs.base import EffectJob
from holdfast.runtime.effects.executor import Attempt, EffectTasks, around_effects, ended
from holdfast.runtime.effects.pools import EffectPools

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

Key = tuple[str, int]
"""Instance and execution."""
Attempts = dict[Key, int]
"""Which attempt of each runs here."""


class EffectsHere:
    def __init__(
        self, node: Node, pools: EffectPools, middleware: tuple[MiddlewarePlacement, ...], grace: timedelta
    ) -> None:
        self._node = node
        self._tasks = EffectTasks(pools, around_effects(middleware), grace, self._finished)
        self._grace = grace
        self._running: dict[Key, Attempt] = {}
        self._per_instance: dict[str, int] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._held: list[Attempt] = []
        """To be begun when the heart beats again, or the one that has this process for itself has ended."""
        self._alone: Key | None = None
        """What may begin; all else is held."""
        self._trials = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._running)

    def of(self, instance_id: str) -> bool:
        return instance_id in self._per_instance

    def has(self, instance_id: str, execution_id: int) -> bool:
        return (instance_id, execution_id) in self._running

    async def ended(self, instance_id: str, execution_id: int) -> None:
        """Until it does not run here any more."""
        while True:
            news = self._node.watching.news(instance_id)  # Subscribe, then look.
            if not self.has(instance_id, execution_id):
                return
            await news

    # -- after a commit ------------------------------------------------------------------------------------------------

    def start(self, live: LiveInstance) -> None:
        """End what the commit canceled, begin what it recorded."""
        if live.canceled_effects:
            gone, live.canceled_effects = live.canceled_effects, []
            for execution_id in gone:
                self.cancel((live.id, execution_id), live.stopping or "lost race")
        place, nodes = self._node.placement.queue_of, live.plan.by_key
        starting, live.new_effects = live.new_effects, []
        for request in starting:
            if place(nodes[request.activity_id]) is None:
                self.run(live, request)

    def run(self, live: LiveInstance, request: EffectRequest) -> None:
        """Begin one that is this node's, wherever it was placed: its row says so."""
        heart, name = self._node.heart, live.id
        if heart.fenced:
            return  # Its owner is not alive for the cluster: others take it over.
        attempt = self._running[name, request.execution_id] = Attempt(live, request)
        self._per_instance[name] = self._per_instance.get(name, 0) + 1
        if heart.may_start_effects and self._alone in (None, (name, request.execution_id)):
            self._tasks.begin(attempt)
        else:
            self._held.append(attempt)

    @asynccontextmanager
    async def alone(self, key: Key, patience: float) -> AsyncIterator[bool]:
        """Nothing but this one begins here meanwhile. False if what runs here did not end in time."""
        async with self._trials:
            self._alone = key
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(patience):
                        while begun := self._begun():
                            await self._node.watching.news(begun[0][0])
                yield not self._begun()
            finally:
                self._alone = None
                if self._node.heart.may_start_effects:
                    self.start_held()

    def _begun(self) -> list[Key]:
        waiting = {(item.live.id, item.request.execution_id) for item in self._held}
        return [key for key in self._running if key not in waiting]

    def start_held(self) -> None:
        """What it waited for is so: begin it, unless it was taken away meanwhile."""
        if self._alone is not None:
            return
        held, self._held = self._held, []
        for attempt in held:
            if self._running.get((attempt.live.id, attempt.request.execution_id)) is attempt:
                self._tasks.begin(attempt)

    def _finished(self, attempt: Attempt, result: Record | EffectFailure) -> None:
        request, name = attempt.request, attempt.live.id
        key = name, request.execution_id
        if self._running.get(key) is not attempt:
            return  # Canceled, or taken over by a later attempt: nobody wants it any more.
        node = self._node
        lane = node.lane_of(name)
        lane.submit(EffectJob(name, EffectRef(request.execution_id, request.attempt, node.owner), result))
        self._forget(key)
        node.watching.tell(name, goes_on=lane.has(name))

    # -- ending --------------------------------------------------------------------------------------------------------

    def cancel(self, key: Key, cause: str) -> None:
        attempt = self._forget(key)
        if attempt is not None:
            self._node.watching.tell(key[0])
            task = asyncio.get_running_loop().create_task(ended([attempt.cancel(cause)], self._grace))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _forget(self, key: Key) -> Attempt | None:
        attempt = self._running.pop(key, None)
        if attempt is not None:
            name = key[0]
            left = self._per_instance.pop(name) - 1
            if left:
                self._per_instance[name] = left
            self._node.steps.ended(key)
        return attempt

    def keep_only(self, asked: Attempts, owned: list[EffectRow]) -> None:
        """Of those that ran before the store was asked, end the ones that are not this node's any more (rule M1). An attempt
        that was begun since then is none of them: the store may not have known it yet."""
        mine = {(row.instance_id, row.execution): row.attempt for row in owned if row.tenant == self._node.tenant}
        for key, attempt in asked.items():
            running = self._running.get(key)
            if running is not None and running.request.attempt == attempt and mine.get(key) != attempt:
                self.cancel(key, "canceled")

    def attempts(self) -> Attempts:
        return {key: running.request.attempt for key, running in self._running.items()}

    async def stop(self) -> list[tuple[str, EffectRef]]:
        """Drain: end them all; which were not done."""
        left = [(key[0], EffectRef(key[1], attempt, self._node.owner)) for key, attempt in self.attempts().items()]
        for key in list(self._running):
            self.cancel(key, "drain")
        self._held.clear()
        if self._ending:
            await asyncio.wait(list(self._ending))
        return left
