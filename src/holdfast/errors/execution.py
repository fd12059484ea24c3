"""An instance could not go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors.base import HoldfastError

if TYPE_CHECKING:
    from holdfast.model.problem import Problem


class ExecutionError(HoldfastError):
    """An instance could not go on."""


class ActivityFault(ExecutionError):
    """A fault that an activity declares on purpose."""

    def __init__(self, message: str, *, code: str = "0", category: str = "General", fault_type: str = "System") -> None:
        self.code = code
        self.category = category
        self.fault_type = fault_type
        super().__init__(message)


class InputEvaluationFailed(ExecutionError):
    """An input's expression failed; the cause is chained."""

    def __init__(self, input_name: str, cause: BaseException) -> None:
        self.input_name = input_name
        super().__init__(f"Failed to evaluate activity input '{input_name}': {cause}")


class VariableNotFound(ExecutionError):
    """A name that no scope declares."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Variable '{name}' not found. Declare it on the workflow or on a container around the activity."
        )


class PureActivityWaited(ExecutionError):
    """A pure activity awaited something that was not ready."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"'{type_name}' is declared pure but waits for something. Pure activities run inside a segment and must end "
            "without waiting: remove pure=True so that it becomes an effect."
        )


class ActivityTimeout(ExecutionError, TimeoutError):
    """An activity took longer than its timeout."""

    def __init__(self, activity_id: str, limit: str) -> None:
        self.activity_id = activity_id
        self.limit = limit
        super().__init__(f"Activity '{activity_id}' did not end within {limit}. Raise its timeout or make it faster.")


class BookmarkNotFound(ExecutionError):
    """No such bookmark, or it is burned."""

    def __init__(self, bookmark_id: str, *, instance_id: str, open_ids: Sequence[str] = ()) -> None:
        self.bookmark_id = bookmark_id
        self.instance_id = instance_id
        self.open_ids = tuple(open_ids)
        known = f" Open bookmarks: {', '.join(self.open_ids)}." if self.open_ids else " It has no open bookmark."
        super().__init__(f"Instance {instance_id} has no bookmark '{bookmark_id}'.{known}")


class PayloadRefused(ExecutionError):
    """What was sent has not the shape that the waiting activity declares; `problems` says where. Nothing was changed."""

    def __init__(self, event_name: str, problems: Sequence[Problem], *, instance_id: str, bookmark_id: str) -> None:
        self.event_name = event_name
        self.problems = tuple(problems)
        self.instance_id = instance_id
        self.bookmark_id = bookmark_id
        listed = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(
            f"The event '{event_name}' is not what instance {instance_id} waits for, which waits on. Correct it, and send "
            f"it again:\n{listed}"
        )


class InstanceNotFound(ExecutionError, LookupError):
    """No instance of that id is stored."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        super().__init__(
            f"There is no instance '{instance_id}' in this store. Check the id, the store's URL and the tenant."
        )


class ScheduleNotFound(ExecutionError, LookupError):
    """No schedule of that id."""

    def __init__(self, schedule_id: str) -> None:
        self.schedule_id = schedule_id
        super().__init__(
            f"There is no schedule '{schedule_id}'. A schedule is there while a definition with a Timer, Cron or StartAt "
            "trigger is published: list them, or publish the definition."
        )


class StateNotKept(ExecutionError):
    """The state that an instance had at a version is not kept."""

    def __init__(self, instance_id: str, version: int) -> None:
        self.instance_id = instance_id
        self.version = version
        super().__init__(
            f"The state of instance {instance_id} at version {version} is not kept. "
            "With the setting `history = snapshots` states are kept from then on."
        )


class InstanceAtRest(ExecutionError):
    """The instance has ended and takes no more work."""

    def __init__(self, instance_id: str, status: str, *, remedy: str) -> None:
        self.instance_id = instance_id
        self.status = status
        super().__init__(f"Instance {instance_id} is {status}. {remedy}")


class EffectHeld(ExecutionError):
    """Nothing failed that could be retried: an effect was lost with its process and waits for somebody's word."""

    def __init__(self, instance_id: str, activity_ids: Sequence[str]) -> None:
        self.instance_id = instance_id
        self.activity_ids = tuple(activity_ids)
        held = ", ".join(f"'{name}'" for name in self.activity_ids)
        super().__init__(
            f"Nothing of instance {instance_id} has failed: {held} was lost with its process and is held (on_lost: hold). "
            f"Look how far it came, then run it again: holdfast instances recover {instance_id}"
        )


class MigrationRefused(ExecutionError):
    """The instance cannot go on with another version as it is; `reasons` says why. Nothing was changed."""

    def __init__(self, instance_id: str, version: int, reasons: Sequence[str]) -> None:
        self.instance_id = instance_id
        self.version = version
        self.reasons = tuple(reasons)
        listed = "\n".join(f"  {reason}" for reason in self.reasons)
        super().__init__(f"Instance {instance_id} cannot migrate to version {version} as it is:\n{listed}")


class InvalidState(ExecutionError):
    """A state document that cannot be continued."""


class NoResult(ExecutionError):
    """The workflow has returned nothing: it failed, was canceled, still waits, or is not there yet."""

    def __init__(self, instance_id: str, status: str, reason: str) -> None:
        self.instance_id = instance_id
        self.status = status
        super().__init__(f"Instance {instance_id} has no result: {reason}")


class InstanceFaulted(NoResult):
    """The workflow failed: the first incident says with what."""

    def __init__(self, instance_id: str, *, fault_type: str, message: str, incident_id: str | None = None) -> None:
        self.fault_type = fault_type
        self.fault_message = message
        self.incident_id = incident_id
        told = f"{fault_type}: {message}".rstrip(".")
        super().__init__(instance_id, "faulted", f"{told}. Correct the cause, then retry the instance.")
