"""What becomes of a job whose commit was not written: it is answered, dropped, or goes round again.

Nothing of a lost commit is in the store, so doing it again is safe. After three lost version checks a job waits a little at
random: the node that won is working on that instance. Work rows go back to the table instead, for whoever takes them first.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, Protocol

from holdfast import telemetry
from holdfast.errors import InstanceNotFound, KeyReused, PersistenceError, PlaceTaken, StoreError
from holdfast.model.commit import Loss, Lost
from holdfast.model.instance import Status
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.base import Answer, CancelJob, EffectJob, Job, ResumeJob, RetryJob, StartJob
from holdfast.runtime.commits.large_values import StateMoved
from holdfast.runtime.effects.executor import failure
from holdfast.runtime.observability.outage_log import AWAY

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

LOST_AT_ONCE = 3
LOST_MAX = 200
REWRITE_MAX = 20
JITTER = 0.02
"""Seconds, at most, per lost check."""
PAUSE = 0.5
"""Seconds until a result is offered again to a store that did not answer."""


def other_request(holder: str | None, key: str = "") -> KeyReused:
    return KeyReused(key, holder)


def place_taken(instance_id: str, holder: str | None) -> PlaceTaken:
    return PlaceTaken(instance_id, Status.FAULTED.value, holder)


def _asked_for(job: Job, execution: str | None) -> bool:
    return job.consumes_effect is not None and str(job.consumes_effect.execution) == execution


class Submits(Protocol):
    def submit(self, job: Job) -> None: ...


class Losing:
    """The afterlife of jobs, for one lane."""

    def __init__(self, node: Node, lane: Submits) -> None:
        self._node = node
        self._lane = lane
        self._later: set[asyncio.TimerHandle] = set()
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        for handle in self._later:
            handle.cancel()

    # -- a guard did not hold ------------------------------------------------------------------------------------------

    def lost(self, burst: Burst, loss: Lost) -> None:
        self._node.forget(burst.instance_id)
        if telemetry.listeners:
            telemetry.emit("commit.lost", instance_id=burst.instance_id, reason=loss.reason.value)
        for job in burst.applied:
            if loss.reason is Loss.KEY and any(guard.name == loss.name for guard in job.guards):
                self._key_taken(job, loss)
            elif loss.reason is Loss.SLOT:
                self._slot_taken(job, loss)
            elif loss.reason is Loss.EXISTS and isinstance(job, StartJob):
                self._not_started(job, burst.instance_id)
            elif loss.reason is Loss.WORK and job.consumes_work == loss.name:
                job.tell(Answer(dropped=True))
            elif loss.reason is Loss.INBOX and loss.name in job.consumes_inbox:
                job.tell(Answer(dropped=True))  # Somebody else delivered it.
            elif loss.reason is Loss.SCHEDULE and job.fires is not None:
                job.tell(Answer(dropped=True))  # Another node fired it.
            elif loss.reason is Loss.EFFECT and isinstance(job, EffectJob) and str(job.ref.execution) == loss.name:
                job.late = True
                self._again(job)
            elif loss.reason is Loss.EFFECT and _asked_for(job, loss.name):
                job.tell(Answer(dropped=True))  # Somebody else ran it again, or it ended after all.
            else:
                self._again(job)

    def _key_taken(self, job: Job, loss: Lost) -> None:
        if loss.other_request:
            job.refuse(other_request(loss.holder, loss.name))
        else:
            self._not_started(job, loss.holder)

    def _slot_taken(self, job: Job, loss: Lost) -> None:
        if isinstance(job, StartJob):
            self._not_started(job, loss.holder)
            return
        if isinstance(job, RetryJob):
            job.refuse(place_taken(job.instance_id, loss.holder))
            return
        message = f"Instance {loss.holder} holds the place that instance {job.instance_id} needs"
        self.fail(job, StoreError(f"{message} with its new correlation id. Wait for its end, or use another id."))

    def _not_started(self, job: Job, holder: str | None) -> None:
        """A refused start still uses its row up, and its parent hears of it."""
        job.tell(Answer(existing=holder))
        if job.consumes_work is None:
            return
        if isinstance(job, StartJob) and job.parent is not None and holder != job.instance_id:
            parent, bookmark = job.parent
            reason = f"Instance {holder} is running, and '{job.plan.definition.id}' allows one at a time."
            told = {"refused": reason, "instance_id": job.instance_id}
            self._node.submit(
                ResumeJob(parent, bookmark, told, quiet=True, wanted=False, consumes_work=job.consumes_work)
            )
        else:
            self._node.use_up(job.consumes_work)

    def _again(self, job: Job) -> None:
        job.tries += 1
        if job.tries <= LOST_AT_ONCE:
            self._lane.submit(job)
        elif job.consumes_work is not None:
            job.tell(Answer(dropped=True))
        elif job.tries > LOST_MAX and job.answer is not None:
            job.refuse(StoreError(f"Instance {job.instance_id} changed {job.tries} times meanwhile. Ask again."))
        else:
            self._after(random.uniform(0, JITTER * min(job.tries, 10)), job)

    # -- it could not even be tried, or the store refuses it -----------------------------------------------------------

    def fail(self, job: Job, error: Exception) -> None:
        if isinstance(error, StateMoved):
            self._node.forget(job.instance_id)
            job.sure = True
            self._again(job)
        elif isinstance(error, PersistenceError) and job.rewrites and job.tries < REWRITE_MAX:
            self._again(job)  # Somebody has one of the rows in hand that it writes anew: theirs is a moment.
        elif isinstance(error, InstanceNotFound) and isinstance(job, CancelJob):
            job.refuse(error)  # Its start may be in somebody's hands: its row is looked at again.
        elif isinstance(error, InstanceNotFound) and (job.quiet or isinstance(job, EffectJob)):
            job.tell(Answer(dropped=True))
            if job.consumes_work is not None:
                self._node.use_up(job.consumes_work)
        elif not isinstance(job, EffectJob):
            job.refuse(error)
        elif isinstance(error, AWAY):
            self._after(PAUSE, job)
        elif job.tries < LOST_MAX:
            # Its result cannot be kept (too large, of no known type): the activity failed with that.
            logger.warning("the result of an effect of instance %s cannot be kept", job.instance_id, exc_info=error)
            job.tries, job.result = LOST_MAX, failure(error)
            self._lane.submit(job)
        else:
            logger.error("an effect of instance %s stays without a result", job.instance_id, exc_info=error)

    def _after(self, seconds: float, job: Job) -> None:
        if self._stopped:
            return
        node = self._node
        node.hold(job.instance_id)

        def submit() -> None:
            self._later.discard(handle)
            self._lane.submit(job)
            node.let_go(job.instance_id)

        handle = asyncio.get_running_loop().call_later(seconds, submit)
        self._later.add(handle)
