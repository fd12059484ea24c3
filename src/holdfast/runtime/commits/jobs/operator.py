"""Jobs of operators. Each is idempotent: repeated, it finds nothing to do. The journal records who asked and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.execution import delivery, operator_actions
from holdfast.execution.activation import Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Outcome
from holdfast.model.filter_match import matches
from holdfast.model.guard import Guard
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.listing import InstanceFilter
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import EffectRef
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.control import CancelJob, RetryJob
from holdfast.runtime.commits.jobs.effect import resolve_lost_incidents
from holdfast.runtime.commits.jobs.resume import ResumeJob


class Asked:
    """The operator, the reason, and the filter that the instance must match."""

    __slots__ = ("condition", "who", "why")

    def __init__(self, who: str, why: str | None = None, condition: InstanceFilter | None = None) -> None:
        self.who = who
        self.why = why
        self.condition = condition

    def note(self, live: LiveInstance, verb: str, activation: Activation | None = None, **data: Any) -> None:
        reason = {} if self.why is None else {"why": self.why}
        live.note(JournalEvent.OPERATED, activation, {"verb": verb, "who": self.who, **reason, **data})


def still_fits(condition: InstanceFilter, row: InstanceRow | None, live: LiveInstance) -> bool:
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


class RetryVerb(RetryJob):
    """Runs failed activities again: all or one, with the same or with edited inputs."""

    __slots__ = ("activity", "asked", "condition", "inputs")

    def __init__(
        self, key: InstanceKey, asked: Asked, activity: str | None = None, inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(key)
        self.condition = asked.condition
        self.asked = asked
        self.activity = activity
        self.inputs = inputs

    def apply(self, live: LiveInstance) -> bool:
        if live.status in (Status.FINISHED, Status.CANCELED):
            return False
        chosen = operator_actions.failed(live, self.activity)
        if not chosen:
            return False
        if self.inputs is not None:
            for activation in chosen:
                operator_actions.check_editable(live, activation, self.inputs)
        for activation in chosen:
            edited = {} if self.inputs is None else {"inputs": sorted(self.inputs)}
            self.asked.note(live, "retry", activation, **edited)
        operator_actions.retry(live, chosen, self.inputs)
        return True


class AgainJob(RetryJob):
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


class RecoverVerb(Job):
    """Runs a held effect again. Its row is rewritten, so that it runs where effects of this process do; a conflict on the row
    means that another request was first."""

    __slots__ = ("asked", "ref")

    def __init__(self, key: InstanceKey, asked: Asked, ref: EffectRef) -> None:
        super().__init__(key)
        self.asked = asked
        self.ref = ref

    def apply(self, live: LiveInstance) -> bool:
        self.consumes_effect = None
        execution_id, attempt, _ = self.ref
        request, activation = live.effects.get(execution_id), live.waiters.get(execution_id)
        if live.status.at_rest or request is None or activation is None or request.attempt > attempt:
            return False
        self.asked.note(live, "recover", activation)
        resolve_lost_incidents(live, execution_id)
        activation.attempt = attempt + 1
        live.record_effect(activation, request.inputs, method=request.method, argument=request.argument)
        self.consumes_effect = self.ref
        return True


class SkipVerb(Job):
    """Skips an activity that failed or waits, as if it had completed."""

    __slots__ = ("activity", "asked", "condition", "outcome")

    def __init__(self, key: InstanceKey, asked: Asked, activity: str, outcome: Outcome = None) -> None:
        super().__init__(key)
        self.condition = asked.condition
        self.asked = asked
        self.activity = activity
        self.outcome = outcome

    def apply(self, live: LiveInstance) -> bool:
        if live.status in (Status.FINISHED, Status.CANCELED):
            return False
        chosen = [item for item in operator_actions.living(live, self.activity) if item.owner is not None]
        for activation in chosen:
            self.asked.note(live, "skip", activation)
        return bool(chosen) and operator_actions.skip(live, self.activity, self.outcome) > 0


class ResumeVerb(ResumeJob):
    __slots__ = ("asked", "condition")

    def __init__(
        self, key: InstanceKey, asked: Asked, bookmark_id: str, payload: Any, guards: tuple[Guard, ...] = ()
    ) -> None:
        super().__init__(key, bookmark_id, payload, guards=guards)
        self.condition = asked.condition
        self.asked = asked

    def apply(self, live: LiveInstance) -> bool:
        received = delivery.receive(live, self.bookmark_id, self.read(live))
        if received is None:
            return False
        self.asked.note(live, "resume", received.activation, bookmark=self.bookmark_id)
        delivery.wake(live, received)
        return True


class CancelVerb(CancelJob):
    """Cancel: `finally` and compensation run. Terminate: they do not."""

    __slots__ = ("asked", "condition")

    def __init__(self, key: InstanceKey, asked: Asked, *, terminate: bool = False) -> None:
        super().__init__(key, "canceled", finalize=not terminate, is_hint=True)
        self.condition = asked.condition
        self.asked = asked

    def apply(self, live: LiveInstance) -> bool:
        ended = live.status in (Status.FINISHED, Status.CANCELED)
        if ended or (live.stopping is not None and self.finalize):
            return False
        self.asked.note(live, "cancel" if self.finalize else "terminate", cause=self.cause)
        return super().apply(live)


class NoteVerb(Job):
    """Records an action from outside in the instance's journal."""

    __slots__ = ("asked", "data", "verb")

    is_hint = True

    def __init__(self, key: InstanceKey, asked: Asked, verb: str, **data: Any) -> None:
        super().__init__(key)
        self.asked = asked
        self.verb = verb
        self.data = data

    def apply(self, live: LiveInstance) -> bool:
        self.asked.note(live, self.verb, **self.data)
        return True
