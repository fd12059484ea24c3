"""The reaper: takes over effects of nodes that died. They run again, fail, or are held, as `on_lost` says.

The row changes its owner first, decided by the store, so of two nodes that see the same dead node only one continues. The
idempotency key of an effect is (instance, execution) and the same for every attempt (rule H3); the inputs are those of the row.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TypeVar

from holdfast import telemetry
from holdfast.errors import HoldfastError, StoreUnavailable
from holdfast.execution.record import EffectFailure
from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.instance import LOST
from holdfast.model.node_details import read_details
from holdfast.model.policy import OnLost
from holdfast.model.pulse import Pulse
from holdfast.model.stored import InstanceKey
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.ports import Store
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.jobs.effect import EffectJob, HoldJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.effects.effect_pages import EffectPages
from holdfast.runtime.effects.launcher import EffectLauncher
from holdfast.runtime.effects.poison import PoisonEffects
from holdfast.runtime.effects.running_effects import CANCELED, EffectKey, RunningEffects
from holdfast.runtime.effects.takeover_receipts import ITS_QUEUE, TakeoverReceipts
from holdfast.runtime.intake import QUARANTINE_TIME, Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.obstacles import OBSTACLES, Obstacles
from holdfast.runtime.service import BackgroundTasks, WakeableService

logger = logging.getLogger("holdfast")
T = TypeVar("T")

PAGE = 100
HEAD_START_SECONDS = 1.0
"""Pause between the starts of effects that were lost before; most such effects end sooner."""
IDLE_WAIT_SECONDS = 5.0
"""Time for which an isolated retry waits until other effects end; no effect starts meanwhile."""
ISOLATION_SECONDS = 30.0
"""Time for which an isolated retry keeps other effects from starting."""
ISOLATION_WAIT_MAX = timedelta(minutes=10)
"""Maximum wait for an idle node before an isolated retry runs without isolation."""
PARKED_RETRY = timedelta(minutes=1)
"""Pause until an effect is tried again whose code or classes this process lacks."""
PARALLEL_TAKEOVERS = 16
END_CANCELED_SECONDS = 5.0
"""Time for which a stopping node waits until canceled effects that no node runs have ended."""
FORGET_NODES_EVERY = 100
"""Pulses between two removals of old nodes from the registry."""
FORGET_NODES_AFTER = timedelta(days=1)


class Reaper:
    resend: Callable[[EffectRow], None]
    """Sends a step to its queue again; set by the node."""
    may_lack_ticket: Callable[[EffectRow, datetime], bool]
    """Whether a step that no node owns must be sent again; set by the node."""

    def __init__(
        self,
        store: Store,
        tenants: Collection[str],
        queues: Collection[str],
        membership: Membership,
        liveness: Liveness,
        intake: Intake,
        reader: InstanceReader,
        lanes: Lanes,
        in_hand: InstancesInHand,
        running: RunningEffects,
        launcher: EffectLauncher,
        receipts: TakeoverReceipts,
        poison: PoisonEffects,
        obstacles: Obstacles,
        log: OutageLog,
    ) -> None:
        """`queues` are the stored names of the queues that this node serves."""
        self._store = store
        self._tenants = tenants
        self._queues = frozenset(queues)
        self._membership = membership
        self._liveness = liveness
        self._intake = intake
        self._reader = reader
        self._lanes = lanes
        self._in_hand = in_hand
        self._running = running
        self._launcher = launcher
        self._receipts = receipts
        self._poison = poison
        self._pulses = 0
        self._lost_pages: dict[str, EffectPages] = {tenant: EffectPages(PAGE) for tenant in tenants}
        self._waiting_pages: dict[str, EffectPages] = {tenant: EffectPages(PAGE) for tenant in tenants}
        self._isolation_since: dict[EffectKey, float] = {}
        self._ending = BackgroundTasks("canceled effects could not be ended; the sweep does it")
        self._obstacles = obstacles
        self._parked_until: dict[EffectKey, float] = {}
        """Effects whose code or classes this process lacks, and when they are tried again."""
        self._asked: Pulse | None = None
        """The pulse that the next sweep works on."""
        self._service = WakeableService(
            "reaper", self._sweep_asked, failure="effects of dead nodes could not be taken over", log=log
        )

    def start(self) -> None:
        self._service.start()

    async def stop(self) -> None:
        await self._service.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(END_CANCELED_SECONDS):
                await self._ending.wait()
        await self._ending.stop()

    # -- sweep ---------------------------------------------------------------------------------------------------------

    def pulsed(self, pulse: Pulse) -> None:
        """Sweep if the pulse tells of effects that a sweep could start, or of nodes to forget."""
        if not self._liveness.may_start_effects:
            return
        self._notice_deaths(pulse.now, pulse.nodes)
        self._pulses += 1
        forgets = self._pulses % FORGET_NODES_EVERY == 0 and any(
            node.heartbeat < pulse.now - FORGET_NODES_AFTER for node in pulse.nodes
        )
        if pulse.has_lost_effects or pulse.has_waiting_effects or pulse.has_own_effects or forgets:
            self._asked = pulse
            self._service.wake()

    async def _sweep_asked(self) -> None:
        pulse, self._asked = self._asked, None
        if pulse is not None:
            await self._sweep(pulse)

    async def sweep(self) -> int:
        """Take over effects that dead nodes left; returns their number."""
        if not self._liveness.may_start_effects:
            return 0
        pulse = await self._store.pulse(self._membership.owner, ())
        self._notice_deaths(pulse.now, pulse.nodes)
        return await self._sweep(pulse)

    async def _sweep(self, pulse: Pulse) -> int:
        taken = 0
        for tenant in self._tenants if pulse.has_lost_effects else ():
            taken += await self._take_lost(tenant)
        for tenant in self._tenants if pulse.has_waiting_effects else ():
            taken += await self._take_waiting(tenant, pulse.now)
        if self._pulses % FORGET_NODES_EVERY == 0:
            await self._store.forget_nodes(pulse.now - FORGET_NODES_AFTER)
        return taken + (await self._restart_own() if pulse.has_own_effects else 0)

    def _notice_deaths(self, now: datetime, nodes: Sequence[NodeRow]) -> None:
        """Be in quarantine for a minute after the death of a node that served the same tenants (rule H15)."""
        for other in nodes:
            gone = other.heartbeat + other.time_to_live
            died = other.state is not NodeState.LEFT and gone <= now < gone + QUARANTINE_TIME
            if died and other.id != self._membership.name and not self._liveness.may_renew(other, now):
                details = read_details(other.details)
                if any(details.serves(tenant) for tenant in self._tenants):
                    self._intake.start_quarantine()

    async def _take_lost(self, tenant: str) -> int:
        """Page by page, as long as rows are taken over."""
        taken, pages = 0, self._lost_pages[tenant]
        while True:
            page = await pages.next(lambda after: self._store.lost_effects(tenant, PAGE, after))
            lost = await self._without_returning(page) if page else []
            suspects = [row for row in lost if row.attempt > 1]
            moved = sum(map(bool, await self._each([row for row in lost if row not in suspects], self.take)))
            moved += await self._take_suspects(suspects)
            taken += moved
            if len(page) < PAGE or not moved or not self._liveness.may_start_effects:
                return taken

    async def _without_returning(self, page: Sequence[EffectRow]) -> list[EffectRow]:
        """Effects of nodes that died. A node that may be about to renew its lease keeps its effects, and so does this node.

        The nodes are read after the effects: an outage between the two reads must not make a living node look dead.
        """
        now = await self._store.now()
        keeping = {node.owner for node in await self._store.list_nodes() if self._liveness.may_renew(node, now)}
        keeping.add(self._membership.owner)
        return [row for row in page if row.owner not in keeping] if self._liveness.may_start_effects else []

    async def _take_waiting(self, tenant: str, now: datetime) -> int:
        """Effects without an owner: inline ones were given back by a stopped node or imported; steps may need resending."""
        waiting = await self._waiting_pages[tenant].next(
            lambda after: self._store.waiting_effects(tenant, now, PAGE, after)
        )
        taken = await self._each([row for row in waiting if row.canceled or not row.queue], self.take)
        steps = [row for row in waiting if row.queue and not row.canceled]
        await self._each([row for row in steps if self.may_lack_ticket(row, now)], self._send_again)
        return sum(map(bool, taken))

    async def _take_suspects(self, suspects: list[EffectRow]) -> int:
        """An effect that was lost before may be the cause of the deaths: the next one waits a while for its end. The order is
        random: if another effect is the cause, the first one would be lost each time."""
        random.shuffle(suspects)
        taken = 0
        for row in suspects:
            if await self._logged(row, self._poison.needs_isolation):
                # A step is left to a node that serves its queue, which runs it in isolation instead of queueing it.
                if not row.queue or row.queue in self._queues:
                    taken += bool(await self._logged(row, self._take_isolated))
            elif await self._logged(row, self.take):
                taken += 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(HEAD_START_SECONDS):
                        await self._running.wait_ended(_key_of(row))
        return taken

    async def _restart_own(self) -> int:
        """Start effects that this node owns and does not run: the store became unavailable during their takeover.

        Rows are read twice, since a commit or a result may be in progress.
        """
        idle = await self._idle_own()
        again = [row for row in await self._idle_own() if row in idle] if idle else []
        await self._each(again, self._launch_or_return)
        return len(again)

    async def _idle_own(self) -> list[EffectRow]:
        rows = await self._store.effects_owned(self._membership.owner)
        return [
            row
            for row in rows
            if row.tenant in self._tenants and not self._in_hand.has(InstanceKey(row.tenant, row.instance_id))
        ]

    async def _send_again(self, row: EffectRow) -> None:
        await self._receipts.complete(row)
        self.resend(row)

    async def _each(self, rows: Sequence[EffectRow], work: Callable[[EffectRow], Awaitable[T]]) -> list[T | None]:
        """In parallel, within a limit: takeovers mostly wait for the store."""
        slots = asyncio.Semaphore(PARALLEL_TAKEOVERS)

        async def one(row: EffectRow) -> T | None:
            async with slots:
                return await self._logged(row, work)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(row)) for row in rows]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    # -- one instance, on request --------------------------------------------------------------------------------------

    def end_canceled(self, key: InstanceKey) -> None:
        """End canceled effects of the instance that no live node runs. The sweep does the same, later."""
        self._ending.start(self._end_canceled(key))

    async def _end_canceled(self, key: InstanceKey) -> None:
        await self._each([row for row in await self._unowned(key) if row.canceled], self.take)

    async def recover(self, key: InstanceKey) -> int:
        """Take over the effects of one instance; returns their number."""
        return sum([await self._recover_one(row) for row in await self._unowned(key)])

    async def held(self, key: InstanceKey) -> list[EffectRow]:
        """Effects that `on_lost: hold` keeps from running again."""
        lost = [row for row in await self._unowned(key) if row.on_lost == OnLost.HOLD]
        return [row for row in lost if row.owner != NO_OWNER or not row.queue]  # Otherwise it waits for a worker.

    async def _unowned(self, key: InstanceKey) -> list[EffectRow]:
        """Effects of the instance that no live node owns."""
        now = await self._store.now()
        alive = {item.owner for item in await self._store.list_nodes() if item.alive_at(now)}
        return [row for row in await self._store.effects_of(key.tenant, key.id) if row.owner not in alive]

    async def _recover_one(self, row: EffectRow) -> bool:
        """A request does not wait until other effects have ended."""
        if row.owner == NO_OWNER or row.queue or not await self._poison.needs_isolation(row):
            return await self.take(row)
        return await self._take_isolated(row, patient=False)

    # -- one effect ----------------------------------------------------------------------------------------------------

    async def _take_isolated(self, row: EffectRow, *, patient: bool = True) -> bool:
        """Run the effect with no other effect beside it. If other effects do not end here, leave it to another node."""
        key = _key_of(row)
        since = self._isolation_since.setdefault(key, time.monotonic())
        async with self._running.isolated(key, IDLE_WAIT_SECONDS) as is_idle:
            too_long = not patient or time.monotonic() - since >= ISOLATION_WAIT_MAX.total_seconds()
            if not (is_idle or too_long) or not await self.take(row, alone=is_idle, here=True):
                return False
            self._isolation_since.pop(key, None)
            with suppress(TimeoutError):
                async with asyncio.timeout(ISOLATION_SECONDS if patient else 0):
                    await self._running.wait_ended(key)
        return True

    async def take(self, row: EffectRow, *, alone: bool = False, here: bool = False) -> bool:
        """Take over one effect; False if it is held or another node was first. `here` runs also a step on this node."""
        key = InstanceKey(row.tenant, row.instance_id)
        if row.on_lost == OnLost.HOLD:
            self._lanes.submit(HoldJob(key, row.execution, row.owner.node))
            return False
        was_lost = row.owner != NO_OWNER  # An attempt that a node gave back does not count.
        # A step returns to its queue: not every node serves it.
        to_queue = bool(row.queue) and row.on_lost != OnLost.FAIL and was_lost and not row.canceled and not here
        owner = NO_OWNER if to_queue else self._membership.owner
        new, contact = EffectRef(row.execution, row.attempt + was_lost, owner), self._liveness.contact_since
        if not to_queue:  # A node that lacks code or classes leaves the effect to others, uncounted (rule H10).
            await self._reader.live(key)
        self._in_hand.hold(key)  # No lane knows of the effect yet.
        try:
            moved = await self._move(row, new) if contact == self._liveness.contact_since else None
            if moved is None:
                return False
            if was_lost:
                by = ITS_QUEUE if to_queue else self._membership.name
                await self._receipts.write(moved, died=row.owner.node, by=by, alone=alone)
            await self._continue(row, moved, to_queue=to_queue)
            if was_lost and telemetry.listeners:
                telemetry.emit(
                    "effect.taken_over",
                    tenant=row.tenant,
                    instance_id=row.instance_id,
                    activity_id=row.activity_id,
                    attempt=moved.attempt,
                    node=row.owner.node,
                )
        finally:
            self._in_hand.release(key)
        return True

    async def _move(self, row: EffectRow, new: EffectRef) -> EffectRow | None:
        """Change the owner while the lease of this node lasts: after an outage, the old owner may be alive."""
        try:
            async with asyncio.timeout(max(0.0, self._liveness.seconds_left)):
                return await self._store.move_effect(row.tenant, row.instance_id, row.ref, new)
        except TimeoutError:
            raise StoreUnavailable("The store did not answer while the lease of this node lasted.") from None

    async def _logged(self, row: EffectRow, work: Callable[[EffectRow], Awaitable[T]]) -> T | None:
        """An effect that cannot be taken over now does not stop the others. One whose code or classes this process lacks is
        tried again after a pause."""
        key = _key_of(row)
        if self._parked_until.get(key, 0.0) > time.monotonic():
            return None
        self._parked_until.pop(key, None)
        try:
            return await work(row)
        except AWAY:
            raise
        except OBSTACLES as error:
            self._obstacles.met(row.tenant, error, instance_id=row.instance_id)
            self._parked_until[key] = time.monotonic() + PARKED_RETRY.total_seconds()
            return None
        except HoldfastError:
            logger.warning("an effect of instance %s could not be taken over", row.instance_id, exc_info=True)
            return None

    async def _launch_or_return(self, row: EffectRow) -> None:
        """Give an own effect back that this process cannot read: another node may."""
        try:
            await self._launcher.launch(row)
        except OBSTACLES:
            given = EffectRef(row.execution, row.attempt, NO_OWNER)
            await self._store.move_effect(row.tenant, row.instance_id, row.ref, given)
            raise

    async def _continue(self, row: EffectRow, moved: EffectRow, *, to_queue: bool) -> None:
        if moved.canceled:
            lost = row.owner != NO_OWNER
            self._running.end_unstarted(InstanceKey(row.tenant, row.instance_id), moved.ref, LOST if lost else CANCELED)
        elif row.on_lost == OnLost.FAIL:
            message = f"Node '{row.owner.node}' died while it ran, and it is not run again (on_lost: fail)."
            failed = EffectFailure(type="EffectLost", message=message, cause="lost")
            self._lanes.submit(EffectJob(InstanceKey(row.tenant, row.instance_id), moved.ref, failed))
        elif to_queue:
            self.resend(moved)
        else:
            await self._launcher.launch(moved)


def _key_of(row: EffectRow) -> EffectKey:
    return InstanceKey(row.tenant, row.instance_id), row.execution
