"""Effects that run in this process now. Each has a committed row that names this node; its result goes through a lane.

A node that could not renew its heartbeat for two thirds of its time to live starts none: others may have taken them by then.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectRequest
from holdfast.model.work import EffectRef, EffectRow
from holdfast.ports import MiddlewarePlacement
from holdfast.runtime.durable.changes import fresh_effects
from holdfast.runtime.durable.jobs import EffectJob
from holdfast.runtime.effects import Finished, InstanceEffects, around_effects
from holdfast.runtime.pools import EffectPools

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

Key = tuple[str, int]
"""Instance and execution."""
Attempts = dict[Key, int]
"""Which attempt of each runs here."""


class _Running(Struct, frozen=True):
    effects: InstanceEffects
    attempt: int


class EffectsHere:
    def __init__(
        self, node: Node, pools: EffectPools, middleware: tuple[MiddlewarePlacement, ...], grace: timedelta
    ) -> None:
        self._node = node
        self._pools = pools
        self._middleware = around_effects(middleware)
        self._grace = grace
        self._running: dict[Key, _Running] = {}
        self._per_instance: dict[str, int] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._held: list[tuple[LiveInstance, list[EffectRequest]]] = []

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
        gone, live.canceled_effects = live.canceled_effects, []
        for execution_id in gone:
            self.cancel((live.id, execution_id), live.stopping or "lost race")
        place, nodes = self._node.placement.queue_of, live.plan.by_key
        starting = [item for item in fresh_effects(live) if place(nodes[item.activity_id]) is None]
        live.new_effects = []
        if starting:
            self._begin(live, starting)

    def run(self, live: LiveInstance, request: EffectRequest) -> None:
        """Begin one that is this node's, wherever it was placed: its row says so."""
        self._begin(live, [request])

    def _begin(self, live: LiveInstance, starting: list[EffectRequest]) -> None:
        if self._node.heart.fenced:
            return  # Their owner is not alive for the cluster: others take them over.
        effects = InstanceEffects(
            live, self._pools, self._middleware, self._grace, on_finished=partial(self._finished, live.id)
        )
        for request in starting:
            self._running[live.id, request.execution_id] = _Running(effects, request.attempt)
            self._per_instance[live.id] = self._per_instance.get(live.id, 0) + 1
        if not self._node.heart.may_start_effects:
            self._held.append((live, starting))
            return
        for request in starting:
            effects.start(request)

    def start_held(self) -> None:
        """The heart beats again: begin what had to wait, unless it was taken away meanwhile."""
        held, self._held = self._held, []
        for live, starting in held:
            for request in starting:
                running = self._running.get((live.id, request.execution_id))
                if running is not None and running.attempt == request.attempt:
                    running.effects.start(request)

    def _finished(self, instance_id: str, finished: Finished) -> None:
        execution_id, attempt, result = finished
        running = self._running.get((instance_id, execution_id))
        if running is None or running.attempt != attempt:
            return  # Canceled, or taken over by a later attempt: nobody wants it any more.
        self._node.submit(EffectJob(instance_id, EffectRef(execution_id, attempt, self._node.owner), result))
        self._forget((instance_id, execution_id))

    # -- ending --------------------------------------------------------------------------------------------------------

    def cancel(self, key: Key, cause: str) -> None:
        running = self._forget(key)
        if running is not None:
            task = asyncio.get_running_loop().create_task(running.effects.cancel([key[1]], cause))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    def _forget(self, key: Key) -> _Running | None:
        running = self._running.pop(key, None)
        if running is not None:
            left = self._per_instance.pop(key[0]) - 1
            if left:
                self._per_instance[key[0]] = left
            self._node.watching.tell(key[0])
            self._node.steps.ended(key)
        return running

    def keep_only(self, asked: Attempts, owned: list[EffectRow]) -> None:
        """Of those that ran before the store was asked, end the ones that are not this node's any more (rule M1). An attempt
        that was begun since then is none of them: the store may not have known it yet."""
        mine = {(row.instance_id, row.execution): row.attempt for row in owned if row.tenant == self._node.tenant}
        for key, attempt in asked.items():
            running = self._running.get(key)
            if running is not None and running.attempt == attempt and mine.get(key) != attempt:
                self.cancel(key, "canceled")

    def attempts(self) -> Attempts:
        return {key: running.attempt for key, running in self._running.items()}

    async def stop(self) -> list[tuple[str, EffectRef]]:
        """Drain: end them all; which were not done."""
        left = [
            (key[0], EffectRef(key[1], running.attempt, self._node.owner)) for key, running in self._running.items()
        ]
        for key in list(self._running):
            self.cancel(key, "drain")
        self._held.clear()
        if self._ending:
            await asyncio.wait(list(self._ending))
        return left
