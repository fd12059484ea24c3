"""A human task that cannot be claimed, released or completed as somebody asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors.base import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem


class TaskError(HoldfastError):
    """A task that cannot be worked on as asked."""

    def __init__(self, task_id: str, message: str) -> None:
        self.task_id = task_id
        super().__init__(message)


class TaskNotFound(TaskError, LookupError):
    """No task of that id is stored."""

    def __init__(self, task_id: str) -> None:
        super().__init__(task_id, f"There is no task '{task_id}'. It may have gone with its instance.")


class TaskTaken(TaskError):
    """Somebody else has claimed it."""

    def __init__(self, task_id: str, holder: str) -> None:
        self.holder = holder
        super().__init__(task_id, f"Task '{task_id}' is claimed by '{holder}'. They can release it.")


class TaskClosed(TaskError):
    """It was completed, or its workflow went on without it."""

    def __init__(self, task_id: str, state: str) -> None:
        self.state = state
        super().__init__(task_id, f"Task '{task_id}' is {state}. There is nothing left to do about it.")


class TaskNotYours(TaskError):
    """It is meant for somebody else."""

    def __init__(self, task_id: str, meant_for: str) -> None:
        self.meant_for = meant_for
        super().__init__(task_id, f"Task '{task_id}' is for {meant_for}. Ask them, or an admin to give you the role.")


class AnswerRefused(TaskError):
    """The answer does not fit the form; `problems` holds all that is wrong. Nothing was changed."""

    def __init__(self, task_id: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(task_id, f"The answer to task '{task_id}' does not fit its form:\n{listed}")
