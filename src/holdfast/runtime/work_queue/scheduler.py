"""Fires schedules: the start of an instance and the next due time, in one commit (rule M20).

Every node looks; whoever commits first has it, for the stored due time is a guard. The instance's id is made of trigger and
due time, so that nothing can start the same firing twice. Due times are by the store's clock.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.errors import DefinitionError, HoldfastError, StoreError
from holdfast.model import schedule
from holdfast.model.catalog import Which
from holdfast.model.commit import Commit
from holdfast.model.schedule import Rule
from holdfast.model.work import ScheduleRow, ScheduleStep
from holdfast.runtime.commits.jobs.base import Answer
from holdfast.runtime.commits.starts import Start, start_job
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

LIMIT = 1_000
POLL = timedelta(milliseconds=250)
PATIENCE = timedelta(seconds=60)
"""A firing that is later than this was missed: its misfire policy decides."""
PAUSE = timedelta(seconds=5)
"""Until a schedule that this node cannot fire is looked at again."""


class Firing:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._task: asyncio.Task[None] | None = None
        self._in_hand: dict[str, float] = {}
        """Schedules that this node is at, or leaves alone until then (by the loop's time)."""

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-schedules")

    async def stop(self) -> None:
        if self._task is not None:
            await end([self._task])
            self._task = None

    async def _run(self) -> None:
        while True:
            try:
                fired = 0 if self._node.gate.paused else await self.fire_due()
            except StoreError:
                self._node.outage.warn("due schedules could not be read")
                fired = 0
            if not fired:
                await asyncio.sleep(POLL.total_seconds())

    async def fire_due(self) -> int:
        """Fire what is due now, and wait until it is committed; how many."""
        node = self._node
        loop = asyncio.get_running_loop()
        rows = [
            row
            for row in await node.store.due_schedules(LIMIT)
            if row.tenant == node.tenant and self._in_hand.get(row.id, 0.0) <= loop.time()
        ]
        if not rows:
            return 0
        now = await node.store.now()
        done = await asyncio.gather(*(self._fire(row, now) for row in rows))
        return sum(done)

    async def _fire(self, row: ScheduleRow, now: datetime) -> bool:
        loop = asyncio.get_running_loop()
        self._in_hand[row.id] = loop.time() + PAUSE.total_seconds()
        try:
            await self._decide(row, now)
        except DefinitionError:
            return False  # The code is not here, or the definition is gone: left to others, and looked at again later.
        except AWAY:
            self._node.outage.warn("schedule %s could not be fired", row.id)
            return False
        except HoldfastError:
            logger.exception("schedule %s could not start its workflow; this firing is lost", row.id)
            await self.move(row, schedule.decode_rule(row.payload), now)
        del self._in_hand[row.id]
        return True

    async def _decide(self, row: ScheduleRow, now: datetime) -> None:
        assert row.due is not None
        rule = schedule.decode_rule(row.payload)
        firing = schedule.decide(rule, self._node.calendar, row.due, now, PATIENCE)
        step = ScheduleStep(row.id, row.due, firing.next_due)
        if firing.start is None:
            await self._move(step)
            return
        answer = await self.begin(row, rule, firing.start, step)
        if answer.existing is not None:  # It was started before, or its place is taken: the schedule goes on.
            await self._move(step)

    async def begin(self, row: ScheduleRow, rule: Rule, due: datetime, step: ScheduleStep | None) -> Answer:
        """Start the published version at the trigger. Without a step the schedule's row is not touched ("run now")."""
        node = self._node
        label = await node.store.find_version(node.tenant, row.definition_id, Which.PUBLISHED)
        if label is None:
            raise DefinitionError(f"Definition '{row.definition_id}' is not published any more. Publish it again.")
        plan = await node.pins.plan(label.content)
        identity = schedule.instance_id(row.id, due) if step is not None else node.next_id()
        if (holder := await node.slot_holder(plan, None)) is not None:
            return Answer(existing=holder)
        start = Start(
            plan=plan,
            content=label.content,
            instance_id=identity,
            trigger=rule.activity_id,
            trigger_payload={"due": due},
        )
        job = start_job(node, start, fires=step)
        assert job.answer is not None
        node.submit(job)
        return await job.answer

    async def move(self, row: ScheduleRow, rule: Rule, now: datetime) -> None:
        """On to the next due time, without a start."""
        assert row.due is not None
        following = schedule.first_after(rule, self._node.calendar, row.due, max(now, row.due))
        await self._move(ScheduleStep(row.id, row.due, following))

    async def _move(self, step: ScheduleStep) -> None:
        node = self._node
        await node.store.commit([Commit(tenant=node.tenant, burst_id=node.next_id(), schedules_fired=(step,))])
