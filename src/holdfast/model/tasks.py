"""Human tasks: work that a workflow assigns to a person, as data and as a stored record."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.model.record_rows import RecordRow

TASK = "task"
"""Kind of the records, and key of the bookmark metadata that describes a task."""
HUMAN_TASK = "HumanTask"
"""Type of the bookmarks of human tasks."""
ROLE, USER = "role:", "user:"


class TaskState(StrEnum):
    OPEN = "open"
    CLAIMED = "claimed"
    COMPLETED = "completed"
    CANCELED = "canceled"
    """Its workflow continued or ended without an answer."""


LIVE = (TaskState.OPEN.value, TaskState.CLAIMED.value)


class Task(Struct, frozen=True, kw_only=True):
    id: str
    title: str
    description: str = ""
    name: str | None = None
    """Name of a task for a program (RunTask)."""
    assignee: str | None = None
    role: str | None = None
    form: dict[str, Any] | None = None
    """JSON Schema of the answer; None accepts any answer."""
    about: Any = None
    """Context data, shown with the form."""
    due: datetime | None = None
    state: TaskState = TaskState.OPEN
    instance_id: str = ""
    definition_id: str = ""
    activity_id: str = ""
    created: datetime | None = None
    updated: datetime | None = None
    claimed_by: str | None = None
    completed_by: str | None = None
    answer: Any = None

    @property
    def owner(self) -> str:
        """The user or role in whose list it appears."""
        if self.assignee is not None:
            return USER + self.assignee
        return ROLE + self.role if self.role is not None else ""

    @property
    def is_live(self) -> bool:
        return self.state in LIVE

    @property
    def meant_for(self) -> str:
        """Assignee or role as text for messages."""
        if self.assignee is not None:
            return f"'{self.assignee}'"
        return "everyone" if self.role is None else f"the role '{self.role}'"

    def is_for(self, who: str, roles: Collection[str]) -> bool:
        if self.assignee is not None:
            return self.assignee == who
        return self.role is None or self.role in roles


def addressee(who: str) -> tuple[str | None, str | None]:
    """Assignee and role of `ann`, `user:ann` or `role:bosses`."""
    if who.startswith(ROLE):
        return None, who.removeprefix(ROLE)
    return who.removeprefix(USER), None


def record_of(task: Task, tenant: str, now: datetime) -> RecordRow:
    return RecordRow(
        tenant=tenant,
        kind=TASK,
        id=task.id,
        instance_id=task.instance_id,
        owner=task.owner,
        state=task.state.value,
        due=task.due,
        created=task.created or now,
        updated=now,
        payload=msgspec.json.encode(task),
    )


_read = msgspec.json.Decoder(Task).decode


def task_of(row: RecordRow) -> Task:
    return msgspec.structs.replace(
        _read(row.payload), state=TaskState(row.state), created=row.created, updated=row.updated
    )
