"""Threads for work that blocks: few hops for what is done at once, a thread each for what is not.

A call from the event loop to a thread and back costs more than most calls: two threads want one interpreter. So a thread
that has done one call takes the next, and the loop hears of all that were done meanwhile at once. None of it may wait for a
neighbour that blocks: whoever begins a call while others wait sends for another thread first, and leaves results to that one
only as long as it is on its way; a thread gets the interpreter as soon as another one blocks.

A thread whose call nobody waits for any more cannot be stopped: it is counted as lost until it returns, and its place is given
to another meanwhile, up to a hard cap.
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
"""How many times `most` threads may exist while some are lost."""


class _Call:
    __slots__ = ("begun", "ended", "error", "future", "given_up", "value", "work")

    def __init__(self, work: Callable[[], Any], future: asyncio.Future[None]) -> None:
        self.work = work
        self.future = future
        """Only says that it has ended: not every error can be put into one."""
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
        """Ended, and the loop does not know yet."""
        self._serving = 0
        """Threads that were sent for and have not left."""
        self._coming = False
        """One of them has not arrived yet."""
        self.lost = 0
        """Threads that still run something nobody waits for."""

    async def run(self, work: Callable[[], Any]) -> Any:
        """Run it in a thread, in an empty context; at most `most` at a time."""
        call = _Call(work, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting.append(call)
            try:
                self._send_for_another()
            except RuntimeError:  # The interpreter is on its way out.
                self._waiting.remove(call)
                raise
        try:
            await call.future
        except asyncio.CancelledError:
            self._give_up(call)
            raise
        value, error = call.value, call.error
        del call  # An error knows the frames that it came through: they must not know it.
        try:
            if error is not None:
                raise error
        finally:
            del error
        return value

    def close(self) -> None:
        """Let idle threads go. Lost ones end with what they do; nobody waits for them."""
        with self._lock:
            left, self._waiting = self._waiting, deque()
            executor, self._executor = self._executor, None
        for call in left:
            with suppress(RuntimeError):  # Its loop is closed.
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
                    self._send_for_another()
            elif call in self._waiting:
                self._waiting.remove(call)

    def _send_for_another(self) -> None:
        """If calls wait, nobody is on the way to them, and there is a place."""
        if (
            not self._waiting or self._coming
            or self._serving - self.lost >= self._most or self._serving >= self._most * LOST_FACTOR
        ):  # fmt: skip
            return
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._most * LOST_FACTOR, thread_name_prefix="holdfast-effect")
        self._executor.submit(self._serve)
        self._coming = True
        self._serving += 1

    # -- in a thread ---------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        call: _Call | None = None
        while True:
            call, results = self._next(call)
            if results:
                _hand_out(results)
            del results  # As above.
            if call is None:
                return
            _do(call)

    def _next(self, done: _Call | None) -> tuple[_Call | None, list[_Call]]:
        """The call to do next, if this thread is to stay, and the results to be told before; `done` is None on arrival."""
        with self._lock:
            if done is None:
                self._coming = False
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
                    self._send_for_another()
            else:
                self._serving -= 1
            if self._coming and done is not None and call is not None:
                return call, []
            results, self._results = self._results, []
            return call, results


def _do(call: _Call) -> None:
    try:
        call.value = contextvars.Context().run(call.work)
    except BaseException as error:  # noqa: BLE001 - it belongs to who asked
        call.error = error
        del call  # As above.


def _hand_out(results: list[_Call]) -> None:
    """Tell the loops of those who asked: each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Call]] = {}
    for call in results:
        by_loop.setdefault(call.future.get_loop(), []).append(call)
    for loop, calls in by_loop.items():
        with suppress(RuntimeError):  # It is closed: nobody waits any more.
            loop.call_soon_threadsafe(_tell, calls)


def _tell(calls: list[_Call]) -> None:
    for call in calls:
        if not call.future.done():
            call.future.set_result(None)
