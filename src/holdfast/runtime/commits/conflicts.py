"""Jobs whose commit was not written: each follows its own policy (`Job.on_conflict`, `Job.on_failure`).

Nothing of a lost commit is in the store, so applying the job again is safe. The first conflicts are retried at once; after
three, the job waits for a random back-off, since another node is working on the instance. Jobs of work rows go back to the
work table instead: the node that claims the row next continues.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable

from holdfast import telemetry
from holdfast.errors import StoreError
from holdfast.model.commit import Conflict
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.base import DROPPED, Job
from holdfast.runtime.commits.large_values import StateMoved
from holdfast.runtime.commits.spent_rows import SpentRows

RETRIES_AT_ONCE = 3
RETRIES_MAX = 200
BACKOFF_SECONDS = 0.02
"""Maximum back-off per conflict."""


class Conflicts:
    submit: Callable[[Job], None]
    """Submits a job to the lane of its instance; set by the node."""

    def __init__(self, cache: InstanceCache, in_hand: InstancesInHand, spent: SpentRows) -> None:
        self._cache = cache
        self._in_hand = in_hand
        self._spent = spent
        self._delayed: set[asyncio.TimerHandle] = set()
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        for handle in self._delayed:
            handle.cancel()

    def lost(self, key: InstanceKey, jobs: Iterable[Job], conflict: Conflict) -> None:
        """A guard of a commit did not hold."""
        self._cache.forget(key)
        if telemetry.listeners:
            telemetry.emit("commit.lost", tenant=key.tenant, instance_id=key.id, reason=conflict.reason.value)
        for job in jobs:
            job.on_conflict(conflict, self)

    def fail(self, job: Job, error: Exception) -> None:
        """A job could not be applied, or the store refused its commit."""
        if isinstance(error, StateMoved):
            self._cache.forget(job.key)
            job.from_store = True
            self.again(job)
        else:
            job.on_failure(error, self)

    # -- the options of a job (`jobs.base.Retries`) --------------------------------------------------------------------

    def again(self, job: Job) -> None:
        job.tries += 1
        if job.tries <= RETRIES_AT_ONCE:
            self.submit(job)
        elif job.consumes_work is not None:
            job.finish(DROPPED)
        elif job.tries > RETRIES_MAX and job.answer is not None:
            job.refuse(
                StoreError(f"Instance {job.instance_id} changed {job.tries} times meanwhile. Send the request again.")
            )
        else:
            self.later(job, random.uniform(0, BACKOFF_SECONDS * min(job.tries, 10)))

    def later(self, job: Job, seconds: float) -> None:
        if self._stopped:
            return
        self._in_hand.hold(job.key)

        def submit() -> None:
            self._delayed.discard(handle)
            self.submit(job)
            self._in_hand.release(job.key)

        handle = asyncio.get_running_loop().call_later(seconds, submit)
        self._delayed.add(handle)

    def delete_row(self, job: Job) -> None:
        assert job.consumes_work is not None
        self._spent.delete(job.key.tenant, job.consumes_work)
