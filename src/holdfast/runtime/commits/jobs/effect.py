"""Jobs about effects: their results, and the notes and incidents of effects whose node died."""

from __future__ import annotations

import logging
from typing import Any

from holdfast.errors import CodeMissing, InstanceNotFound, StateUnreadable
from holdfast.execution import delivery
from holdfast.execution.effect_failure import failure
from holdfast.execution.live import LiveInstance
from holdfast.execution.record import EffectFailure, EffectResult
from holdfast.model.commit import Conflict, ConflictReason
from holdfast.model.instance import LOST, Incident, JournalEvent
from holdfast.model.stored import InstanceKey
from holdfast.model.work import DeadLetterRow, EffectRef
from holdfast.runtime.commits.jobs.base import Job, Retries
from holdfast.runtime.observability.outage_log import AWAY

logger = logging.getLogger("holdfast")

PARKED_RETRY_SECONDS = 10.0
"""Pause until a result is offered again to an instance that this process cannot read."""
STORE_RETRY_SECONDS = 0.5
"""Pause until a result is offered again to a store that is unavailable."""


class EffectJob(Job):
    """The result of an effect that this node owned.

    The effect row in the store says which attempt counts. A takeover changes the row and not the state, so the attempt in the
    state follows the attempt of the result. If the row belongs to another attempt, the commit has a conflict, and the result
    is journaled as late.
    """

    __slots__ = ("gave_up", "late", "ref", "result")

    def __init__(self, key: InstanceKey, ref: EffectRef, result: EffectResult, **more: Any) -> None:
        Job.__init__(self, key, False, **more)
        self.ref = ref
        self.result = result
        self.late = False
        self.gave_up = False
        """The result could not be stored and was replaced by a failure."""

    def apply(self, live: LiveInstance) -> bool:
        self.consumes_effect = None
        execution_id, attempt, _ = self.ref
        if live.status.at_rest:
            return False
        activation = live.waiters.get(execution_id)
        if self.late:
            live.note(JournalEvent.RESULT_DROPPED, activation, {"execution": execution_id, "attempt": attempt})
            return True
        request = live.effects.get(execution_id) or live.ending.get(execution_id)
        if request is not None and request.attempt < attempt:
            request.attempt = attempt
            if activation is not None:
                activation.attempt = attempt
        if live.incidents and request is not None and request.attempt == attempt:
            resolve_lost_incidents(live, execution_id)  # The effect was held as lost, and its process is alive.
        if delivery.finish_effect(live, execution_id, attempt, self.result):
            self.consumes_effect = self.ref
        return True

    def on_conflict(self, conflict: Conflict, retries: Retries) -> None:
        if conflict.reason is ConflictReason.EFFECT and str(self.ref.execution) == conflict.name:
            self.late = True
            retries.again(self)
        else:
            super().on_conflict(conflict, retries)

    def on_failure(self, error: Exception, retries: Retries) -> None:
        if isinstance(error, InstanceNotFound):
            self.drop(retries)
        elif isinstance(error, AWAY):
            retries.later(self, STORE_RETRY_SECONDS)
        elif isinstance(error, CodeMissing | StateUnreadable):
            # A node with other code has changed the instance. The result is kept until this process can read it, or ends.
            retries.later(self, PARKED_RETRY_SECONDS)
        elif not self.gave_up:
            # The result is too large or of an unknown type: the activity fails with that error.
            logger.warning("the result of an effect of instance %s cannot be stored", self.instance_id, exc_info=error)
            self.gave_up, self.result = True, failure(error)
            retries.submit(self)
        else:
            logger.error("an effect of instance %s stays without a result", self.instance_id, exc_info=error)


class LostJob(EffectJob):
    """An effect that ended every process that tried it: it fails, and its commit adds a dead letter."""

    __slots__ = ("dead_letters", "letter")

    def __init__(self, key: InstanceKey, ref: EffectRef, result: EffectFailure, letter: DeadLetterRow) -> None:
        super().__init__(key, ref, result)
        self.letter = letter
        self.dead_letters = ()

    def apply(self, live: LiveInstance) -> bool:
        changed = super().apply(live)
        self.dead_letters = () if self.consumes_effect is None else (self.letter,)
        return changed


def resolve_lost_incidents(live: LiveInstance, execution_id: int) -> None:
    live.incidents = [item for item in live.incidents if item.type != LOST or item.execution_id != execution_id]


class HoldJob(Job):
    """An incident for an effect whose node died and that `on_lost: hold` keeps from running again."""

    __slots__ = ("execution_id", "node_name")

    def __init__(self, key: InstanceKey, execution_id: int, node_name: str) -> None:
        super().__init__(key, wants_answer=False)
        self.execution_id = execution_id
        self.node_name = node_name

    def apply(self, live: LiveInstance) -> bool:
        request = live.effects.get(self.execution_id)
        if request is None or live.status.at_rest:
            return False
        identity = f"{live.id}-{LOST}-{self.execution_id}-{request.attempt}"
        if any(item.id == identity for item in live.incidents):
            return False
        lost = f"Node '{self.node_name}' died" if self.node_name else "A node was stopped"
        message = (
            f"{lost} while it ran '{request.activity_id}', and the outcome is unknown. The effect is held (on_lost: hold). "
            f"Check the outcome, then run it again (holdfast instances recover {live.id}) or cancel the instance."
        )
        live.incidents.append(
            Incident(
                id=identity,
                type=LOST,
                message=message,
                at=live.moment(),
                activity_id=request.activity_id,
                execution_id=request.execution_id,
                attempt=request.attempt,
            )
        )
        live.note(JournalEvent.INCIDENT, live.waiters.get(self.execution_id), {"type": LOST, "message": message})
        return True


class TakenOverJob(Job):
    """The receipt of a takeover in the journal: the node that died, the node that has the effect now, the attempt."""

    __slots__ = ("alone", "attempt", "by", "died", "execution_id")

    runs_queue = False

    def __init__(
        self, key: InstanceKey, execution_id: int, *, died: str, by: str, attempt: int, alone: bool = False
    ) -> None:
        super().__init__(key)
        self.alone = alone
        """The attempt runs in isolation: no other effect starts beside it."""
        self.execution_id = execution_id
        self.died = died
        self.by = by
        self.attempt = attempt

    def apply(self, live: LiveInstance) -> bool:
        if live.status.at_rest or self.execution_id not in live.effects:
            return False
        node = f"node {self.died}" if self.died else "its node"
        message = f"{node} died, effect taken over by {self.by}, attempt {self.attempt}"
        data = {"node": self.died, "by": self.by, "attempt": self.attempt, "message": message}
        if self.alone:
            data |= {"alone": True, "message": f"{message}, with nothing beside it"}
        activation = live.waiters.get(self.execution_id)
        if activation is not None:
            activation.attempt = max(activation.attempt, self.attempt)
        live.note(JournalEvent.TAKEN_OVER, activation, data)
        return True


class PoisonJob(Job):
    """An incident for work that ends processes. The instance's queue is not run: it may be the cause."""

    __slots__ = ("message", "work_id")

    runs_queue = False

    def __init__(self, key: InstanceKey, work_id: str, message: str) -> None:
        super().__init__(key)
        self.work_id = work_id
        self.message = message

    def apply(self, live: LiveInstance) -> bool:
        identity = f"{live.id}-poison-{self.work_id}"
        if any(item.id == identity for item in live.incidents):
            return False
        live.incidents.append(Incident(id=identity, type="process-died", message=self.message, at=live.moment()))
        live.note(JournalEvent.INCIDENT, None, {"type": "process-died", "message": self.message})
        return True
