"""Errors in the execution of an instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors.base import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem


class ExecutionError(HoldfastError):
    """Base class: an instance could not continue."""


class ActivityFault(ExecutionError):
    """A fault that an activity declares (the Fault activity)."""

    def __init__(self, message: str, *, code: str = "0", category: str = "General", fault_type: str = "System") -> None:
        self.code = code
        self.category = category
        self.fault_type = fault_type
        super().__init__(message)


class InputEvaluationFailed(ExecutionError):
    """The expression of an input failed; the cause is chained."""

    def __init__(self, input_name: str, cause: BaseException) -> None:
        self.input_name = input_name
        super().__init__(f"Failed to evaluate activity input '{input_name}': {cause}")


class WrongType(ExecutionError, TypeError):
    """A value does not have the declared type and cannot be converted to it. Such a fault is never retried."""

    def __init__(self, what: str, expected: str, reason: str) -> None:
        self.what = what
        """Such as `variable 'count'`."""
        self.expected = expected
        super().__init__(f"The {what} must be of type {expected}. {reason}")


class WrongResult(WrongType):
    """A function returned a value that does not have its annotated type."""

    def __init__(self, activity: str, expected: str, got: str) -> None:
        self.activity = activity
        self.got = got
        """Class and excerpt of the result."""
        remedy = "Correct the function, or its annotation."
        super().__init__(f"result of '{activity}'", expected, f"The function returned {got}. {remedy}")


class VariableNotFound(ExecutionError):
    """A name that no scope declares."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Variable '{name}' not found. Declare it on the workflow or on a container around the activity."
        )


class PureActivityWaited(ExecutionError):
    """A pure activity awaited an operation that was not ready."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"'{type_name}' is declared pure but awaits an operation. Pure activities run inside a segment and must return "
            "without waiting: remove pure=True to make it an effect."
        )


class ActivityTimeout(ExecutionError, TimeoutError):
    """An activity exceeded its timeout."""

    def __init__(self, activity_id: str, limit: str) -> None:
        self.activity_id = activity_id
        self.limit = limit
        super().__init__(
            f"Activity '{activity_id}' exceeded its timeout of {limit}. Raise the timeout or make it faster."
        )


class ProcessDied(ExecutionError):
    """The process of a `cpu=True` activity died during the call."""

    def __init__(self, function: str) -> None:
        self.function = function
        super().__init__(
            f"The process that ran {function} died: it was killed (perhaps for its use of memory) or crashed. Other calls "
            "are not affected. Check the log of the system, and how much memory the call needs."
        )


class BookmarkNotFound(ExecutionError):
    """The bookmark does not exist or is already consumed."""

    def __init__(self, bookmark_id: str, *, instance_id: str, open_ids: Sequence[str] = ()) -> None:
        self.bookmark_id = bookmark_id
        self.instance_id = instance_id
        self.open_ids = tuple(open_ids)
        known = f" Open bookmarks: {', '.join(self.open_ids)}." if self.open_ids else " It has no open bookmark."
        super().__init__(f"Instance {instance_id} has no bookmark '{bookmark_id}'.{known}")


class PayloadRefused(ExecutionError):
    """The payload of an event does not match the type that the waiting activity declares; `problems` lists every
    mismatch. Nothing was changed."""

    def __init__(self, event_name: str, problems: Sequence[Problem], *, instance_id: str, bookmark_id: str) -> None:
        self.event_name = event_name
        self.problems = tuple(problems)
        self.instance_id = instance_id
        self.bookmark_id = bookmark_id
        listed = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(
            f"The payload of event '{event_name}' does not match the type that instance {instance_id} waits for. The instance "
            f"is still waiting: correct the payload and send the event again:\n{listed}"
        )


class InstanceNotFound(ExecutionError, LookupError):
    """No instance with that id is stored."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        super().__init__(
            f"There is no instance '{instance_id}' in this store. Check the id, the store's URL and the tenant."
        )


class ScheduleNotFound(ExecutionError, LookupError):
    """No schedule with that id."""

    def __init__(self, schedule_id: str) -> None:
        self.schedule_id = schedule_id
        super().__init__(
            f"There is no schedule '{schedule_id}'. Schedules exist while a definition with a Timer, Cron or StartAt "
            "trigger is published: list the schedules, or publish the definition."
        )


