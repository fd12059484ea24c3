"""Jobs that continue, cancel or retry an instance."""

from __future__ import annotations

from typing import Any

from holdfast.errors import InstanceNotFound, PlaceTaken
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.jobs.base import Job, Retries

TERMINATED = "terminated"
"""The cause of a cancellation that runs neither `finally` parts nor compensations (rule M1)."""


class ContinueJob(Job):
    """Continues the queue of a segment that was cut."""

    __slots__ = ()

    is_hint = True

    def apply(self, live: LiveInstance) -> bool:
        return bool(live.queue)


class CancelJob(Job):
    __slots__ = ("cause", "finalize", "is_hint")

    def __init__(
        self, key: InstanceKey, cause: str, *, finalize: bool = True, is_hint: bool = False, **more: Any
    ) -> None:
        """The cancellation by a parent is a hint: the child may have ended."""
        super().__init__(key, **more)
        self.cause = cause if finalize else TERMINATED
        self.finalize = finalize
        self.is_hint = is_hint

    def apply(self, live: LiveInstance) -> bool:
        if self.is_hint and live.status in (Status.FINISHED, Status.CANCELED):
            return False
        return delivery.cancel(live, self.cause, finalize=self.finalize)

    def on_failure(self, error: Exception, retries: Retries) -> None:
        if isinstance(error, InstanceNotFound):
            self.refuse(error)  # The start row of the child may be claimed right now: the cancel row is retried.
        else:
            super().on_failure(error, retries)


class RetryJob(Job):
    __slots__ = ()

    def apply(self, live: LiveInstance) -> bool:
        delivery.retry(live)
        return True

    def on_slot_taken(self, holder: str | None, retries: Retries) -> None:
        self.refuse(slot_taken(self.instance_id, holder))


def slot_taken(instance_id: str, holder: str | None) -> PlaceTaken:
    return PlaceTaken(instance_id, Status.FAULTED.value, holder)
