"""One node: this process as the cluster sees it. Lanes, effects in flight, hot states, a heartbeat.

An instance's jobs all go through the lane that its id hashes to, so that in one process it occurs once at a time. The hot
cache keeps encoded rows, never live objects: a segment that fails has mutated those.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from zlib import crc32

from holdfast.errors import DefinitionError, InstanceNotFound
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Limits
from holdfast.model.commit import Commit
from holdfast.model.definition import Definition
from holdfast.model.ids import IdGenerator
from holdfast.model.stored import DEFAULT_TENANT, InstanceKey, InstanceRow
from holdfast.model.work import EffectRef, EffectRow, Owner
from holdfast.ports import Clock, DefinitionSource, MiddlewarePlacement, Services, Store
from holdfast.runtime.durable.changes import Maker
from holdfast.runtime.durable.encoding import decode_state
from holdfast.runtime.durable.jobs import EffectJob, Job
from holdfast.runtime.durable.lane import Lane
from holdfast.runtime.durable.pins import PinnedPlans
from holdfast.runtime.durable.uptake import Uptake
from holdfast.runtime.effects import Finished, InstanceEffects
from holdfast.runtime.pools import EffectPools

HOT_MAX = 10_000
TIME_TO_LIVE = timedelta(seconds=15)


class Node:
    def __init__(
        self,
        store: Store,
        *,
        plan_of: Callable[[Definition], Plan],
        services: Services,
        clock: Clock,
        limits: Limits,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...] = (),
        cancel_grace: timedelta = timedelta(seconds=10),
        tenant: str = DEFAULT_TENANT,
        name: str = "local",
        lanes: int = 2,
        time_to_live: timedelta = TIME_TO_LIVE,
        definitions: DefinitionSource | None = None,
    ) -> None:
        self.store = store
        self.tenant = tenant
        self.clock = clock
        self.services = services
        self.name = name
        self.pins = PinnedPlans(store, tenant, plan_of, clock.now)
        self.hot: OrderedDict[str, InstanceRow] = OrderedDict()
        self.owner = Owner(name, 0)
        self.maker = Maker(tenant, self.owner)
        self.next_id: Callable[[], str]
        self.uptake = Uptake(self)
        self._plan_of = plan_of
        self._definitions = definitions
        self._pools = pools
        self._middleware = middleware
        self._grace = cancel_grace
        self._time_to_live = time_to_live
        self._lanes = [Lane(self, limits) for _ in range(lanes)]
        self._effects: dict[tuple[str, int], InstanceEffects] = {}
        self._heart: asyncio.Task[None] | None = None
        self._watchers: dict[str, asyncio.Event] = {}

    # -- life ----------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        registration = await self.store.register_node(self.name, time_to_live=self._time_to_live)
        self.owner = registration.node.owner
        self.maker = Maker(self.tenant, self.owner)
        self.next_id = IdGenerator(lambda: self.clock.now_ns() // 1_000_000, registration.node.worker)
        for lane in self._lanes:
            lane.start()
        self._heart = asyncio.get_running_loop().create_task(self._beat(), name="holdfast-heart")

    async def stop(self) -> None:
        """Drain: running effects are canceled and given back, then goodbye."""
        await self.uptake.stop()
        for lane in self._lanes:
            await lane.stop()
        for effects in set(self._effects.values()):
            await effects.cancel_all("drain")
        self._effects.clear()
        if self._heart is not None:
            self._heart.cancel()
            await asyncio.wait([self._heart])
            await self.store.leave(self.owner)
            self._heart = None

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._time_to_live.total_seconds() / 3)
            await self.store.beat(self.owner)

    # -- work ----------------------------------------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        self._lanes[crc32(job.instance_id.encode()) % len(self._lanes)].submit(job)

    def keep_hot(self, row: InstanceRow) -> None:
        if row.finished is not None:
            self.hot.pop(row.id, None)
            return
        self.hot[row.id] = row
        self.hot.move_to_end(row.id)
        if len(self.hot) > HOT_MAX:
            self.hot.popitem(last=False)

    def forget(self, instance_id: str) -> None:
        self.hot.pop(instance_id, None)

    async def row(self, instance_id: str) -> InstanceRow:
        """The stored row of an instance, hot or read."""
        found = self.hot.get(instance_id)
        if found is None:
            key = InstanceKey(self.tenant, instance_id)
            found = (await self.store.load([key])).instances.get(key)
        if found is None:
            raise InstanceNotFound(instance_id)
        return found

    async def find_plan(self, reference: str) -> Plan:
        """A workflow that is executed by id or name: one of this process, else one of the store."""
        known = self._definitions.find(reference) if self._definitions is not None else None
        definition = known or await self.pins.find(reference)
        if definition is None:
            raise DefinitionError(
                f"There is no workflow '{reference}'. Import it into the store, or give it to Holdfast(definitions=[…])."
            )
        return self._plan_of(definition)

    def follow_up(self, commit: Commit) -> None:
        """Rows that this very node can take at once, without a look at the table (a child to start, a parent to tell)."""
        self.uptake.take_own(commit.work_added)

    # -- effects -------------------------------------------------------------------------------------------------------

    def start_effects(self, live: LiveInstance) -> None:
        """After the commit: end what was canceled, begin what was recorded."""
        gone, live.canceled_effects = live.canceled_effects, []
        for execution_id in gone:
            running = self._effects.pop((live.id, execution_id), None)
            if running is not None:
                cause = live.stopping or "lost race"
                asyncio.get_running_loop().create_task(running.cancel([execution_id], cause))
        starting, live.new_effects = live.new_effects, []
        if not starting:
            return
        effects = InstanceEffects(
            live, self._pools, self._middleware, self._grace, on_finished=partial(self._finished, live.id)
        )
        for request in starting:
            self._effects[live.id, request.execution_id] = effects
            effects.start(request)

    def _finished(self, instance_id: str, finished: Finished) -> None:
        execution_id, attempt, result = finished
        if self._effects.pop((instance_id, execution_id), None) is None:
            return
        self.submit(EffectJob(instance_id, EffectRef(execution_id, attempt, self.owner), result))

    def runs_effect(self, instance_id: str, execution_id: int) -> bool:
        return (instance_id, execution_id) in self._effects

    async def adopt_effect(self, row: EffectRow) -> None:
        """Run an effect that was given to this node, with the inputs that its row kept."""
        stored = await self.row(row.instance_id)
        plan = await self.pins.plan(stored.content)
        live = decode_state(stored.state, plan, self.clock.now_ns, self.services)
        request = live.effects.get(row.execution)
        if request is None:
            return
        request.attempt = row.attempt
        live.waiters[row.execution].attempt = row.attempt
        live.new_effects = [request]
        live.canceled_effects = []
        self.start_effects(live)

    # -- waiting for something to happen -------------------------------------------------------------------------------

    def works_on(self, instance_id: str) -> bool:
        return any(key[0] == instance_id for key in self._effects) or any(lane.has(instance_id) for lane in self._lanes)

    async def changed(self, instance_id: str) -> None:
        """Wait for the next commit of the instance on this node."""
        news = self._watchers.setdefault(instance_id, asyncio.Event())
        await news.wait()

    def tell_watchers(self, instance_id: str) -> None:
        news = self._watchers.pop(instance_id, None)
        if news is not None:
            news.set()

    @property
    def busy(self) -> int:
        """How many effects run here now."""
        return len(self._effects)

    def now(self) -> datetime:
        return self.clock.now()
