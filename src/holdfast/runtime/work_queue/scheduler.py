"""The scheduler: starts instances of due schedules. The start and the next due time are one commit (rule M20).

Every node waits for the first due time, which its pulse tells. The first commit wins, since the stored due time is a guard. The
id of the instance is derived from trigger and due time, so a firing cannot start twice. Due times follow the clock of the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from holdfast.errors import DefinitionError, HoldfastError
from holdfast.model import schedule
from holdfast.model.catalog import Which
from holdfast.model.changes import SCHEDULES, Change
from holdfast.model.commit import Commit
from holdfast.model.pulse import Pulse
from holdfast.model.schedule import Rule
from holdfast.model.stored import InstanceKey
from holdfast.model.work import ScheduleRow, ScheduleStep
from holdfast.ports import CronCalendar, Store
from holdfast.runtime.commits.activation_slots import slot_holder
from holdfast.runtime.commits.jobs.base import Answer
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.intake import Intake
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.service import WakeableService

logger = logging.getLogger("holdfast")

PAGE = 1_000
MISFIRE_AFTER = timedelta(seconds=60)
"""A firing that is later than this was missed: the misfire policy of its schedule decides."""
RETRY_AFTER = timedelta(seconds=5)
"""Pause until a schedule that this node cannot fire is tried again."""
PARKED_RETRY_AFTER = timedelta(seconds=30)
"""Further pause for a schedule whose code this node lacks."""

_ScheduleKey = tuple[str, str]


class Scheduler:
    ask_pulse: Callable[[], None]
    """Asks for the next due time; set by the node."""

    def __init__(
        self,
        store: Store,
        tenants: Collection[str],
        membership: Membership,
        intake: Intake,
        plans: Plans,
        lanes: Lanes,
        calendar: CronCalendar,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._tenants = tenants
        self._membership = membership
        self._intake = intake
        self._plans = plans
        self._lanes = lanes
        self._calendar = calendar
        self._log = log
        self._blocked: dict[_ScheduleKey, float] = {}
        """Schedules that this node fires now, or does not try again before that time of the event loop."""
        self._next: asyncio.TimerHandle | None = None
        self._service = WakeableService("scheduler", self._round, failure="due schedules could not be read", log=log)

    def start(self) -> None:
        self._service.start()

    async def stop(self) -> None:
        self._forget_next()
        await self._service.stop()

    def pulsed(self, pulse: Pulse) -> None:
        """Fire when the first schedule is due."""
        self._forget_next()
        if pulse.next_schedule is not None:
            left = max(0.0, (pulse.next_schedule - pulse.now).total_seconds())
            self._next = asyncio.get_running_loop().call_later(left, self._service.wake)

    def changed(self, change: Change) -> None:
        if change.concerns(SCHEDULES):
            self.ask_pulse()

    def _forget_next(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    async def _round(self) -> None:
        if not self._intake.paused and await self.fire_due():
            self.ask_pulse()  # It tells when the next schedule is due.

    async def fire_due(self) -> int:
        """Fire due schedules and wait for their commits; returns their number."""
        loop = asyncio.get_running_loop()
        rows = [
            row
            for row in await self._store.due_schedules(PAGE)
            if row.tenant in self._tenants and self._blocked.get((row.tenant, row.id), 0.0) <= loop.time()
        ]
        if not rows:
            return 0
        now = await self._store.now()
        done = await asyncio.gather(*(self._fire(row, now) for row in rows))
        return sum(done)

    async def _fire(self, row: ScheduleRow, now: datetime) -> bool:
        key = row.tenant, row.id
        self._blocked[key] = asyncio.get_running_loop().time() + RETRY_AFTER.total_seconds()
        try:
            await self._fire_or_skip(row, now)
        except DefinitionError as error:
            # The code is missing here, or the definition is not published: other nodes may fire it (rule H10).
            self._plans.obstacles.met(row.tenant, error)
            self._blocked[key] += PARKED_RETRY_AFTER.total_seconds()
            return False
        except AWAY:
            self._log.warning("schedule %s could not be fired", row.id)
            return False
        except HoldfastError:
            logger.exception("schedule %s could not start its workflow; this firing is lost", row.id)
            await self._skip(row, schedule.decode_rule(row.payload), now)
        del self._blocked[key]
        return True

    async def _fire_or_skip(self, row: ScheduleRow, now: datetime) -> None:
        assert row.due is not None
        rule = schedule.decode_rule(row.payload)
        firing = schedule.decide(rule, self._calendar, row.due, now, MISFIRE_AFTER)
        step = ScheduleStep(row.id, row.due, firing.next_due)
        if firing.start is None:
            await self._commit_step(row.tenant, step)
            return
        answer = await self.begin(row, rule, firing.start, step)
        if answer.existing is not None:  # Started before, or the slot is taken: the schedule continues.
            await self._commit_step(row.tenant, step)

    async def begin(self, row: ScheduleRow, rule: Rule, due: datetime, step: ScheduleStep | None) -> Answer:
        """Start the published version at the trigger. Without a step the schedule keeps its due time ("run now")."""
        plans = self._plans.of(row.tenant)
        label = await plans.find_version(row.definition_id, Which.PUBLISHED)
        if label is None:
            raise DefinitionError(f"Definition '{row.definition_id}' is not published any more. Publish it again.")
        plan = await plans.plan(label.content)
        if (holder := await slot_holder(self._store, row.tenant, plan, None)) is not None:
            return Answer(existing=holder)
        instance_id = schedule.instance_id(row.id, due) if step is not None else self._membership.next_id()
        start = Start(
            key=InstanceKey(row.tenant, instance_id),
            plan=plan,
            content=label.content,
            trigger=rule.activity_id,
            trigger_payload={"due": due},
        )
        return await self._lanes.ask(StartJob(start, schedule_step=step))

    async def _skip(self, row: ScheduleRow, rule: Rule, now: datetime) -> None:
        """Move to the next due time without a start."""
        assert row.due is not None
        following = schedule.first_after(rule, self._calendar, row.due, max(now, row.due))
        await self._commit_step(row.tenant, ScheduleStep(row.id, row.due, following))

    async def _commit_step(self, tenant: str, step: ScheduleStep) -> None:
        commit = Commit(tenant=tenant, burst_id=self._membership.next_id(), schedules_fired=(step,))
        await self._store.commit([commit])
