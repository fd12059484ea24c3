"""The pool of child processes that evaluate untrusted programs.

The pool starts with the first request. `ask` is synchronous, since segments are. It blocks the event loop for a few
milliseconds at most: an answer that takes longer suspends the caller's stack (`execution.suspension`), and the event loop
goes on. A caller without such a stack (a command, a thread) blocks until the answer is there.

A child that exceeds a limit is ended by the kernel. The request is then answered with `Verdict.LIMIT`, and the next
request gets another child.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Protocol

import msgspec

from holdfast.execution.suspension import may_wait, wait_for
from holdfast.expressions.isolation.connection import ChildDied, Connection
from holdfast.expressions.isolation.frames import FRAME_MAX
from holdfast.expressions.isolation.requests import Answer, Request, Verdict, decode_answer, encode
from holdfast.expressions.isolation.zygote_process import ZygoteProcess

if TYPE_CHECKING:
    import asyncio

DEFAULT_SIZE = 2
QUEUE_MAX = 2_000
"""Requests that wait for a child. More are refused."""
ANSWER_SECONDS = 30.0
"""Time for an answer, beyond the processor time of the request: a child may have to start, or the machine is busy."""
BLOCK_SECONDS = 0.005
"""Time that a request may block the event loop. Most evaluations take a fraction of a millisecond."""
TURN_SECONDS = 0.02
"""Time that all requests together may block one turn of the event loop."""


class Isolation(Protocol):
    """Evaluates requests away from the state of this process, under limits."""

    def ask(self, request: Request) -> Answer: ...


class Children:
    def __init__(self, size: int = DEFAULT_SIZE) -> None:
        self.size = size
        """Maximum number of child processes."""
        self._begin()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self.close)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._zygote: ZygoteProcess | None = None
        self._idle: deque[Connection] = deque()
        """The child that rests longest is taken first: it has worked ahead meanwhile."""
        self._count = 0
        self._numbers = 0
        self._waiting: deque[Future[Connection]] = deque()
        self._turn_left = TURN_SECONDS

    def _forked(self) -> None:
        """This process is a fork: the children belong to the other process."""
        zygote, idle = self._zygote, self._idle
        self._begin()
        for connection in idle:
            connection.close()
        if zygote is not None:
            zygote.forget()

    def close(self) -> None:
        """End all children. The next request starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, deque()
            zygote, self._zygote = self._zygote, None
            self._count -= len(idle)
        for connection in idle:
            connection.close()
        if zygote is not None:
            zygote.close()

    def start(self) -> None:
        """Start a child ahead of the first request."""
        connection = self._take()
        if connection is not None:
            self._give_back(connection)

    # -- requests ------------------------------------------------------------------------------------------------------

    def ask(self, request: Request) -> Answer:
        raw = encode(request)
        if len(raw) > FRAME_MAX:
            return Answer(Verdict.LIMIT, b"the values that it reads are too large; process less data")
        connection = self._take()
        if connection is None:
            turn = self._enqueue()
            if turn is None:
                return Answer(Verdict.LIMIT, b"too many evaluations wait for a process; try again later")
            connection = wait_for(self._turn(turn)) if may_wait() else turn.result()
        try:
            found = self._exchange(connection, raw, ANSWER_SECONDS + request.seconds)
            answer = None if found is None else decode_answer(found)
        except (ChildDied, msgspec.MsgspecError):
            answer = None
        except BaseException:  # A caller that gives up: its child may still run the request.
            self._end(connection)
            raise
        if answer is None or answer.retires:
            self._end(connection)
        else:
            self._give_back(connection)
        return _died(request) if answer is None else answer

    def _exchange(self, connection: Connection, raw: bytes, seconds: float) -> bytes | None:
        """The bytes of the answer; None if there is none in time."""
        connection.send(raw)
        if not may_wait():
            return connection.wait(seconds)
        begun = time.monotonic()
        answer = connection.wait(self._may_block())
        self._turn_left -= time.monotonic() - begun
        if answer is not None:
            return answer
        found: bytes | None = wait_for(_answered(connection, seconds))
        return found

    def _may_block(self) -> float:
        """Seconds for which a request may block this turn of the event loop."""
        if self._turn_left >= TURN_SECONDS:
            import asyncio

            asyncio.get_running_loop().call_soon(self._next_turn)
        return min(BLOCK_SECONDS, max(0.0, self._turn_left))

    def _next_turn(self) -> None:
        self._turn_left = TURN_SECONDS

    # -- the pool ------------------------------------------------------------------------------------------------------

    def _take(self) -> Connection | None:
        """An idle child, or a new one; None if all are busy."""
        with self._lock:
            if self._waiting:
                return None
            while self._idle:
                connection = self._idle.popleft()
                if _is_alive(connection):
                    return connection
                self._drop(connection)
            return self._start_child() if self._count < self.size else None

    def _start_child(self) -> Connection:
        self._numbers += 1
        self._count += 1
        if self._zygote is not None:
            try:
                return self._zygote.start(self._numbers)
            except OSError:
                self._zygote.close()
        self._zygote = ZygoteProcess()
        return self._zygote.start(self._numbers)

    def _enqueue(self) -> Future[Connection] | None:
        with self._lock:
            if len(self._waiting) >= QUEUE_MAX:
                return None
            turn: Future[Connection] = Future()
            self._waiting.append(turn)
        return turn

    async def _turn(self, turn: Future[Connection]) -> Connection:
        import asyncio

        try:
            return await asyncio.wrap_future(turn)
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(turn.result())
            raise

    def _give_back(self, connection: Connection) -> None:
        """To the request that waits longest, or to the idle ones."""
        with self._lock:
            if not self._hand_on(connection):
                self._idle.append(connection)

    def _end(self, connection: Connection) -> None:
        """Kill the child; a request that waits gets a new one."""
        with self._lock:
            self._drop(connection)
            if self._waiting:
                fresh = self._start_child()
                if not self._hand_on(fresh):
                    self._idle.append(fresh)

    def _drop(self, connection: Connection) -> None:
        connection.close()
        self._count -= 1
        if self._zygote is not None:
            self._zygote.end(connection.number)

    def _hand_on(self, connection: Connection) -> bool:
        while self._waiting:
            try:
                self._waiting.popleft().set_result(connection)
            except InvalidStateError:
                continue  # The request was given up.
            return True
        return False


