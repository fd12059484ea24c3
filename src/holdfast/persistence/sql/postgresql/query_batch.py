"""Questions that queue up while others are being answered are asked together, as commits are (see `lanes.py`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

_QUESTIONS_MAX = 256


class QueryBatcher(Generic[Q, A]):
    """`ask` answers any number of questions, in their order; at most `limit` times at once."""

    def __init__(self, ask: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], limit: int) -> None:
        self._ask = ask
        self._limit = limit
        self._running = 0
        self._waiting: deque[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, questions: Sequence[Q]) -> asyncio.Future[Sequence[A]]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Sequence[A]] = loop.create_future()
        self._waiting.append((questions, future))
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
                await self._answer(self._next())
        finally:
            self._running -= 1

    def _next(self) -> list[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]]:
        jobs = [self._waiting.popleft()]
        count = len(jobs[0][0])
        while self._waiting and count + len(self._waiting[0][0]) <= _QUESTIONS_MAX:
            jobs.append(self._waiting.popleft())
            count += len(jobs[-1][0])
        return jobs

    async def _answer(self, jobs: Sequence[tuple[Sequence[Q], asyncio.Future[Sequence[A]]]]) -> None:
        """If one of them cannot be answered, each is asked by itself: nobody fails for another's question."""
        try:
            answers = await self._ask([question for questions, _ in jobs for question in questions])
        except Exception as error:  # noqa: BLE001 - it is told to whoever asked
            if len(jobs) == 1:
                _fail(jobs[0][1], error)
                return
            for job in jobs:
                await self._answer([job])
            return
        except BaseException:
            for _, future in jobs:
                future.cancel()
            raise
        place = 0
        for questions, future in jobs:
            if not future.done():
                future.set_result(answers[place : place + len(questions)])
            place += len(questions)


def _fail(future: asyncio.Future[Sequence[A]], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
