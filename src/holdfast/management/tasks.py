"""Human tasks: lists, and the actions claim, release and complete."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from holdfast.errors import InstanceNotFound, TaskClosed, TaskNotFound
from holdfast.model.record_rows import RecordQuery
from holdfast.model.tasks import LIVE, ROLE, TASK, USER, Task, TaskState, task_of
from holdfast.runtime.commits.jobs.task import ClaimTask, CompleteTask, ReleaseTask, TaskJob
from holdfast.runtime.facade import Runtime


class TaskPage(Struct, frozen=True, kw_only=True):
    items: tuple[Task, ...]
    total: int
    cursor: str | None = None
    """Cursor of the next page; None on the last page."""


class Tasks:
    """Tasks of one tenant. `roles` limits a person to tasks for these roles; None: the caller has checked the permission."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def list(
        self,
        *,
        for_user: str | None = None,
        roles: Collection[str] = (),
        states: Sequence[str] = LIVE,
        instance_id: str | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> TaskPage:
        """Tasks, latest first: all, or the tasks for a user, for their roles, or for everyone."""
        owners = () if for_user is None else (USER + for_user, *(ROLE + role for role in sorted(roles)), "")
        query = RecordQuery(
            tenant=self._runtime.tenant,
            kind=TASK,
            owners=owners,
            states=tuple(states),
            instance_id=instance_id,
            limit=limit + 1,
            after=after or "",
        )
        rows = await self._runtime.store.list_records(query)
        total = await self._runtime.store.count_records(query)
        cursor = rows[limit - 1].cursor if len(rows) > limit else None
        return TaskPage(items=tuple(task_of(row) for row in rows[:limit]), total=total, cursor=cursor)

    async def get(self, task_id: str) -> Task:
        row = await self._runtime.store.get_record(self._runtime.tenant, TASK, task_id)
        if row is None:
            raise TaskNotFound(task_id)
        return task_of(row)

    async def claim(self, task_id: str, who: str, *, roles: Collection[str] | None = None) -> Task:
        """Claim the task for a person. Claiming it twice changes nothing."""
        task = await self.get(task_id)
        return await self._done(ClaimTask(self._runtime.key(task.instance_id), task_id, who, roles), task)

    async def release(self, task_id: str, who: str, *, roles: Collection[str] | None = None) -> Task:
        """Release the task, so that others may claim it."""
        task = await self.get(task_id)
        return await self._done(ReleaseTask(self._runtime.key(task.instance_id), task_id, who, roles), task)

    async def complete(
        self, task_id: str, who: str, answer: Any = None, *, roles: Collection[str] | None = None
    ) -> Task:
        """Answer the task: the workflow continues with the answer. A repeated answer by the same person changes nothing.

        Raises `AnswerRefused` with a path for each problem if the answer does not fit the form.
        """
        task = await self.get(task_id)
        try:
            return await self._done(
                CompleteTask(self._runtime.key(task.instance_id), task_id, who, roles, answer), task
            )
        except TaskClosed:
            now = await self.get(task_id)
            if (now.state, now.completed_by, now.answer) == (TaskState.COMPLETED, who, answer):
                return now
            raise TaskClosed(task_id, now.state) from None

    async def _done(self, job: TaskJob, task: Task) -> Task:
        if not task.is_live:
            raise TaskClosed(task.id, task.state)
        try:
            await self._runtime.ask(job)
        except InstanceNotFound:
            raise TaskNotFound(task.id) from None
        return await self.get(task.id)