class StateNotKept(ExecutionError):
    """No snapshot of the instance at that version is stored."""

    def __init__(self, instance_id: str, version: int) -> None:
        self.instance_id = instance_id
        self.version = version
        super().__init__(
            f"The state of instance {instance_id} at version {version} is not stored. "
            "The setting `history = snapshots` stores every state from then on."
        )


class InstanceAtRest(ExecutionError):
    """The instance has ended and accepts no more work."""

    def __init__(self, instance_id: str, status: str, *, remedy: str) -> None:
        self.instance_id = instance_id
        self.status = status
        super().__init__(f"Instance {instance_id} is {status}. {remedy}")


class EffectHeld(ExecutionError):
    """Nothing failed that could be retried: the process of an effect was lost, and the effect is held until an operator
    recovers it."""

    def __init__(self, instance_id: str, activity_ids: Sequence[str]) -> None:
        self.instance_id = instance_id
        self.activity_ids = tuple(activity_ids)
        held = ", ".join(f"'{name}'" for name in self.activity_ids)
        super().__init__(
            f"Instance {instance_id} has no failed activity to retry. The process that ran {held} was lost, and the effect is "
            f"held (on_lost: hold). Check how far it came, then run it again: holdfast instances recover {instance_id}"
        )


class MigrationRefused(ExecutionError):
    """The instance cannot continue with the target version; `reasons` lists why. Nothing was changed."""

    def __init__(self, instance_id: str, version: int, reasons: Sequence[str]) -> None:
        self.instance_id = instance_id
        self.version = version
        self.reasons = tuple(reasons)
        listed = "\n".join(f"  {reason}" for reason in self.reasons)
        super().__init__(f"Instance {instance_id} cannot migrate to version {version}:\n{listed}")


class InvalidState(ExecutionError):
    """A state document that cannot be continued."""


UNREADABLE_REMEDY = (
    "Deploy code that can read it: give new fields a default, keep the old class, or register its successor under the stored "
    "name, Holdfast(types={'module:Name': NewClass}). The work waits and then continues by itself."
)


class UnreadableValue(InvalidState):
    """A stored value of a class that the code of this process cannot rebuild."""

    def __init__(self, type_name: str, reason: str) -> None:
        self.type_name = type_name
        self.reason = reason
        super().__init__(f"A stored value of type '{type_name}' cannot be decoded: {reason}")


class StateUnreadable(InvalidState):
    """The code of this process cannot read the state of an instance, or a payload for it. Its work is parked (rule H10)."""

    def __init__(
        self,
        instance_id: str,
        reason: str,
        *,
        variable: str | None = None,
        type_name: str | None = None,
        content: str = "",
        part: str = "state",
    ) -> None:
        """`part` is the unreadable part: the state, or a payload."""
        self.instance_id = instance_id
        self.reason = reason
        self.variable = variable
        self.type_name = type_name
        self.content = content
        """The content hash that the instance pins, if it is known."""
        self.part = part
        named = [f"variable '{variable}'"] * bool(variable) + [f"class '{type_name}'"] * bool(type_name)
        where = f" ({', '.join(named)})" if named else ""
        super().__init__(
            f"This code cannot read the {part} of instance {instance_id!r}{where}: {reason.rstrip('.')}. {UNREADABLE_REMEDY}"
        )


class NoResult(ExecutionError):
    """The workflow has no result: it failed, was canceled, is still waiting, or has not started."""

    def __init__(self, instance_id: str, status: str, reason: str) -> None:
        self.instance_id = instance_id
        self.status = status
        super().__init__(f"Instance {instance_id} has no result: {reason}")


class InstanceFaulted(NoResult):
    """The workflow failed; the first incident has the details."""

    def __init__(self, instance_id: str, *, fault_type: str, message: str, incident_id: str | None = None) -> None:
        self.fault_type = fault_type
        self.fault_message = message
        self.incident_id = incident_id
        fault = f"{fault_type}: {message}".rstrip(".")
        super().__init__(instance_id, "faulted", f"{fault}. Correct the cause, then retry the instance.")
