"""A lane: the queue of jobs that wait for their batch.

A lane groups its jobs by instance and hands them to the batch executor, one batch at a time. Jobs that arrive during a commit
are the next batch: no timer delays a batch.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from time import monotonic

from holdfast.errors import StoreError
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.burst_pace import ROWS_MAX, BurstPace
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.base import Job

BATCH_MAX = 128
"""Instances in one batch."""
JOBS_MAX = 256
"""Jobs of one instance in one batch: about as many as a burst has time for. Others stay in the lane."""

Execute = Callable[[list[Burst]], Awaitable[None]]


class Lane:
    def __init__(self, execute: Execute, in_hand: InstancesInHand, pace: BurstPace) -> None:
        self._execute = execute
        self._pace = pace
        self._resting: dict[InstanceKey, list[Job]] = {}
        """Jobs of instances that rest; `_waiting` has the others."""
        self._claimed = in_hand.claimed
        self._watch = in_hand.watch
        self._waiting: deque[Job] = deque()
        self._surplus: dict[InstanceKey, deque[Job]] = {}
        """Jobs of instances with more jobs than one batch takes; later jobs of these instances wait behind them."""
        self._sleeping: asyncio.Future[None] | None = None
        """Done when a job arrives. A bare future instead of an Event: this is on the latency path of a lone request."""
        self._in_hand: dict[InstanceKey, int] = {}
        """Number of jobs per instance that wait here or are in the current batch."""
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._stopping = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-lane")

    async def stop(self, grace: float) -> None:
        """Finish the current batch, then end; waiting jobs are refused."""
        self._stopping = True
        self._wake()
        if self._task is not None:
            _, late = await asyncio.wait([self._task], timeout=grace)
            for task in late:  # The store does not answer: whether the batch was committed is unknown.
                task.cancel()
                await asyncio.wait([task])
            self._task = None

    def refuse_waiting(self) -> None:
        for key in list(self._resting):
            self._end_rest(key)
        for key in list(self._surplus):
            self._waiting.extend(self._surplus.pop(key))
        while self._waiting:
            self._waiting.popleft().refuse(
                StoreError("The node was stopped before the request was executed. Send it again.")
            )

    @property
    def busy(self) -> bool:
        return bool(self._in_hand)

    def has(self, key: InstanceKey) -> bool:
        """Whether a job of the instance waits here or is in the current batch."""
        return key in self._in_hand

    def submit(self, job: Job) -> None:
        if self._stopping:
            job.refuse(StoreError("The node is stopping. Send the request to another node, or again later."))
            return
        in_hand, key = self._in_hand, job.key
        in_hand[key] = in_hand.get(key, 0) + 1
        if self._surplus and key in self._surplus:
            self._surplus[key].append(job)
            return
        if self._pace and self._rests(job):
            return
        self._waiting.append(job)
        if self._sleeping is not None:
            self._wake()

    def _rests(self, job: Job) -> bool:
        """Whether the job waits for the end of its instance's rest."""
        key = job.key
        rest = self._pace.rests(key)
        if rest is None:
            return False
        jobs = self._resting.get(key)
        if jobs is None:
            jobs = self._resting[key] = []
            delay = max(0.0, rest.until - monotonic())
            asyncio.get_running_loop().call_later(delay, self._end_rest, key)
        jobs.append(job)
        if len(jobs) >= rest.jobs or (len(jobs) % ROWS_MAX == 0 and _rows(jobs) >= ROWS_MAX):
            self._end_rest(key)
        return True

    def _end_rest(self, key: InstanceKey) -> None:
        jobs = self._resting.pop(key, None)
        if jobs is not None:
            self._pace.pop(key, None)
            self._waiting.extend(jobs)
            self._wake()

    def look_again(self) -> None:
        """An instance that a claim ran is free again."""
        if self._waiting or self._surplus:
            self._wake()

    def _wake(self) -> None:
        sleeping, self._sleeping = self._sleeping, None
        if sleeping is not None and not sleeping.done():
            sleeping.set_result(None)

    async def _run(self) -> None:
        create_future = asyncio.get_running_loop().create_future
        while not self._stopping:
            bursts = self._take_batch()
            if not bursts:
                self._sleeping = create_future()
                await self._sleeping
                continue
            taken = [(burst.key, len(burst.jobs)) for burst in bursts]
            await self._execute(bursts)
            for key, jobs in taken:
                self._done(key, jobs)
            # Callers that were answered send their next request within one turn of the event loop. Waiting for that turn
            # doubles the size of batches at no cost in latency.
            await asyncio.sleep(0)

    def _done(self, key: InstanceKey, jobs: int) -> None:
        left = self._in_hand[key] - jobs
        if left > 0:
            self._in_hand[key] = left
        else:
            del self._in_hand[key]
        self._watch.notify(key)

    def _take_batch(self) -> list[Burst]:
        """Waiting jobs grouped by instance. Jobs of instances that a claim runs wait until the claim ends."""
        bursts = self._take_surplus() if self._surplus else {}
        waiting, claimed, pace = self._waiting, self._claimed, self._pace
        later: list[Job] = []
        while waiting:
            job = waiting[0]
            if claimed and job.key in claimed:
                later.append(waiting.popleft())
                continue
            if pace and job.key not in bursts and self._rests(job):
                waiting.popleft()
                continue
            burst = bursts.get(job.key)
            if burst is not None:
                if len(burst.jobs) < JOBS_MAX:
                    burst.jobs.append(job)
                else:
                    self._surplus.setdefault(job.key, deque()).append(job)
            elif len(bursts) < BATCH_MAX:
                bursts[job.key] = Burst(job.key, [job])
            else:
                break
            waiting.popleft()
        waiting.extendleft(reversed(later))
        return list(bursts.values())

    def _take_surplus(self) -> dict[InstanceKey, Burst]:
        """The next jobs of instances with more jobs than the last batch took."""
        bursts: dict[InstanceKey, Burst] = {}
        for key, jobs in list(self._surplus.items()):
            if key in self._claimed or len(bursts) == BATCH_MAX:
                continue
            rest = self._pace.rests(key)
            if rest is not None and len(jobs) >= rest.jobs:
                del self._pace[key]
            elif rest is not None:
                del self._surplus[key]
                self._waiting.extend([job for job in jobs if not self._rests(job)])
                continue
            bursts[key] = Burst(key, [jobs.popleft() for _ in range(min(JOBS_MAX, len(jobs)))])
            if not jobs:
                del self._surplus[key]
        return bursts


def _rows(jobs: list[Job]) -> int:
    return sum(job.consumes_work is not None for job in jobs)
