"""The job: one delivery to one instance, with its answer and its policy for conflicts and failures.

A job changes the live instance; the batch executor commits the result. A job may be applied several times: each time its
commit was not written, it starts from the stored state again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from holdfast.errors import InstanceNotFound, KeyReused, StoreError
from holdfast.execution.live import LiveInstance
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.guard import Guard
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import InstanceKey
from holdfast.model.work import DeadLetterRow, EffectRef, ScheduleStep, WorkRow
from holdfast.runtime.result import RunResult


class Answer(Struct, frozen=True):
    """The outcome of a job."""

    result: RunResult | None = None
    existing: str | None = None
    """The instance that holds the idempotency key, the slot or the id: nothing was started."""
    dropped: bool = False
    """Another node did it, the job came late, or there was nothing to do."""
    version: int = 0
    """The version that its commit wrote; 0 if it wrote none."""


DROPPED = Answer(dropped=True)


class Retries(Protocol):
    """The options of a job whose commit was not written."""

    def again(self, job: Job) -> None:
        """Apply the job again: at once for the first conflicts, then after a random back-off."""

    def later(self, job: Job, seconds: float) -> None:
        """Apply the job again after a pause."""

    def delete_row(self, job: Job) -> None:
        """Delete the work row of the job: there is nothing left to do."""

    def submit(self, job: Job) -> None:
        """Submit another job in place of this one."""


class Job:
    __slots__ = (
        "answer",
        "changed",
        "consumes_effect",
        "consumes_work",
        "from_store",
        "guards",
        "instance_id",
        "key",
        "on_done",
        "schedule_step",
        "tries",
    )

    consumes_inbox: tuple[str, ...] = ()
    """Inbox rows that the job delivers: deleted by its commit."""
    drops_work: tuple[str, ...] = ()
    """Work rows that are pointless after the job: deleted by its commit."""
    adds_work: tuple[WorkRow, ...] = ()
    """Work rows that its commit adds."""
    dead_letters: tuple[DeadLetterRow, ...] = ()
    """Dead letters that its commit adds."""
    resumes: tuple[str, ...] = ()
    """Bookmarks that the job resumes."""
    repeats = False
    """True: the job has more to do after the queue has run, and is applied again in the same burst."""
    runs_queue = True
    """False: the job only records something, and the instance's queue is not run."""
    runs_code_only = True
    """False: the job changes variables in other ways than the code of the workflow does, so all of them are written."""
    is_hint = False
    """True: if there is nothing to do, the work row is deleted and no error is raised."""
    condition: InstanceFilter | None = None
    """Tested on the instance in the commit of the job; an instance that does not match stays unchanged (rule M7)."""

    def __init__(
        self,
        key: InstanceKey,
        wants_answer: bool = True,
        consumes_work: str | None = None,
        guards: tuple[Guard, ...] = (),
        schedule_step: ScheduleStep | None = None,
    ) -> None:
        self.key = key
        self.instance_id = key.id
        self.schedule_step = schedule_step
        """The firing of the schedule that caused the job: its commit stores the next due time (rule M20)."""
        self.consumes_work = consumes_work
        """The work row that caused the job: deleted by its commit."""
        self.consumes_effect: EffectRef | None = None
        self.guards = guards
        self.changed = False
        """Whether the job changed the instance when it was last applied."""
        self.from_store = False
        """Decide by the stored state; a cached one may be out of date."""
        self.tries = 0
        self.answer: asyncio.Future[Answer] | None = (
            asyncio.get_running_loop().create_future() if wants_answer else None
        )
        self.on_done: Callable[[BaseException | None], None] | None = None
        """Called once with None or the error; cheaper than a future for jobs of work rows."""

    def apply(self, live: LiveInstance) -> bool:
        """Change the instance; False if there is nothing to do. An error means that nothing was changed."""
        raise NotImplementedError

    # -- the answer ----------------------------------------------------------------------------------------------------

    def finish(self, answer: Answer) -> None:
        if self.answer is not None:
            if not self.answer.done():
                self.answer.set_result(answer)
        elif self.on_done is not None:
            self._call_back(None)

    def refuse(self, error: BaseException) -> None:
        if self.answer is not None:
            if not self.answer.done():
                self.answer.set_exception(error)
        elif self.on_done is not None:
            self._call_back(error)

    def _call_back(self, error: BaseException | None) -> None:
        on_done, self.on_done = self.on_done, None
        if on_done is not None:
            on_done(error)

    # -- the commit was not written ------------------------------------------------------------------------------------

    def on_conflict(self, conflict: Conflict, retries: Retries) -> None:
        """A guard of the commit did not hold. Nothing was written, so applying the job again is safe."""
        if conflict.reason is ConflictReason.KEY and any(guard.name == conflict.name for guard in self.guards):
            if conflict.other_request:
                self.refuse(KeyReused(conflict.name, conflict.holder))
            else:
                self.on_existing(conflict.holder, retries)
        elif conflict.reason is ConflictReason.SLOT:
            self.on_slot_taken(conflict.holder, retries)
        elif self._was_done_elsewhere(conflict):
            self.finish(DROPPED)
        else:
            retries.again(self)

    def on_existing(self, holder: str | None, retries: Retries) -> None:
        """Another request with the same key was committed."""
        self.finish(Answer(existing=holder))
        if self.consumes_work is not None:
            retries.delete_row(self)

    def on_slot_taken(self, holder: str | None, retries: Retries) -> None:
        """Another instance holds the slot that the changed instance needs (rule M2)."""
        message = (
            f"Instance {holder} holds the slot that instance {self.instance_id} needs with its new correlation id."
        )
        self.on_failure(StoreError(f"{message} Wait until that instance ends, or use another id."), retries)

    def _was_done_elsewhere(self, conflict: Conflict) -> bool:
        """Whether the row that this job consumes was consumed by another commit."""
        reason, name = conflict.reason, conflict.name
        if reason is ConflictReason.WORK:
            return self.consumes_work == name
        if reason is ConflictReason.INBOX:
            return name in self.consumes_inbox
        if reason is ConflictReason.SCHEDULE:
            return self.schedule_step is not None
        if reason is ConflictReason.EFFECT:
            return self.consumes_effect is not None and str(self.consumes_effect.execution) == name
        return False

    def on_failure(self, error: Exception, retries: Retries) -> None:
        """The job could not be applied, or the store refused its commit."""
        if self.is_hint and isinstance(error, InstanceNotFound):
            self.drop(retries)
        else:
            self.refuse(error)

    def drop(self, retries: Retries) -> None:
        """There is nothing to do: the instance is gone."""
        self.finish(DROPPED)
        if self.consumes_work is not None:
            retries.delete_row(self)
