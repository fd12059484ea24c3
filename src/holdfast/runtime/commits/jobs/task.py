"""Jobs on human tasks: claim, release, complete. Each changes the instance of the task and journals the person."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec.structs import replace

from holdfast.errors import AnswerRefused, TaskClosed, TaskNotYours, TaskTaken
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model.forms import check_answer
from holdfast.model.instance import Bookmark, JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.model.tasks import Task, TaskState
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.task_rows import find_task, with_task


class TaskJob(ResumeJob):
    """One action of one person. An error means that the action is not allowed and nothing was changed."""

    __slots__ = ("closed", "roles", "task_id", "who")

    verb = ""

    def __init__(
        self, key: InstanceKey, task_id: str, who: str, roles: Collection[str] | None, payload: Any = None
    ) -> None:
        super().__init__(key, "", payload)
        self.task_id = task_id
        self.who = who
        self.roles = roles
        """None: the caller has checked the permission."""
        self.closed: Task | None = None
        """The task as the commit stores it."""

    def apply(self, live: LiveInstance) -> bool:
        self.closed, self.bookmark_id = None, ""
        found = None if live.status.at_rest else find_task(live, self.task_id)
        if found is None:
            raise TaskClosed(self.task_id, "closed")
        mark, task = found
        if self.roles is not None and task.claimed_by != self.who and not task.is_for(self.who, self.roles):
            raise TaskNotYours(self.task_id, task.meant_for)
        if task.claimed_by not in {None, self.who}:
            raise TaskTaken(self.task_id, str(task.claimed_by))
        return self.act(live, mark, task)

    def act(self, live: LiveInstance, mark: Bookmark, task: Task) -> bool:
        raise NotImplementedError

    def note(self, live: LiveInstance, mark: Bookmark) -> None:
        data = {"verb": self.verb, "who": self.who, "task": self.task_id}
        live.note(JournalEvent.OPERATED, live.waiters[mark.execution_id], data)

    def put(self, live: LiveInstance, mark: Bookmark, task: Task) -> None:
        live.bookmarks[mark.id] = with_task(mark, task)


class ClaimTask(TaskJob):
    __slots__ = ()

    verb = "claim task"

    def act(self, live: LiveInstance, mark: Bookmark, task: Task) -> bool:
        if task.claimed_by == self.who:
            return False
        self.note(live, mark)
        self.put(live, mark, replace(task, state=TaskState.CLAIMED, claimed_by=self.who))
        return True


class ReleaseTask(TaskJob):
    __slots__ = ()

    verb = "release task"

    def act(self, live: LiveInstance, mark: Bookmark, task: Task) -> bool:
        if task.claimed_by is None:
            return False
        self.note(live, mark)
        self.put(live, mark, replace(task, state=TaskState.OPEN, claimed_by=None))
        return True


class CompleteTask(TaskJob):
    __slots__ = ()

    verb = "complete task"

    def act(self, live: LiveInstance, mark: Bookmark, task: Task) -> bool:
        problems = check_answer(self.payload, task.form)
        if problems:
            raise AnswerRefused(self.task_id, problems)
        self.note(live, mark)
        done = replace(task, state=TaskState.COMPLETED, completed_by=self.who, answer=self.payload)
        self.put(live, mark, replace(done, answer=None))
        self.closed, self.bookmark_id = done, mark.id
        delivery.resume(live, mark.id, self.payload)
        return True
