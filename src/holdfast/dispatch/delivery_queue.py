"""What consumers of all transports share: deliveries between those who fetch and the one who takes.

A transport's own consumer fetches at most `room(queue)` messages and hands each to `receive`; it is told by four verbs
what becomes of them. Everything here runs on one event loop, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Coroutine, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from holdfast.dispatch.transport_log import Voice
from holdfast.errors import UnreadableTicket
from holdfast.model.ticket import Ticket, checked_queue, decode_ticket
from holdfast.ports import Delivery, Poisoned

R = TypeVar("R")
"""A transport's receipt for a message: what it needs to settle it."""


class Carried(Generic[R]):
    """Implements `holdfast.ports.Delivery`."""

    __slots__ = ("_intake", "data", "open", "queue", "receipt", "redelivered", "ticket")

    def __init__(
        self, intake: Intake[R], queue: str, data: bytes, receipt: R, ticket: Ticket, redelivered: bool
    ) -> None:
        self._intake = intake
        self.queue = queue
        self.data = data
        self.receipt = receipt
        self.ticket = ticket
        self.redelivered = redelivered
        self.open = True

    async def ack(self) -> None:
        if self._intake.let_go(self):
            await self._intake.finish(self)

    async def nack(self, *, requeue: bool = True) -> None:
        if self._intake.let_go(self):
            await (self._intake.give_back([self]) if requeue else self._intake.finish(self))

    async def reject(self, reason: str) -> None:
        if self._intake.let_go(self):
            await self._intake.bury(self.queue, self.data, self.receipt, reason)


class Intake(ABC, Generic[R]):
    """Implements `holdfast.ports.Consumer` and the block around it, but for fetching and settling."""

    def __init__(self, queues: Sequence[str], prefetch: int, voice: Voice) -> None:
        if not queues:
            raise ValueError("consume needs at least one queue: name those that this worker serves")
        if prefetch < 1:
            raise ValueError(f"prefetch is {prefetch}: give 1 or more")
        self.queues = tuple(dict.fromkeys(map(checked_queue, queues)))
        self.prefetch = prefetch
        self.voice = voice
        self.in_hand: set[Carried[R]] = set()
        """Fetched and not settled, handed out or not."""
        self._ready: deque[Carried[R]] = deque()
        self._counts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self._stopped = False
        self._left = False
        self._failure: BaseException | None = None
        self._fetching: list[asyncio.Task[None]] = []
        self._keeping: list[asyncio.Task[None]] = []

    # -- what a transport adds -----------------------------------------------------------------------------------------

    @abstractmethod
    async def begin(self) -> None:
        """Start to fetch. Raise only what will not pass by itself."""

    @abstractmethod
    async def cease(self) -> None:
        """Fetch no more; `give_back` and the others still work."""

    @abstractmethod
    async def end(self) -> None:
        """All is settled or given back: let the connection go."""

    @abstractmethod
    async def finish(self, carried: Carried[R]) -> None: ...

    @abstractmethod
    async def give_back(self, carried: Sequence[Carried[R]]) -> None: ...

    @abstractmethod
    async def bury(self, queue: str, data: bytes, receipt: R, reason: str) -> None:
        """To the dead letters."""

    # -- what a transport calls ----------------------------------------------------------------------------------------

    def room(self, queue: str) -> int:
        return 0 if self._stopped else self.prefetch - self._counts[queue]

    async def wait_for_room(self, queue: str) -> int:
        """0 once it is stopped: end the loop."""
        while not (room := self.room(queue)) and not self._stopped:
            await self.wait_for_change()
        return room

    async def wait_for_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def receive(self, queue: str, data: bytes, receipt: R, *, redelivered: bool) -> None:
        try:
            ticket = decode_ticket(data)
        except UnreadableTicket as error:
            await self.bury(queue, data, receipt, str(error))
            self.voice.tell(Poisoned(transport=self.voice.name, queue=queue, data=data, reason=str(error)))
            return
        carried = Carried(self, queue, data, receipt, ticket, redelivered)
        if self._stopped:
            await self.give_back([carried])
            return
        self.in_hand.add(carried)
        self._counts[queue] += 1
        self._ready.append(carried)
        self._changed.set()

    def let_go(self, carried: Carried[R]) -> bool:
        """Count it out; False if it was settled, or lost, before."""
        if not carried.open:
            return False
        carried.open = False
        self.in_hand.discard(carried)
        self._counts[carried.queue] -= 1
        self._changed.set()
        return True

    def lose_all(self) -> None:
        """The broker has taken everything back: settling does nothing any more, and it will come again."""
        for carried in tuple(self.in_hand):
            self.let_go(carried)
        self._ready.clear()

    def fetch(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that lives until `stop`."""
        self._start(work, self._fetching)

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that lives until the block ends: deliveries in hand stay ours that long."""
        self._start(work, self._keeping)

    def _start(self, work: Coroutine[Any, Any, None], tasks: list[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task that fails is told to whoever waits for deliveries: they would not come any more."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = error
            self._changed.set()

    # -- the port ------------------------------------------------------------------------------------------------------

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery:
        while True:
            while self._ready:
                carried = self._ready.popleft()
                if carried.open:
                    return carried
            if self._failure is not None:
                raise self._failure
            if self._stopped:
                raise StopAsyncIteration
            await self.wait_for_change()

    async def stop(self) -> None:
        if self._stopped:
            return
        self._stopped = True
        self._changed.set()
        await _cancel(self._fetching)
        await self.cease()
        unseen = [carried for carried in self._ready if self.let_go(carried)]
        self._ready.clear()
        await self.give_back(unseen)

    async def __aenter__(self) -> Self:
        try:
            await self.begin()
        except BaseException:
            await self.leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.leave()

    async def leave(self) -> None:
        """The end of the block, or of the transport, whichever comes first."""
        if self._left:
            return
        self._left = True
        await self.stop()
        await self.give_back([carried for carried in tuple(self.in_hand) if self.let_go(carried)])
        await _cancel(self._keeping)
        await self.end()


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    """More than once if need be: a driver may swallow a cancellation that comes together with its answer."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)
