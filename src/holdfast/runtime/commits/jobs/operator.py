"""Jobs of operators. Each is idempotent: a repetition finds nothing to do. The journal records the operator and the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from holdfast.errors import TaskNotResumable
from holdfast.execution import delivery, operator_actions
from holdfast.execution.activation import Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Outcome
from holdfast.model.filter_match import matches
from holdfast.model.guard import Guard
from holdfast.model.instance import MIDDLEWARE, Bookmark, JournalEvent, Status
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.tasks import TASK
from holdfast.model.work import EffectRef
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import CancelJob, RetryJob
from holdfast.runtime.commits.jobs.effect import resolve_lost_incidents
from holdfast.runtime.commits.jobs.resume import ResumeJob


class OperatorRequest:
    """The operator, the reason, and the filter that the instance must match."""

    __slots__ = ("condition", "may_answer", "who", "why")

    def __init__(
        self,
        who: str,
        why: str | None = None,
        condition: InstanceFilter | None = None,
        *,
        may_answer: bool = True,
    ) -> None:
        self.who = who
        self.why = why
        self.condition = condition
        self.may_answer = may_answer
        """Whether the operator may resume and skip human tasks, which are assigned to other people."""

    def check_tasks(self, live: LiveInstance, reaches: Callable[[Bookmark], bool]) -> None:
        """Raises `TaskNotResumable` if the action reaches a human task that the operator may not answer."""
        if self.may_answer:
            return
        for mark in live.bookmarks.values():
            if mark.metadata and TASK in mark.metadata and reaches(mark):
                raise TaskNotResumable(mark.metadata[TASK]["id"])

    def note(self, live: LiveInstance, verb: str, activation: Activation | None = None, **data: Any) -> None:
        reason = {} if self.why is None else {"why": self.why}
        live.note(JournalEvent.OPERATED, activation, {"verb": verb, "who": self.who, **reason, **data})


def still_matches(condition: InstanceFilter, row: InstanceRow | None, live: LiveInstance) -> bool:
    """Whether the instance still matches the filter, including changes by earlier jobs of this batch."""
    if row is None:
        return False
    now = replace(
        row,
        status=live.status.value,
        correlation_id=live.correlation_id,
        name=live.name,
        incidents=len(live.incidents),
    )
    return matches(now, condition)


class OperatorRetry(RetryJob):
    """Runs failed activities again: all or one, with the same or with edited inputs."""

    __slots__ = ("activity", "condition", "inputs", "request")

    def __init__(
        self,
        key: InstanceKey,
        request: OperatorRequest,
        activity: str | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(key)
        self.condition = request.condition
        self.request = request
        self.activity = activity
        self.inputs = inputs

    def apply(self, live: LiveInstance) -> bool:
        if live.status in (Status.FINISHED, Status.CANCELED):
            return False
        chosen = operator_actions.failed(live, self.activity)
        if not chosen:
            return self._retry_segment(live)
        if self.inputs is not None:
            for activation in chosen:
                operator_actions.check_editable(live, activation, self.inputs)
        for activation in chosen:
            edited = {} if self.inputs is None else {"inputs": sorted(self.inputs)}
            self.request.note(live, "retry", activation, **edited)
        operator_actions.retry(live, chosen, self.inputs)
        return True

    def _retry_segment(self, live: LiveInstance) -> bool:
        """Run the segment again that middleware failed: no activity has failed then."""
        if self.activity is not None or all(item.type != MIDDLEWARE for item in live.incidents):
            return False
        self.request.note(live, "retry")
        operator_actions.retry(live, ())
        return True


class ReplayJob(RetryJob):
    """Runs the effect of a replayed dead letter again, if it is still failed."""

    __slots__ = ("execution_id",)

    is_hint = True

    def __init__(self, key: InstanceKey, execution_id: int, **more: Any) -> None:
        super().__init__(key, **more)
        self.execution_id = execution_id

    def apply(self, live: LiveInstance) -> bool:
        ended = live.status in (Status.FINISHED, Status.CANCELED)
        chosen = [] if ended else [item for item in operator_actions.failed(live) if item.id == self.execution_id]
        return operator_actions.retry(live, chosen) > 0 if chosen else False


class RecoverEffect(Job):
    """Runs a held effect again. Its row is rewritten, so that it runs where effects of this process do; a conflict on the row
    means that another request was first."""

    __slots__ = ("ref", "request")

    def __init__(self, key: InstanceKey, request: OperatorRequest, ref: EffectRef) -> None:
        super().__init__(key)
        self.request = request
        self.ref = ref

    def apply(self, live: LiveInstance) -> bool:
        self.consumes_effect = None
        execution_id, attempt, _ = self.ref
        recorded, activation = live.effects.get(execution_id), live.waiters.get(execution_id)
        if live.status.at_rest or recorded is None or activation is None or recorded.attempt > attempt:
            return False
        self.request.note(live, "recover", activation)
        resolve_lost_incidents(live, execution_id)
        activation.attempt = attempt + 1
        live.record_effect(activation, recorded.inputs, method=recorded.method, argument=recorded.argument)
        self.consumes_effect = self.ref
        return True


class OperatorSkip(Job):
    """Skips an activity that failed or waits, as if it had completed."""

    __slots__ = ("activity", "condition", "outcome", "request")

    def __init__(self, key: InstanceKey, request: OperatorRequest, activity: str, outcome: Outcome = None) -> None:
        super().__init__(key)
        self.condition = request.condition
        self.request = request
        self.activity = activity
        self.outcome = outcome

    def apply(self, live: LiveInstance) -> bool:
        if live.status in (Status.FINISHED, Status.CANCELED):
            return False
        chosen = [item for item in operator_actions.living(live, self.activity) if item.owner is not None]
        self.request.check_tasks(live, lambda mark: _is_within(live.waiters.get(mark.execution_id), chosen))
        for activation in chosen:
            self.request.note(live, "skip", activation)
        return bool(chosen) and operator_actions.skip(live, self.activity, self.outcome) > 0


def _is_within(activation: Activation | None, chosen: Sequence[Activation]) -> bool:
    while activation is not None:
        if activation in chosen:
            return True
        activation = activation.owner
    return False


class OperatorResume(ResumeJob):
    __slots__ = ("condition", "request")

    def __init__(
        self, key: InstanceKey, request: OperatorRequest, bookmark_id: str, payload: Any, guards: tuple[Guard, ...] = ()
    ) -> None:
        super().__init__(key, bookmark_id, payload, guards=guards)
        self.condition = request.condition
        self.request = request

    def apply(self, live: LiveInstance) -> bool:
        self.request.check_tasks(live, lambda mark: mark.id == self.bookmark_id)
        received = delivery.receive(live, self.bookmark_id, self.read(live))
        if received is None:
            return False
        self.request.note(live, "resume", received.activation, bookmark=self.bookmark_id)
        delivery.wake(live, received)
        return True


class OperatorCancel(CancelJob):
    """Cancel: `finally` and compensation run. Terminate: they do not."""

    __slots__ = ("condition", "request")

    def __init__(self, key: InstanceKey, request: OperatorRequest, *, terminate: bool = False) -> None:
        super().__init__(key, "canceled", finalize=not terminate, is_hint=True)
        self.condition = request.condition
        self.request = request

    def apply(self, live: LiveInstance) -> bool:
        ended = live.status in (Status.FINISHED, Status.CANCELED)
        if ended or (live.stopping is not None and self.finalize):
            return False
        self.request.note(live, "cancel" if self.finalize else "terminate", cause=self.cause)
        return super().apply(live)


class JournalNote(Job):
    """Records an action from outside in the instance's journal."""

    __slots__ = ("data", "request", "verb")

    is_hint = True

    def __init__(self, key: InstanceKey, request: OperatorRequest, verb: str, **data: Any) -> None:
        super().__init__(key)
        self.request = request
        self.verb = verb
        self.data = data

    def apply(self, live: LiveInstance) -> bool:
        self.request.note(live, self.verb, **self.data)
        return True
