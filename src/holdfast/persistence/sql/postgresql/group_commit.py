"""Group commit: what queued up while a lane was busy is its next batch. No timer gathers, so one alone never waits.

Where a lane is free, a batch is committed in the task of who asks: two turns of the loop less for one who is alone. Whoever
hangs up then breaks a connection; the commit is there as a whole or not at all. What had to queue up is committed by a task
of its own, for many who asked: none of them cancels it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.stored import InstanceKey

LANES = 2
BATCH_MAX = 128
BATCH_BYTES_MAX = 4_000_000


class _Job:
    __slots__ = ("batch", "future", "keys", "size")

    def __init__(self, batch: Sequence[Commit]) -> None:
        self.batch = batch
        self.future: asyncio.Future[Sequence[CommitOutcome]] = asyncio.get_running_loop().create_future()
        self.keys: list[InstanceKey] = []
        self.size = 0
        for commit in batch:
            row = commit.instance
            if row is not None:
                self.keys.append(InstanceKey(row.tenant, row.id))
                self.size += len(row.state)


class Lanes:
    def __init__(
        self, commit: Callable[[Sequence[Commit]], Awaitable[list[CommitOutcome]]], limit: int = LANES
    ) -> None:
        self._commit = commit
        self._limit = limit
        self._waiting: deque[_Job] = deque()
        self._running = 0
        """Lanes that will look at what waits. Counted by themselves: a task that has ended is known late."""
        self._empty: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        if self._running >= self._limit:
            job = _Job(batch)
            self._waiting.append(job)
            return await job.future
        self._running += 1
        try:
            return await self._commit(batch)
        finally:
            if self._waiting:
                task = asyncio.get_running_loop().create_task(self._drain(), name="holdfast-lane")
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self._leave()

    async def close(self) -> None:
        """Finish what was asked."""
        while self._running:
            self._empty = asyncio.get_running_loop().create_future()
            await self._empty

    def _leave(self) -> None:
        self._running -= 1
        if not self._running and self._empty is not None and not self._empty.done():
            self._empty.set_result(None)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._work(self._next())
        finally:
            self._leave()

    async def _work(self, jobs: Sequence[_Job]) -> None:
        try:
            if len(jobs) == 1:
                outcomes = await self._commit(jobs[0].batch)
            else:
                outcomes = await self._commit([commit for job in jobs for commit in job.batch])
        except BaseException as error:
            _fail(jobs, error)
            if not isinstance(error, Exception):
                raise
        else:
            _answer(jobs, outcomes)

    def _next(self) -> list[_Job]:
        """Batches of several callers together, up to the limits; none names an instance twice."""
        jobs: list[_Job] = []
        left: list[_Job] = []
        keys: set[InstanceKey] = set()
        count = size = 0
        while self._waiting and count < BATCH_MAX and len(left) < BATCH_MAX:
            job = self._waiting.popleft()
            if jobs and (count + len(job.batch) > BATCH_MAX or size + job.size > BATCH_BYTES_MAX):
                left.append(job)
                break
            if jobs and not keys.isdisjoint(job.keys):
                left.append(job)
                continue
            jobs.append(job)
            keys.update(job.keys)
            count += len(job.batch)
            size += job.size
        self._waiting.extendleft(reversed(left))
        return jobs


def _answer(jobs: Sequence[_Job], outcomes: Sequence[CommitOutcome]) -> None:
    place = 0
    for job in jobs:
        end = place + len(job.batch)
        if not job.future.done():
            job.future.set_result(outcomes[place:end])
        place = end


def _fail(jobs: Sequence[_Job], error: BaseException) -> None:
    for job in jobs:
        if not job.future.done():
            if isinstance(error, Exception):
                job.future.set_exception(error)
            else:
                job.future.cancel()
