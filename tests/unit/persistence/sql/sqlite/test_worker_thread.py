"""Worker threads of SQLite: jobs are collected while the thread is busy, and answered in their event loops."""

from __future__ import annotations

import asyncio
import threading

import pytest

from holdfast.persistence.sql.sqlite.worker_thread import Job, WorkerThread


class Doubled(Job[int]):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class Worker:
    """Doubles numbers. The first call waits until `go` is set."""

    def __init__(self, limit: int = 10) -> None:
        self.go = threading.Event()
        self.groups: list[list[int]] = []
        self.finished = threading.Event()
        self.thread: WorkerThread[Doubled] = WorkerThread("test-worker", self._work, self.finished.set, limit)

    def submit(self, number: int) -> asyncio.Future[int]:
        job = Doubled(number)
        self.thread.submit(job)
        return job.future

    def _work(self, jobs: list[Doubled]) -> None:
        self.go.wait(5)
        self.groups.append([job.number for job in jobs])
        for job in jobs:
            if job.number < 0:
                job.error = ValueError(job.number)
            elif job.number == 0:
                raise ZeroDivisionError
            job.result = job.number * 2


async def test_jobs_that_arrive_while_the_thread_is_busy_run_together() -> None:
    worker = Worker(limit=3)
    first = worker.submit(1)
    while not worker.thread._jobs.empty():  # noqa: ASYNC110 - the thread sends no event when it takes a job
        await asyncio.sleep(0.001)
    others = [worker.submit(number) for number in range(2, 7)]
    worker.go.set()

    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10, 12]
    assert worker.groups == [[1], [2, 3, 4], [5, 6]]
    worker.thread.stop()


async def test_stop_finishes_submitted_jobs_first() -> None:
    worker = Worker()
    worker.go.set()
    results = [worker.submit(number) for number in (1, 2)]
    await asyncio.to_thread(worker.thread.stop)

    assert await asyncio.gather(*results) == [2, 4]
    assert worker.finished.is_set()


async def test_an_error_of_one_job_is_raised_in_its_caller_only() -> None:
    worker = Worker()
    bad, good = worker.submit(-1), worker.submit(1)
    worker.go.set()

    with pytest.raises(ValueError, match="-1"):
        await bad
    assert await good == 2
    worker.thread.stop()


async def test_an_error_of_the_worker_is_raised_in_all_callers() -> None:
    worker = Worker()
    results = [worker.submit(number) for number in (0, 1)]
    worker.go.set()

    for result in results:
        with pytest.raises(ZeroDivisionError):
            await result
    worker.thread.stop()


async def test_a_cancelled_caller_does_not_affect_others() -> None:
    worker = Worker()
    cancelled, other = worker.submit(1), worker.submit(2)
    cancelled.cancel()
    worker.go.set()

    assert await other == 4
    worker.thread.stop()


def test_jobs_of_a_closed_event_loop_are_dropped() -> None:
    worker = Worker()

    async def submit() -> None:
        worker.submit(1)

    asyncio.run(submit())
    worker.go.set()
    worker.thread.stop()

    assert worker.groups == [[1]]
