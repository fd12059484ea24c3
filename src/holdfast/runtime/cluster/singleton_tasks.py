"""Recurring tasks that run on one node of the cluster at a time: on the first node that claims the task when it is due.

A claim is a record with the next version number: of all nodes that find the task due, one writes it. If that node dies after
the claim, this run is lost; any node may claim the next run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.ports import Store
from holdfast.runtime.cluster.plugin_tasks import RecurringTask
from holdfast.runtime.intake import Intake
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import PeriodicService

logger = logging.getLogger("holdfast")

KIND = "single-task"
CHECK_INTERVAL_MAX = timedelta(seconds=5)
"""Longest pause until the first check, and after a check that failed; a shorter interval of the task is checked four times."""
CHECK_INTERVAL_MIN = timedelta(milliseconds=10)
"""Shortest pause between two checks."""


class SingletonTasks:
    def __init__(
        self,
        store: Store,
        tenant: str,
        membership: Membership,
        intake: Intake,
        log: OutageLog,
        tasks: Sequence[RecurringTask],
    ) -> None:
        """`tenant` is the tenant of the claim records."""
        self._store = store
        self._tenant = tenant
        self._membership = membership
        self._intake = intake
        self._services = [
            PeriodicService(
                task.name,
                partial(self._run, task),
                every=min(task.every / 4, CHECK_INTERVAL_MAX),
                failure=f"the task '{task.name}' could not be claimed",
                log=log,
                pause_first=True,
            )
            for task in tasks
        ]

    def start(self) -> None:
        for service in self._services:
            service.start()

    async def stop(self) -> None:
        await asyncio.gather(*(service.stop() for service in self._services))

    async def _run(self, task: RecurringTask) -> timedelta | None:
        if self._intake.paused:
            return None
        due, is_mine = await self.claim(task)
        if is_mine:
            await self._execute(task)
        return min(max(due, CHECK_INTERVAL_MIN), task.every)

    async def _execute(self, task: RecurringTask) -> None:
        try:
            await task.task()
        except StoreError:
            raise  # The service logs it as an outage of the store.
        except Exception:
            logger.exception("The single-node task '%s' failed; it runs again in %s.", task.name, task.every)

    async def claim(self, task: RecurringTask) -> tuple[timedelta, bool]:
        """Time until the task is due next, and whether this node runs it now. The first run is one interval after a node first
        saw the task."""
        now = await self._store.now()
        found = await self._store.get_record(self._tenant, KIND, task.name)
        if found is not None and (found.due is None or found.due > now):
            return (task.every if found.due is None else found.due - now), False
        row = RecordRow(
            tenant=self._tenant,
            kind=KIND,
            id=task.name,
            version=1 if found is None else found.version + 1,
            owner=self._membership.name,
            due=now + task.every,
            created=now,
            updated=now,
        )
        is_mine = await self._store.put_record(row) and found is not None
        return task.every, is_mine
