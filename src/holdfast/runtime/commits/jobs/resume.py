"""Jobs that resume a bookmark: with a payload in memory, or with an encoded payload of a row."""

from __future__ import annotations

from typing import Any

from holdfast.errors import InvalidState, UnknownValueType
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.unreadable import unreadable
from holdfast.model.guard import Guard
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.payload_codec import decode_payload


class ResumeJob(Job):
    __slots__ = ("bookmark_id", "is_hint", "payload")

    def __init__(
        self,
        key: InstanceKey,
        bookmark_id: str,
        payload: Any = None,
        *,
        is_hint: bool = False,
        wants_answer: bool = True,
        consumes_work: str | None = None,
        guards: tuple[Guard, ...] = (),
    ) -> None:
        """A timer or the end of a child is a hint: the bookmark may be gone."""
        Job.__init__(self, key, wants_answer, consumes_work, guards)
        self.bookmark_id = bookmark_id
        self.payload = payload
        self.is_hint = is_hint

    @property
    def resumes(self) -> tuple[str, ...]:  # type: ignore[override]  # computed from the bookmark
        return (self.bookmark_id,)

    def apply(self, live: LiveInstance) -> bool:
        if self.is_hint and (self.bookmark_id not in live.bookmarks or live.status.at_rest):
            return False
        return delivery.resume(live, self.bookmark_id, self.read(live))

    def read(self, live: LiveInstance) -> Any:
        return self.payload


class StoredResumeJob(ResumeJob):
    """A resume of a row: the payload is decoded by the types of the instance that it reaches."""

    __slots__ = ()

    def read(self, live: LiveInstance) -> Any:
        try:
            return decode_payload(self.payload, live.plan.types)
        except (UnknownValueType, InvalidState) as error:
            raise unreadable(live.id, error, part="payload") from error
