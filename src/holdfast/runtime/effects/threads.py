"""Threads for blocking calls: short calls share a thread, long calls get a thread each.

A hop from the event loop to a thread and back costs more than most calls, since both threads need the interpreter lock. So a
thread takes the next waiting call after each call, and results are handed to the loop in groups. No call waits behind a call
that blocks: before a thread begins a call while others wait, it requests another thread. The requested thread hands out the
results when it starts, which is as soon as the running call releases the interpreter lock.

A thread cannot be stopped. If the caller of a running call was canceled, its thread counts as lost until the call returns, and
another thread takes its place, up to a hard cap.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any

LOST_FACTOR = 4
"""Up to this many times `most` threads may exist while some are lost."""


class _Call:
    __slots__ = ("begun", "ended", "error", "future", "given_up", "value", "work")

    def __init__(self, work: Callable[[], Any], future: asyncio.Future[None]) -> None:
        self.work = work
        self.future = future
        """Only signals the end of the call: a future cannot hold every error (StopIteration)."""
        self.begun = self.ended = self.given_up = False
        self.value: Any = None
        self.error: BaseException | None = None


class Threads:
    def __init__(self, most: int) -> None:
        self._most = most
        self._executor: ThreadPoolExecutor | None = None
        self._lock = Lock()
        """Guards everything below."""
        self._waiting: deque[_Call] = deque()
        self._results: list[_Call] = []
        """Ended calls that the loop is not notified of yet."""
        self._serving = 0
        """Threads that were requested and have not ended."""
        self._requested = False
        """A requested thread has not started yet."""
        self.lost = 0
        """Threads that still run a call which its caller has given up."""

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run `work` in a thread, in an empty context; at most `most` calls run at a time."""
        call = _Call(work, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting.append(call)
            try:
                self._request_thread()
            except RuntimeError:  # The interpreter shuts down.
                self._waiting.remove(call)
                raise
        try:
            await call.future
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        value, error = call.value, call.error
        del call  # Avoids a reference cycle: the traceback of the error refers to this frame.
        try:
            if error is not None:
                raise error
        finally:
            del error
        return value

    def close(self) -> None:
        """Release idle threads. Lost threads end with their call; `close` does not wait for them."""
        with self._lock:
            left, self._waiting = self._waiting, deque()
            executor, self._executor = self._executor, None
        for call in left:
            with suppress(RuntimeError):  # The loop is closed.
                call.future.get_loop().call_soon_threadsafe(call.future.cancel)
        if executor is not None:
            executor.shutdown(wait=False)

    def _give_up(self, call: _Call) -> None:
        with self._lock:
            if call.ended:
                return
            call.given_up = True
            if call.begun:
                self.lost += 1
                with suppress(RuntimeError):
                    self._request_thread()
            elif call in self._waiting:
                self._waiting.remove(call)

    def _request_thread(self) -> None:
        """Start one more thread if calls wait, no requested thread is about to start, and the limits allow it."""
        if (
            not self._waiting or self._requested
            or self._serving - self.lost >= self._most or self._serving >= self._most * LOST_FACTOR
        ):  # fmt: skip
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._most * LOST_FACTOR, thread_name_prefix="holdfast-effect")
        self._executor.submit(self._serve)
        self._requested = True
        self._serving += 1

    # -- in a thread ---------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        call: _Call | None = None
        while True:
            call, results = self._next(call)
            if results:
                _hand_out(results)
            del results  # No reference cycle, as in `run`.
            if call is None:
                return
            _do(call)

    def _next(self, done: _Call | None) -> tuple[_Call | None, list[_Call]]:
        """The next call (None: the thread ends) and the results to hand out first. `done` is None when the thread starts."""
        with self._lock:
            if done is None:
                self._requested = False
            else:
                done.ended = True
                if done.given_up:
                    self.lost -= 1
                else:
                    self._results.append(done)
            call = None
            if self._waiting and self._serving - self.lost <= self._most:
                call = self._waiting.popleft()
                call.begun = True
                with suppress(RuntimeError):
                    self._request_thread()
            else:
                self._serving -= 1
            if self._requested and done is not None and call is not None:
                return call, []
            results, self._results = self._results, []
            return call, results


def _do(call: _Call) -> None:
    try:
        call.value = contextvars.Context().run(call.work)
    except BaseException as error:  # noqa: BLE001 - raised by `run` in the caller
        call.error = error
        del call  # No reference cycle, as in `run`.


def _hand_out(results: list[_Call]) -> None:
    """Notify the event loops of the callers, each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Call]] = {}
    for call in results:
        by_loop.setdefault(call.future.get_loop(), []).append(call)
    for loop, calls in by_loop.items():
        with suppress(RuntimeError):  # The loop is closed: no caller waits.
            loop.call_soon_threadsafe(_set_done, calls)


def _set_done(calls: list[_Call]) -> None:
    for call in calls:
        if not call.future.done():
            call.future.set_result(None)
