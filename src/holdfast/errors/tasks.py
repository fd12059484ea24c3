"""Errors of human tasks: an operation that cannot be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors.base import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem


class TaskError(HoldfastError):
    """Base class: an operation on a human task was refused."""

    def __init__(self, task_id: str, message: str) -> None:
        self.task_id = task_id
        super().__init__(message)


class TaskNotFound(TaskError, LookupError):
    """No task with that id is stored."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id, f"There is no task '{task_id}'. It may have been deleted with its instance.")


class TaskTaken(TaskError):
    """Another user has claimed the task."""

    def __init__(self, task_id: str, holder: str) -> None:
        self.holder = holder
        super().__init__(task_id, f"Task '{task_id}' is claimed by '{holder}', who can release it.")


class TaskClosed(TaskError):
    """The task is completed, or its workflow continued without it."""

    def __init__(self, task_id: str, state: str) -> None:
        self.state = state
        super().__init__(task_id, f"Task '{task_id}' is {state}. No further action is possible.")


class TaskNotYours(TaskError):
    """The task is assigned to another user or role."""

    def __init__(self, task_id: str, meant_for: str) -> None:
        self.meant_for = meant_for
        super().__init__(task_id, f"Task '{task_id}' is for {meant_for}. Ask them, or ask an admin for the role.")


class TaskNotResumable(TaskError):
    """A human task is answered as a task, not by resuming or skipping its bookmark."""

    def __init__(self, task_id: str) -> None:
        super().__init__(
            task_id,
            f"The instance waits for an answer to task '{task_id}'. Answer the task, or ask an admin to resume it.",
        )


class AnswerRefused(TaskError):
    """The answer does not match the form; `problems` lists every mismatch. Nothing was changed."""

    def __init__(self, task_id: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(task_id, f"The answer to task '{task_id}' does not match its form:\n{listed}")
