"""One node: this process as the cluster sees it. Lanes, effects in flight, hot states, a heartbeat.

An instance's jobs all go through the lane that its id hashes to, so that in one process it occurs once at a time. The hot
cache keeps encoded rows, never live objects: a segment that fails has mutated those.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from zlib import crc32

from holdfast.errors import DefinitionError, ExecutionError, InstanceNotFound, StoreError
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.segment import Limits
from holdfast.management.nodes import describe_node
from holdfast.model.catalog import Source, Which
from holdfast.model.cluster import NodeState
from holdfast.model.commit import Commit
from holdfast.model.cron import CRON
from holdfast.model.definition import Definition
from holdfast.model.ids import IdGenerator
from holdfast.model.stored import DEFAULT_TENANT, InstanceKey, InstanceRow, ValueRow
from holdfast.model.work import DEFAULT_QUEUE, NO_OWNER, Owner, queue_of
from holdfast.ports import Clock, CronCalendar, DefinitionSource, MiddlewarePlacement, Outlet, Services, Store
from holdfast.runtime.clock import follow_store
from holdfast.runtime.cluster.heartbeat import Heart
from holdfast.runtime.cluster.plugin_tasks import Recurring
from holdfast.runtime.cluster.singleton_tasks import SingleTasks
from holdfast.runtime.commits.commit_builder import Maker
from holdfast.runtime.commits.instance_watch import Watching
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.lane import Lane
from holdfast.runtime.commits.large_values import StateMoved, ValueCache, refers_to
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.commits.work_rows import parent_of
from holdfast.runtime.effects.cancel_watch import Following
from holdfast.runtime.effects.pools import EffectPools
from holdfast.runtime.effects.reaper import TakeOver
from holdfast.runtime.effects.running import EffectsHere
from holdfast.runtime.observability.outage_log import Outage
from holdfast.runtime.plans.missing_code import References
from holdfast.runtime.plans.plan_cache import PinnedPlans
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.worker import Steps
from holdfast.runtime.stimuli.router import Post
from holdfast.runtime.work_queue.poller import Uptake
from holdfast.runtime.work_queue.quarantine import Gate
from holdfast.runtime.work_queue.scheduler import Firing

logger = logging.getLogger("holdfast")

HOT_MAX = 10_000
TIME_TO_LIVE = timedelta(seconds=30)
SWEEP = timedelta(seconds=5)

DRAIN_LOOK = 0.05
"""Seconds between two looks whether a draining node is done."""

OnLine = Callable[[str], None]


class Node:
    next_id: Callable[[], str]
    """Of instances and rows; there once it is registered."""

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
        beat_every: timedelta | None = None,
        sweep_every: timedelta = SWEEP,
        second_handle: Callable[[], Store] | None = None,
        definitions: DefinitionSource | None = None,
        queues: Sequence[str] = (DEFAULT_QUEUE,),
        takes_work: bool = True,
        does_own: bool = True,
        step_concurrency: int = 32,
        step_limits: Mapping[str, Limit] | None = None,
        cluster_limits: Mapping[str, Limit] | None = None,
        single_tasks: Sequence[Recurring] = (),
        placement: Placement | None = None,
        keeps_states: bool = False,
    ) -> None:
        """`second_handle` makes another handle of the store, for the heartbeat. `queues`: served if it `takes_work`."""
        self.store = store
        self.tenant = tenant
        self.clock = clock
        self.services = services
        self.name = name
        self.pins = PinnedPlans(store, tenant, plan_of, clock.now)
        self.hot: OrderedDict[str, InstanceRow] = OrderedDict()
        self.owner = Owner(name, 0)
        self.placement = placement or Placement()
        self.keeps_states = keeps_states
        """The state of each commit is kept (`history = snapshots`)."""
        self.maker = Maker(tenant, self.owner, self.placement, self.pins.numbers)
        self.queues, self.takes_work, self.does_own = tuple(queues), takes_work, does_own
        self.work_queues = [queue_of(tenant, queue) for queue in self.queues]
        self.gate = Gate()
        self.outage = Outage(name)
        self.calendar = _calendar(services)
        self.uptake = Uptake(self, limits)
        self.post = Post(self)
        self.outlets: tuple[Outlet, ...] = ()
        """Where lifecycle events of its instances go."""
        self.heart = Heart(self, time_to_live, beat_every=beat_every, second_handle=second_handle)
        self.sweep_every = sweep_every
        self.takeover = TakeOver(self)
        self.firing = Firing(self)
        self.following = Following(self)
        self.references = References(self)
        self.steps = Steps(self, self.placement, step_concurrency, step_limits, cluster_limits)
        self.single = SingleTasks(self, single_tasks)
        self.effects = EffectsHere(self, pools, middleware, cancel_grace)
        self._plan_of, self._definitions = plan_of, definitions
        self._grace = cancel_grace
        self._lanes = [Lane(self, limits) for _ in range(lanes)]
        self._values = ValueCache()
        self._held: Counter[str] = Counter()
        self.claimed: set[str] = set()
        """Instances that are run inside a claim now: lanes leave them alone."""
        self.watching = Watching(self.works_on)
        self.listeners: dict[str, list[OnLine]] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self._running = False

    # -- life ----------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        registration = await self.store.register_node(
            self.name, time_to_live=self.heart.time_to_live, details=describe_node(self)
        )
        await follow_store(self.clock, self.store)
        self.owner = registration.node.owner
        self.maker = Maker(self.tenant, self.owner, self.placement, self.pins.numbers)
        if registration.predecessor_died:
            self.gate.be_careful()
        self.next_id = IdGenerator(self.clock.now_ns, registration.node.worker)
        for lane in self._lanes:
            lane.start()
        self.heart.start()
        self.following.start()
        self._running = True

    def take_work(self) -> None:
        """From now on also do what others left on the work table, and take over from nodes that died."""
        self.uptake.start()
        self.takeover.start()
        self.post.start()
        self.firing.start()
        self.references.start()
        self.steps.start()
        self.single.start()

    async def drain(self, limit: timedelta) -> bool:
        """Take nothing new and let what is in hand end, within the limit; whether it did. `stop` comes after it."""
        self.gate.paused = True
        self.heart.state = NodeState.DRAINING
        await self.steps.stop_taking()
        try:
            async with asyncio.timeout(limit.total_seconds()):
                await self.heart.beat()
                while True:
                    if not self.is_busy:
                        return True
                    await asyncio.sleep(DRAIN_LOOK)
        except (TimeoutError, StoreError):
            return not self.is_busy

    @property
    def is_busy(self) -> bool:
        return bool(len(self.effects) or self._held or self.uptake.in_hand or any(lane.busy for lane in self._lanes))

    async def stop(self) -> None:
        """Drain: the batches under way are finished, running effects canceled and given back, then goodbye."""
        if not self._running:
            return
        self._running = False
        await self.single.stop()
        await self.steps.stop()
        await self.firing.stop()
        await self.following.stop()
        await self.references.stop()
        await self.uptake.stop()
        await self.takeover.stop()
        await self.post.stop()
        for lane in self._lanes:
            await lane.stop(self._grace.total_seconds())
        left = await self.effects.stop()
        await self.heart.stop()
        if self._chores:
            await asyncio.wait(list(self._chores))
        try:
            for instance_id, ref in left:
                await self.store.own_effect(self.tenant, instance_id, ref, NO_OWNER)
            await self.store.leave(self.owner)
        except StoreError:
            self.outage.warn("node %s could not say goodbye", self.name)

    # -- work ----------------------------------------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        self.lane_of(job.instance_id).submit(job)

    def lane_of(self, instance_id: str) -> Lane:
        return self._lanes[crc32(instance_id.encode()) % len(self._lanes)]

    def keep_claimed(self, instances: Sequence[str]) -> None:
        self.claimed.update(instances)
        for instance_id in instances:
            self.hold(instance_id)

    def free_claimed(self, instances: Sequence[str]) -> None:
        self.claimed.difference_update(instances)
        for instance_id in instances:
            self.let_go(instance_id)
        for lane in self._lanes:
            lane.look()

    def use_up(self, work_id: str) -> asyncio.Task[None]:
        """Delete a work row that asks for nothing any more."""

        async def delete() -> None:
            try:
                await self.store.commit([Commit(tenant=self.tenant, burst_id=self.next_id(), work_consumed=(work_id,))])
            except StoreError:
                self.outage.warn("work row %s could not be deleted", work_id)

        task = asyncio.get_running_loop().create_task(delete())
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)
        return task

    # -- states --------------------------------------------------------------------------------------------------------

    def keep_hot(self, row: InstanceRow) -> None:
        if row.finished is not None:
            self.hot.pop(row.id, None)
            return
        hot = self.hot
        if row.id in hot:
            hot.move_to_end(row.id)
        hot[row.id] = row
        if len(hot) > HOT_MAX:
            hot.popitem(last=False)

    def saw(self, row: InstanceRow) -> None:
        """A row as it was read: hot, unless this node knows a later one."""
        known = self.hot.get(row.id)
        if known is None or known.version < row.version:
            self.keep_hot(row)

    def forget(self, instance_id: str) -> None:
        self.hot.pop(instance_id, None)

    async def row(self, instance_id: str) -> InstanceRow:
        """The row of an instance as it is stored: never a hot one, another node may have moved on."""
        key = InstanceKey(self.tenant, instance_id)
        found = (await self.store.load([key])).instances.get(key)
        if found is None:
            raise InstanceNotFound(instance_id)
        return found

    async def state(self, instance_id: str) -> tuple[InstanceRow, Mapping[str, bytes]]:
        """The row, and the values that its state refers to: of one version, however often others move it meanwhile."""
        while True:
            row = await self.row(instance_id)
            try:
                return row, await self.values_of(row)
            except StateMoved:
                if (await self.row(instance_id)).version == row.version:
                    raise

    async def values_of(self, row: InstanceRow) -> Mapping[str, bytes]:
        """The large values that a state refers to, as they are stored. They never change: a cached one is as good."""
        refs = refers_to(row.state)
        if not refs:
            return {}
        found = {ref: data for ref in refs if (data := self._values.get(row.id, ref)) is not None}
        missing = [ref for ref in refs if ref not in found]
        if missing:
            for ref, data in (await self.store.load_values(self.tenant, row.id, missing)).items():
                found[ref] = data
                self._values.put(row.id, ref, data)
        if len(found) < len(refs):
            raise StateMoved(row.id)
        return found

    def keep_values(self, rows: Sequence[ValueRow]) -> None:
        for row in rows:
            self._values.put(row.instance_id, row.ref, row.data)

    async def find_plan(self, reference: str) -> Plan:
        """A workflow that is executed by id or name: the published one, if it came from code (rule M14: starts by name use the
        current one); else one of this process, else one of the store."""
        label = await self.pins.current.version(reference, Which.PUBLISHED)
        if label is not None and label.details.source is Source.CODE:
            return await self.pins.plan(label.content)
        known = self._definitions.find(reference) if self._definitions is not None else None
        definition = known or await self.pins.find(reference)
        if definition is None:
            raise DefinitionError(
                f"There is no workflow '{reference}'. Import it into the store, or give it to Holdfast(definitions=[…])."
            )
        return self._plan_of(definition)

    async def slot_holder(self, plan: Plan, correlation_id: str | None) -> str | None:
        """The instance that keeps another one of this definition from starting now (rule M2)."""
        slot = plan.slot(correlation_id)
        if slot is None:
            return None
        holder = await self.store.find_guard(self.tenant, slot.ref)
        return None if holder is None else holder.instance_id

    # -- lines ---------------------------------------------------------------------------------------------------------

    def listen(self, instance_id: str, on_line: OnLine) -> None:
        """Hear every line that bursts of the instance write on this node, after their commit, until it ends."""
        listeners = self.listeners.setdefault(instance_id, [])
        if on_line not in listeners:
            listeners.append(on_line)

    def print_lines(self, live: LiveInstance, lines: list[str]) -> None:
        if not self.listeners:
            return
        parent = None if live.parent_id is None else self.listeners.get(parent_of(live.parent_id)[0])
        if parent is not None:
            self.listeners.setdefault(live.id, parent)  # Who listens to a parent hears its children.
        listeners = self.listeners.get(live.id, ())
        for on_line in listeners:
            try:
                for line in lines:
                    on_line(line)
            except Exception:
                logger.exception("a listener to the lines of instance %s failed", live.id)
        if live.status.at_rest:
            self.listeners.pop(live.id, None)

    # -- what is in hand -----------------------------------------------------------------------------------------------

    def hold(self, instance_id: str) -> None:
        """Something of the instance is in hand that no lane knows of."""
        self._held[instance_id] += 1

    def let_go(self, instance_id: str) -> None:
        self._held[instance_id] -= 1
        if self._held[instance_id] <= 0:
            del self._held[instance_id]
        self.watching.tell(instance_id)

    def works_on(self, instance_id: str) -> bool:
        return instance_id in self._held or self.effects.of(instance_id) or self.lane_of(instance_id).has(instance_id)


def _calendar(services: Services) -> CronCalendar:
    """The one that was registered as a service, or ours."""
    try:
        return services.get(CronCalendar)  # type: ignore[type-abstract]  # a port is a name for what was registered
    except ExecutionError:
        return CRON
