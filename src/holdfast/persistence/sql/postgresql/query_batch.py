"""Query batching: queries that arrive while others run are sent together, as in group commit (`sql/group_commit.py`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

_QUERIES_MAX = 256


class QueryBatcher(Generic[Q, A]):
    """`run` answers any number of queries in one round trip; at most `limit` calls of it run at once."""

    def __init__(self, run: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], limit: int) -> None:
        self._run = run
        self._limit = limit
        self._running = 0
        self._waiting: deque[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, queries: Sequence[Q]) -> asyncio.Future[Sequence[A]]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Sequence[A]] = loop.create_future()
        self._waiting.append((queries, future))
        if self._running < self._limit:
            self._running += 1
            task = loop.create_task(self._drain(), name="holdfast-lookup")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return future

    async def close(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._run_batch(self._next())
        finally:
            self._running -= 1

    def _next(self) -> list[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]]:
        jobs = [self._waiting.popleft()]
        count = len(jobs[0][0])
        while self._waiting and count + len(self._waiting[0][0]) <= _QUERIES_MAX:
            jobs.append(self._waiting.popleft())
            count += len(jobs[-1][0])
        return jobs

    async def _run_batch(self, jobs: Sequence[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]]) -> None:
        """Send the queries of several callers together. After an error, send those of each caller alone, so that only the
        caller with the invalid query fails."""
        try:
            results = await self._run([query for queries, _ in jobs for query in queries])
        except Exception as error:  # noqa: BLE001 - raised in the task of the caller
            if len(jobs) == 1:
                _fail(jobs[0][1], error)
                return
            for job in jobs:
                await self._run_batch([job])
            return
        except BaseException:
            for _, future in jobs:
                future.cancel()
            raise
        place = 0
        for queries, future in jobs:
            if not future.done():
                future.set_result(results[place : place + len(queries)])
            place += len(queries)


def _fail(future: asyncio.Future[Sequence[A]], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
