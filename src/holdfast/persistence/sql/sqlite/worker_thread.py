"""Worker threads of SQLite connections: jobs that arrive while a thread is busy are run and answered together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
J = TypeVar("J", bound="Job[Any]")


class Job(Generic[T]):
    """One call: a future of the caller's event loop, and its result or error."""

    __slots__ = ("error", "future", "loop", "result")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()
        self.result: T | None = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        """Resolve the future, unless the caller was canceled. Runs in the caller's event loop."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]  # T may be None


class WorkerThread(Generic[J]):
    """Passes all waiting jobs, at most `limit`, to `work`, until it is stopped."""

    def __init__(self, name: str, work: Callable[[list[J]], None], finish: Callable[[], None], limit: int) -> None:
        self._jobs: SimpleQueue[J | None] = SimpleQueue()
        self._work = work
        self._finish = finish
        self._limit = limit
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: J) -> None:
        self._jobs.put(job)

    def stop(self) -> None:
        """Finish all submitted jobs, then end the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            jobs, stopping = self._next()
            if jobs:
                try:
                    self._work(jobs)
                except BaseException as error:  # noqa: BLE001 - raised in the tasks of the callers
                    for job in jobs:
                        job.error = job.error or error
                notify_callers(jobs)
        self._finish()

    def _next(self) -> tuple[list[J], bool]:
        first = self._jobs.get()
        if first is None:
            return [], True
        jobs = [first]
        while len(jobs) < self._limit:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                break
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False


def notify_callers(jobs: Sequence[Job[Any]]) -> None:
    """Resolve all jobs, with one wake-up per event loop."""
    loops: dict[asyncio.AbstractEventLoop, list[Job[Any]]] = {}
    for job in jobs:
        loops.setdefault(job.loop, []).append(job)
    for loop, of_loop in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, of_loop)
        except RuntimeError:  # The loop is closed, so no task waits for the result.
            continue


def _settle(jobs: Sequence[Job[Any]]) -> None:
    for job in jobs:
        job.settle()