def _is_alive(connection: Connection) -> bool:
    """An idle child sends nothing: whatever arrives is the end of its stream."""
    try:
        return connection.receive() is None
    except ChildDied:
        return False


async def _answered(connection: Connection, seconds: float) -> bytes | None:
    """The answer, without blocking the event loop; None if there is none in time."""
    import asyncio

    loop, fd = asyncio.get_running_loop(), connection.fileno()
    try:
        async with asyncio.timeout(seconds):
            while True:
                answer = connection.receive()
                if answer is not None:
                    return answer
                ready = loop.create_future()
                loop.add_reader(fd, _set, ready)
                if connection.has_more_to_send:
                    loop.add_writer(fd, _set, ready)
                try:
                    await ready
                finally:
                    loop.remove_reader(fd)
                    loop.remove_writer(fd)
    except TimeoutError:
        return None


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _died(request: Request) -> Answer:
    why = (
        f"its process was ended: it used more than {request.seconds * 1000:.0f} ms of processor time, or crashed its engine; "
        "process less data, or use an activity"
    )
    return Answer(Verdict.LIMIT, why.encode(), request.seconds)


_shared: Children | None = None


def shared_children() -> Children:
    """The pool of this process. Evaluators of all engines share it."""
    global _shared  # noqa: PLW0603 - one pool per process, made on first use
    if _shared is None:
        _shared = Children()
    return _shared
